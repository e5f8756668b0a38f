import { existsSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../src/cli/parsed-words.ts'
import { sessionsCommand } from '../../src/cli/sessions-command.ts'
import { SessionFolder } from '../../src/runtime/chat/session-folder.ts'
import { tempFolder } from '../tools/temp-folder.ts'

const message = (role: string, ...content: object[]): object => ({ type: 'message', seq: 1, role, content })
const text = (words: string): object => ({ type: 'text', text: words })

function transcript(key: string, cwd: string, ...lines: object[]): string {
  const head = { type: 'session', version: 1, key, createdAt: 0, cwd, channel: 'cli', model: 'anthropic/large' }
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** A folder with three chats, the oldest first, two of them of /app. */
async function stored(): Promise<{
  folder: SessionFolder
  said: () => string
  command: (...words: string[]) => Promise<number>
}> {
  const call = { type: 'tool-call', id: 'c', name: 'bash', arguments: { command: 'ls' } }
  const files = {
    '20260101-090000-aaaa/transcript.jsonl': transcript('20260101-090000-aaaa', '/app', message('user', text('Older'))),
    '20260102-090000-bbbb/transcript.jsonl': transcript(
      ...(['20260102-090000-bbbb', '/app', message('user', text('What is\n\u001b[31mhere?'))] as const),
      message('assistant', text('I look.'), call),
      message('tool', text('a.txt')),
      message('assistant', text('One file.')),
    ),
    '20260103-090000-cccc/transcript.jsonl': transcript(
      '20260103-090000-cccc',
      '/else',
      message('user', text('Elsewhere')),
    ),
  }
  const path = await tempFolder(files)
  for (const [index, name] of Object.keys(files).entries()) await utimes(join(path, name), index, 1_700_000_000 + index)
  const folder = new SessionFolder(path)
  let written = ''
  const stdout = { write: (words: string) => (written += words) }
  return { folder, said: () => written, command: (...words) => sessionsCommand(words, { folder, cwd: '/app', stdout }) }
}

describe('entia sessions', () => {
  it('lists the chats of the folder, the latest first, or those of all folders', async () => {
    const here = await stored()
    expect(await here.command()).toBe(0)
    expect(here.said()).toBe(
      '20260102-090000-bbbb  2023-11-14 22:13  anthropic/large  What is here?\n' +
        '20260101-090000-aaaa  2023-11-14 22:13  anthropic/large  Older\n',
    )
    const all = await stored()
    await all.command('list', '--all')
    expect(all.said()).toMatch(/^20260103-090000-cccc .* \/else {2}Elsewhere\n/)
  })

  it('gives each as an object', async () => {
    const { command, said } = await stored()
    await command('list', '--json')
    const [first = ''] = said().split('\n')
    expect(JSON.parse(first)).toMatchObject({ key: '20260102-090000-bbbb', cwd: '/app', model: 'anthropic/large' })
  })

  it('shows what was said, with the calls', async () => {
    const { command, said } = await stored()
    await command('show', '20260102')
    expect(said()).toBe('> What is\n> here?\n\nI look.\n[bash] {"command":"ls"}\n\n  a.txt\n\nOne file.\n')
  })

  it('removes those that are named', async () => {
    const { command, folder, said } = await stored()
    await command('remove', '20260101', '20260103-090000-cccc')
    expect(said()).toBe('Removed 20260101-090000-aaaa.\nRemoved 20260103-090000-cccc.\n')
    expect((await folder.list()).map(({ key }) => key)).toEqual(['20260102-090000-bbbb'])
    expect(existsSync(join(folder.path, '20260101-090000-aaaa'))).toBe(false)
  })

  it('refuses a key that is unknown or that several chats begin with, and a word that is no command', async () => {
    const { command } = await stored()
    await expect(command('show', 'x')).rejects.toMatchObject({ code: 'unknown-session' })
    await expect(command('remove', '2026')).rejects.toMatchObject({ code: 'ambiguous-id' })
    await expect(command('remove', 'latest')).rejects.toMatchObject({ code: 'unknown-session' })
    await expect(command('remove')).rejects.toThrow(
      new UsageError('entia sessions remove needs a key. entia sessions list shows them.'),
    )
    for (const key of ['', ' ', '-', '.', '..', '/', '*'])
      await expect(command('remove', key)).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(command('shwo', 'x')).rejects.toThrow(
      /There is no command 'entia sessions shwo'\. Did you mean 'show'\?/,
    )
  })

  it.for(['', ' ', '\t', '.', '..', '/', '-'])(
    'removes none for the key %j, though it is the only chat',
    async (key) => {
      const { command, folder } = await stored()
      await command('remove', '20260101', '20260102')
      await expect(command('remove', key)).rejects.toMatchObject({ code: 'invalid-argument' })
      await expect(folder.remove(key)).rejects.toMatchObject({ code: 'invalid-argument' })
      expect((await folder.list()).map((session) => session.key)).toEqual(['20260103-090000-cccc'])
    },
  )

  it('removes none of several where one is unknown', async () => {
    const { command, folder } = await stored()
    await expect(command('remove', '20260101', '2030')).rejects.toMatchObject({ code: 'unknown-session' })
    for (const path of ['../x', '20260101-090000-aaaa/transcript.jsonl']) {
      await expect(folder.remove(path)).rejects.toMatchObject({ code: 'unknown-session' })
    }
    expect(await folder.list()).toHaveLength(3)
  })

  it('says where there are none', async () => {
    const { command, said } = await stored()
    await command('remove', '20260101', '20260102')
    await command('list')
    expect(said()).toMatch(/There is no stored chat in this folder\. 1 in other folders: entia sessions list --all\n$/)
  })
})
