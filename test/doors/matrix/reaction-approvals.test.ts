import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTool, type ScriptedBehaviour, textOf } from 'entia'
import { matrixPoll } from 'entia/matrix'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Lab, lab, replies, running } from './rooms.ts'

/** Writes a file, and says what came of it. */
const writer: ScriptedBehaviour = ({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return textOf(last)
  return { toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'x' } }] }
}

const diary = defineTool({
  name: 'read_diary',
  description: 'Reads the diary.',
  input: z.object({ path: z.string() }),
  operation: 'read',
  restart: 'pure',
  run: () => 'Dear diary',
})

/** A running bot that asks ada, and eve, about files. */
async function asking(configured: object = {}) {
  const at = await lab(writer, { approvers: ['@ada:local', '@eve:local', '@bot:local'], ...configured })
  at.options.tools = ['file']
  return at
}

/** The event of the question in a room, once it waits. */
async function question(at: Lab): Promise<string> {
  const isAt = (end: string) => at.server.requests.some((each) => each.endsWith(end))
  await at.server.until(() => isAt('/m.annotation/m.reaction'))
  // A sync later, its reactions of before are looked through.
  const syncs = () => at.server.requests.filter((each) => each === 'GET /v3/sync').length
  const before = syncs()
  at.server.say(at.room, at.eve, 'Well?')
  await at.server.until(() => syncs() > before)
  const [asked] = at.server.said(at.room, at.bot)
  return asked?.event_id ?? ''
}

async function isWritten({ folder }: Lab): Promise<boolean> {
  return access(join(folder, 'a.txt')).then(
    () => true,
    () => false,
  )
}

