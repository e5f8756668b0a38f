import { execFile } from 'node:child_process'
import { appendFile, readFile, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTool, type Message, type ScriptedReply, VirtualClock } from 'entia'
import { type ChatSession, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { makeChat, openChat } from '../../../src/runtime/chat/make-chat.ts'
import { SessionFolder } from '../../../src/runtime/chat/session-folder.ts'
import type { NewSessionOptions } from '../../../src/runtime/chat/session-options.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { gate, script } from './chatting.ts'

const key = '20261123-150000-abcd'
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  restart: 'pure',
  operation: 'read',
  run: () => 'seen',
})

interface Line {
  readonly type: string
  readonly seq?: number
  readonly turn?: number
  readonly step?: number
  readonly [name: string]: unknown
}

function options(replies: Parameters<typeof script>[0], more: NewSessionOptions = {}): NewSessionOptions {
  const host = { clock: new VirtualClock(), models: script(replies).models }
  return { key, provider: 'script', model: 'm', tools: [look], host, ...more }
}

async function folder(): Promise<SessionFolder> {
  return new SessionFolder(join(await tempFolder(), 'sessions'))
}

async function linesOf(kept: SessionFolder): Promise<Line[]> {
  const text = await readFile(kept.transcript(key), 'utf8')
  expect(text.endsWith('\n')).toBe(true)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
}

/** The lines of messages without what every line has. */
function spoken(lines: readonly Line[]): unknown[] {
  return lines
    .filter(({ type }) => type === 'message')
    .map(({ seq, turn: ofTurn, step, role }) => [seq, ofTurn, step, role])
}

/** A chat session in a folder; closed when the test is over. */
function begun(kept: SessionFolder, replies: readonly ScriptedReply[], more: NewSessionOptions = {}): ChatSession {
  const session = makeChat(options(replies, more), { folder: kept })
  onTestFinished(() => session.close())
  return session
}

async function resumed(kept: SessionFolder, replies: readonly ScriptedReply[] = ['Well.']): Promise<ChatSession> {
  const session = await openChat(key, options(replies), { folder: kept })
  onTestFinished(() => session.close())
  return session
}

/** What the transcript holds is what was said, each message once. */
async function expectWhole(kept: SessionFolder, history: readonly Message[]): Promise<void> {
  const messages = (await linesOf(kept)).filter(({ type }) => type === 'message')
  expect(messages.map(({ seq }) => seq)).toEqual(history.map((_, index) => index + 1))
  expect(messages.map(({ role, content }) => ({ role, content }))).toEqual(
    history.map(({ role, content }) => ({ role, content })),
  )
}

const looking: ScriptedReply = { toolCalls: [{ name: 'look' }], usage: { input: 7, output: 3 } }

