import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unlessMissing } from '../../src/base/unless-missing.ts'

describe('what is read from the file system', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'entia-missing-'))
    await writeFile(join(folder, 'file'), 'text')
  })
  afterAll(() => rm(folder, { recursive: true }))

  it.for([
    ['a file', 'file', 'text'],
    ['a file that is not there', 'none', undefined],
    ['a file in a folder that is not there', 'none/file', undefined],
    ['a file below another file', 'file/below', undefined],
  ] as const)('%s', async ([, path, text]) => {
    expect(await unlessMissing(readFile(join(folder, path), 'utf8'))).toBe(text)
  })

  it('and cannot be read is an error', async () => {
    await expect(unlessMissing(readFile(folder))).rejects.toThrow('EISDIR')
  })
})
