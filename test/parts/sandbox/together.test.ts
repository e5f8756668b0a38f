import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { confined, hasSandbox } from './confined.ts'

describe.runIf(hasSandbox)('commands in the sandbox', () => {
  it('begin beside one another, also where guarded folders hold several paths that are not there', async () => {
    // The project is the home folder: all credentials are guarded in it.
    const { bash, cwd } = await confined({ project: '.' })
    const before = await readdir(cwd)
    for (let round = 0; round < 12; round++) {
      const words = [1, 2, 3].map((word) => `${round}.${word}`)
      expect(await Promise.all(words.map((word) => bash(`echo ${word}`)))).toEqual(words)
    }
    expect(await bash('mkdir -p .cargo; echo x > .cargo/credentials.toml')).toMatch(/\[exit 1\]/)
    expect(existsSync(`${cwd}/.cargo/credentials.toml`)).toBe(false)
    expect(await readdir(cwd)).toEqual(before)
  })
})
