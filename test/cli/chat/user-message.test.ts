import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { userMessage } from '../../../src/cli/chat/user-message.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

describe('a file that a message names', () => {
  it('is not added where it is a link to one that may hold secrets, and is where the message names that', async () => {
    const cwd = await tempFolder({ '.env': 'T=1', 'docs/a.md': 'Words.', 'keys/id_rsa': 'key' })
    for (const [path, target] of [
      ['notes.md', '.env'],
      ['chain.md', 'notes.md'],
      ['linked', 'keys'],
      ['fine.md', 'docs/a.md'],
    ] as const)
      await symlink(target, join(cwd, path))
    const { message, notes } = await userMessage('See @notes.md @chain.md @fine.md @.env @linked/id_rsa', cwd)
    expect(notes).toEqual(
      ['@notes.md', '@chain.md'].map((path) => `${path} is a link to a file that may hold secrets, and is not added.`),
    )
    expect(message.content.slice(1).map((block) => 'text' in block && block.text)).toEqual([
      '<file path="fine.md">\nWords.\n</file>',
      '<file path=".env">\nT=1\n</file>',
      '<file path="linked/id_rsa">\nkey\n</file>',
    ])
  })

  it('is named in quotes where its path has blanks, and by what stands before a comma', async () => {
    const cwd = await tempFolder({ 'my notes/last week.md': 'Rain.', 'a.md': 'Sun.', '漢字.md': 'Wind.' })
    const { message } = await userMessage('See @"my notes/last week.md", @a.md, @漢字.md and @"none here"', cwd)
    expect(message.content.slice(1).map((block) => 'text' in block && block.text)).toEqual([
      '<file path="my notes/last week.md">\nRain.\n</file>',
      '<file path="a.md">\nSun.\n</file>',
      '<file path="漢字.md">\nWind.\n</file>',
    ])
  })
})
