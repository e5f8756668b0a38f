import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const program = join(root, 'test/programs/token-counter.ts')
/** All that the program needs but packages. */
const sources = ['src', 'components', 'test', 'package.json'].map((path) => `--allow-fs-read=${join(root, path)}`)

async function counted(options: readonly string[], ...parameters: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, [...options, program, ...parameters])
  return JSON.parse(stdout)
}

describe('the tokenizer', () => {
  it('is loaded in the midst of other work by the first text that is counted', async () => {
    expect(await counted([])).toEqual({ names: ['o200k', 'o200k', 'o200k', 'o200k'], tokens: 2 })
  })

  it('is there at the first text when it was loaded ahead', async () => {
    expect(await counted([], 'ahead')).toEqual({ names: ['o200k', 'o200k', 'o200k', 'o200k'], tokens: 2 })
  })

  it('that cannot be loaded is not missed before it is needed; then a token is four characters, rounded up', async () => {
    expect(await counted(['--permission', ...sources])).toEqual({
      names: ['o200k', 'o200k', 'chars/4', 'chars/4'],
      tokens: 3,
    })
  })

  it('that cannot be loaded ahead is said to be missing from then on, and nothing is thrown', async () => {
    expect(await counted(['--permission', ...sources], 'ahead')).toEqual({
      names: ['chars/4', 'chars/4', 'chars/4', 'chars/4'],
      tokens: 3,
    })
  })
})
