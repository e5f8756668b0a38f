import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { chooseChat } from '../../../src/cli/chat/choose-chat.ts'
import { plainLook } from './typed-chat.ts'

/** Chats of one folder, the newest first, on a terminal that cannot move its cursor. */
function choosing(...messages: readonly string[]) {
  const sessions = messages.map((firstMessage, index) => {
    const at = Date.UTC(2026, 10, 28, 12, 0) - index * 60_000
    const facts = { cwd: '/app', channel: 'cli', model: 'a/b', createdAt: at, lastUsedAt: at }
    return { key: `key-${index + 1}`, firstMessage, ...facts }
  })
  let sent = ''
  const out = Object.assign(new EventEmitter(), { write: (text: string) => (sent += text) })
  const input = new PassThrough()
  const chosen = chooseChat(sessions, { input, out, look: { ...plainLook, isDumb: true } })
  return { chosen, input, sent: () => sent }
}

describe('a chat to go on with, on a dumb terminal', () => {
  it('is chosen by its number in a list of plain lines', async () => {
    const { chosen, input, sent } = choosing('About wasps', 'About\u001b[2K bees\nand hives')
    input.write('2\n')
    expect(await chosen).toBe('key-2')
    expect(sent()).toBe(
      'Which chat?\n  1  2026-11-28 12:00  About wasps\n  2  2026-11-28 11:59  About bees and hives\n' +
        'A number, words that it has, or Enter for none: ',
    )
  })

  it('is looked for by words, and none of a number that is not there', async () => {
    const { chosen, input, sent } = choosing(...Array.from({ length: 60 }, (_, index) => `Question ${index + 1}.`))
    input.write('61\nquestion 59.\n1\n')
    expect(await chosen).toBe('key-59')
    expect(sent()).toContain(' 20  2026-11-28 11:41  Question 20.\n     … 40 more\n')
    expect(sent()).toContain("No chat of the list is '61'.\n")
    expect(sent()).toMatch(/none: Which chat\?\n {2}1 {2}2026-11-28 11:02 {2}Question 59\.\n[^\n]*none: $/)
  })

  it.for(['\n', ''])('is none with %j, or at the end of the input', async (typed) => {
    const { chosen, input } = choosing('one', 'two')
    input.end(typed)
    expect(await chosen).toBeUndefined()
  })
})