describe('the transcript of a chat session', () => {
  it('begins with the chat session, and has each message with its turn and step, and the end of each turn', async () => {
    const kept = await folder()
    const session = begun(kept, [looking, 'Well.', 'Bye.'], { cwd: '/work' })
    await turn('How is it?', session)
    await turn('Good.', session)
    const lines = await linesOf(kept)
    expect(lines[0]).toEqual({
      ...{ type: 'session', version: 1, key, channel: 'cli', cwd: '/work', model: 'script/m' },
      createdAt: expect.any(Number) as unknown,
    })
    expect(lines.map(({ type }) => type).join(' ')).toBe(
      'session message message message message turn-end message message turn-end',
    )
    expect(spoken(lines)).toEqual([
      [1, 1, 0, 'user'],
      [2, 1, 1, 'assistant'],
      [3, 1, 1, 'tool'],
      [4, 1, 2, 'assistant'],
      [5, 2, 0, 'user'],
      [6, 2, 1, 'assistant'],
    ])
    expect(lines[2]).toMatchObject({ usage: { input: 7, output: 3 }, at: expect.any(Number) as unknown })
    expect(lines[3]).toMatchObject({ name: 'look', content: [{ type: 'text', text: 'seen' }] })
    expect(lines[5]).toMatchObject({ type: 'turn-end', stop: 'done', usage: { calls: 2, input: 7 }, costUsd: null })
  })

  it('is written before the turn is over for its caller, and is for the user alone', async () => {
    const kept = await folder()
    const session = begun(kept, ['Well.'])
    await turn('How is it?', session)
    expect((await linesOf(kept)).at(-1)).toMatchObject({ type: 'turn-end' })
    expect((await stat(kept.transcript(key))).mode & 0o777).toBe(0o600)
    expect((await stat(join(kept.path, key))).mode & 0o777).toBe(0o700)
  })

  it('has what is said during a call behind its result, as the conversation has it', async () => {
    const kept = await folder()
    const opens = [gate(), gate()]
    const slow = defineTool({
      ...toolParts,
      name: 'look',
      input: z.object({ at: z.int() }),
      run: ({ at }) => opens[at]?.promise.then(() => 'seen'),
    })
    const calls = [0, 1].map((at) => ({ name: 'look', arguments: { at } }))
    const session = begun(kept, [{ toolCalls: calls }, 'Well.'], { tools: [slow] })
    const first = turn('How is it?', session)
    await next(session, 'tool-called')
    const steered = session.ask('And quickly.')
    await new Promise((resolve) => setImmediate(resolve))
    opens[0]?.resolve()
    await next(session, 'tool-answered')
    opens[1]?.resolve()
    await Promise.all([first, steered])
    expect(spoken(await linesOf(kept)).map((line) => (line as unknown[])[3])).toEqual([
      ...['user', 'assistant', 'tool', 'tool', 'user', 'assistant'],
    ])
    await expectWhole(kept, session.history)
  })

  it('says what a compaction has replaced, and keeps it', async () => {
    const kept = await folder()
    const session = begun(kept, ['Well.', 'They asked how it is.'])
    await turn('How is it?', session)
    await session.compact()
    expect((await linesOf(kept)).at(-1)).toMatchObject({
      ...{ type: 'rewrite', kind: 'summary', fromSeq: 1, toSeq: 2 },
      text: expect.stringContaining('They asked how it is.') as unknown,
    })
    await expectWhole(kept, session.history)
  })

  it.each(['turn-started', 'model-replied', 'tool-answered', 'turn-ended'])(
    'has each message once after a crash between the commit and its line, at %s',
    async (type) => {
      const kept = await folder()
      await killedAt(type, kept)
      const session = await resumed(kept)
      await (session.isBusy ? session.attach() : session.start())
      await turn('Good.', session)
      await expectWhole(kept, session.history)
      const lines = await linesOf(kept)
      expect(lines.filter(({ type: each }) => each === 'turn-end')).toHaveLength(2)
      expect(lines.filter(({ type: each }) => each === 'session')).toHaveLength(1)
    },
    20_000,
  )

  it('drops a last line that a crash has torn, and fills what is missing', async () => {
    const kept = await folder()
    const first = begun(kept, ['Well.'])
    await turn('How is it?', first)
    await first.close()
    const whole = await readFile(kept.transcript(key), 'utf8')
    await truncate(kept.transcript(key), whole.lastIndexOf('"assistant"'))
    const session = await resumed(kept)
    await session.start()
    await expectWhole(kept, session.history)
    expect(await linesOf(kept)).toEqual(
      whole
        .split('\n')
        .slice(0, -1)
        .map((line) => expect.objectContaining(withoutTime(line))),
    )
  })

  it('is written anew where it was deleted, and goes on where somebody has added a line', async () => {
    const kept = await folder()
    const first = begun(kept, [looking, 'Well.', 'Bye.'])
    await turn('How is it?', first)
    await first.setPlanMode(true)
    await first.close()
    await rm(kept.transcript(key))
    const second = await resumed(kept)
    await second.start()
    await expectWhole(kept, second.history)
    await turn('Good.', second)
    await second.close()
    await expectWhole(kept, second.history)
    await appendFile(kept.transcript(key), 'no JSON\n')
    const third = await resumed(kept)
    await turn('Bye.', third)
    const lines = (await readFile(kept.transcript(key), 'utf8'))
      .split('\n')
      .filter((line) => line.includes('"message"'))
    expect(lines).toHaveLength(third.history.length)
  })
})

/** Resolves with the next event of a type. */
async function next(session: ChatSession, type: 'tool-called' | 'tool-answered'): Promise<void> {
  await new Promise((resolve) => void session.runner.on(type, resolve))
}

const toolParts = { description: 'Looks.', input: z.object({}), restart: 'pure', operation: 'read' } as const

function withoutTime(line: string): object {
  const { at: _, usage: __, ...rest } = JSON.parse(line) as Line
  return rest
}

/** Runs a turn in a process that kills itself at the first event of a type. */
async function killedAt(type: string, kept: SessionFolder): Promise<void> {
  const program = join(import.meta.dirname, '../../programs/killed-chat.ts')
  const signal = await new Promise((resolve) => {
    execFile(process.execPath, ['--conditions=entia-source', program, kept.path, key, type], (error, _, written) => {
      resolve(error?.signal ?? written)
    })
  })
  expect(signal).toBe('SIGKILL')
}
