import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mutations } from '../../scripts/mutations/all.ts'

const root = join(import.meta.dirname, '../..')

describe('a bug that npm run test:mutations plants', () => {
  it.for(mutations.map((mutation) => [mutation.name, mutation] as const))(
    'finds the text that it changes once: %s',
    async ([, { before, file }]) => {
      const source = await readFile(join(root, file), 'utf8')
      expect(source.split(before).length - 1, `times in ${file}`).toBe(1)
    },
  )
})