describe('a call that needs a person', () => {
  it('is put to the room with what it is and why, and a 👍 of an approver runs it', async () => {
    const at = await asking()
    await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    const asked = await question(at)
    expect(replies(at, at.room)).toEqual([
      'May this run? [write_file] a.txt\ncontent: x\nReason: it writes in your project\n' +
        'React with 👍 to allow it, or 👎 to decline, within 60 s.',
    ])
    expect(await isWritten(at)).toBe(false)
    at.server.react(at.room, at.eve, asked, '👍')
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(await isWritten(at)).toBe(true)
    expect(replies(at, at.room).at(-1)).toContain('a.txt')
  })

  it.for(['👎', '👎🏾', '👎️'])('is declined by %s', async (sign) => {
    const at = await asking()
    await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    at.server.react(at.room, at.ada, await question(at), sign)
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(replies(at, at.room).at(-1)).toBe('[user declined: default: code/write/matrix]')
    expect(await isWritten(at)).toBe(false)
  })

  it('waits on where the account itself reacts, or one who is no approver, or with another sign, or to something else', async () => {
    const at = await asking({ approvers: ['@eve:local', '@bot:local'] })
    await running(at)
    const said = at.server.say(at.room, at.ada, 'Go.')
    const asked = await question(at)
    at.server.react(at.room, at.bot, asked, '👍')
    at.server.react(at.room, at.ada, asked, '👍')
    at.server.react(at.room, at.eve, asked, '❤️')
    at.server.react(at.room, at.eve, said, '👍')
    at.server.add(at.room, at.eve, 'm.reaction', { 'm.relates_to': 'nonsense' })
    at.server.react(at.room, at.eve, asked, '👎🏻')
    // The first sign that counts decides.
    at.server.react(at.room, at.eve, asked, '👍')
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(replies(at, at.room).at(-1)).toBe('[user declined: default: code/write/matrix]')
  })

  it('is declined after a minute without a reaction', async () => {
    const at = await asking()
    await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    await question(at)
    at.clock.advance(60_000)
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(replies(at, at.room).at(-1)).toBe('[user declined: no reaction within 60 s]')
  })

  it('runs after a reaction in the last moment of that minute', async () => {
    const at = await asking()
    await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    const asked = await question(at)
    at.clock.advance(59_999)
    at.server.react(at.room, at.ada, asked, '👍')
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(await isWritten(at)).toBe(true)
  })

  it('is declined at once where there is no approver, and the room is not asked', async () => {
    const at = await asking({ approvers: [] })
    await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    await at.server.until(() => replies(at, at.room).length === 1)
    expect(replies(at, at.room)).toEqual(['[user declined: no approval channel (default: code/write/matrix)]'])
  })

  it('runs unasked with autoApproveAsks, but never on personal data', async () => {
    const at = await asking({ approvers: [], autoApproveAsks: true })
    await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    await at.server.until(() => replies(at, at.room).length === 1)
    expect(await isWritten(at)).toBe(true)

    const other = await lab(
      ({ messages }) => {
        const last = messages.at(-1)
        if (last?.role === 'tool') return textOf(last)
        return { toolCalls: [{ name: 'read_diary', arguments: { path: '~/Documents/diary' } }] }
      },
      { autoApproveAsks: true },
    )
    other.options.tools = [diary]
    await running(other)
    other.server.say(other.room, other.ada, 'Go.')
    await other.server.until(() => replies(other, other.room).length === 1)
    expect(replies(other, other.room)).toEqual(['[user declined: no approval channel (default: personal/read/matrix)]'])
  })

  it('is asked about once, and a reaction counts that is made while the program is down', async () => {
    const at = await asking()
    const first = await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    const asked = await question(at)
    await first.stop()
    at.server.react(at.room, at.ada, asked, '👍🏽')
    await running(at)
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(at.server.said(at.room, at.bot)[0]?.event_id).toBe(asked)
    expect(await isWritten(at)).toBe(true)
    expect(replies(at, at.room).at(-1)).toContain('a.txt')
  })

  it('is declined a minute after a restart without a reaction', async () => {
    const at = await asking()
    const first = await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    await question(at)
    await first.stop()
    at.server.requests.length = 0
    await running(at)
    await question(at)
    at.clock.advance(60_000)
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(replies(at, at.room).at(-1)).toBe('[user declined: no reaction within 60 s]')
  })

  it('is asked about once, though the program stops before it knows that it has asked', async () => {
    const at = await asking()
    const first = await running(at)
    let sends = 0
    at.server.fault = ({ path }) => (path.includes('/send/') && sends++ >= 0 ? 'reply-lost' : undefined)
    at.server.say(at.room, at.ada, 'Go.')
    await at.server.until(() => sends > 0)
    await first.stop()
    at.server.fault = () => undefined
    await running(at)
    at.server.react(at.room, at.ada, await question(at), '👍')
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(await isWritten(at)).toBe(true)
  })

  it('is asked about by a poll too, which looks for reactions until it is answered', async () => {
    const at = await asking()
    await matrixPoll(at.options)
    at.server.say(at.room, at.ada, 'Go.')
    const polled = matrixPoll(at.options)
    const asked = await question(at)
    at.server.say(at.room, at.ada, 'And then?')
    at.server.react(at.room, at.ada, asked, '👍')
    expect(await polled).toBe(1)
    expect(await isWritten(at)).toBe(true)
    const again = matrixPoll(at.options)
    await at.server.until(() => at.server.said(at.room, at.bot).length === 3)
    at.server.react(at.room, at.ada, at.server.said(at.room, at.bot).at(-1)?.event_id ?? '', '👎')
    expect(await again).toBe(1)
  })

  it('shows all of a long command, with what turns the direction of writing as a mark', async () => {
    const at = await lab(
      ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? 'Done.'
          : { toolCalls: [{ name: 'bash', arguments: { command: `echo ${'x'.repeat(80)} \u202E; rm -rf build` } }] },
      { approvers: ['@ada:local'] },
    )
    at.options.tools = ['code']
    await running(at)
    at.server.say(at.room, at.ada, 'Go.')
    const asked = await question(at)
    expect(replies(at, at.room)[0]).toContain(`command: echo ${'x'.repeat(80)} <U+202E>; rm -rf build\nReason: `)
    at.server.react(at.room, at.ada, asked, '👎')
    await at.server.until(() => replies(at, at.room).length === 2)
  })
})
