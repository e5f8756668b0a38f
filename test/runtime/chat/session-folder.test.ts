import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defineTool, type ScriptedReply, textOf, VirtualClock } from 'entia'
import { type ApprovalCall, type ChatSession, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { makeChat, openChat } from '../../../src/runtime/chat/make-chat.ts'
import { SessionFolder } from '../../../src/runtime/chat/session-folder.ts'
import type { NewSessionOptions } from '../../../src/runtime/chat/session-options.ts'
import { rejection } from '../../behaviour/turns/driving.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { gate, script } from './chatting.ts'

async function folder(): Promise<SessionFolder> {
  return new SessionFolder(join(await tempFolder(), 'sessions'))
}

function options(replies: readonly ScriptedReply[], more: NewSessionOptions = {}): NewSessionOptions {
  const { models } = script(replies)
  return { provider: 'script', model: 'm', host: { clock: new VirtualClock(), models }, ...more }
}

function begun(kept: SessionFolder, replies: readonly ScriptedReply[], more: NewSessionOptions = {}): ChatSession {
  const session = makeChat(options(replies, more), { folder: kept })
  onTestFinished(() => session.close())
  return session
}

async function resumed(kept: SessionFolder, key: string, more: NewSessionOptions = {}): Promise<ChatSession> {
  const { provider: _, model: __, ...rest } = options(['Again.'])
  const session = await openChat(key, { ...rest, ...more }, { folder: kept })
  onTestFinished(() => session.close())
  return session
}

/** Says a word to a new chat session under this key, and closes it. */
async function spokenTo(kept: SessionFolder, key: string, more: NewSessionOptions = {}): Promise<void> {
  const session = begun(kept, ['Well.'], { key, ...more })
  await turn(`Hello, ${key}.`, session)
  await session.close()
}

/** A tool that runs only with an approval, and how often it ran. */
function asking() {
  const ran: string[] = []
  const tool = defineTool({
    name: 'push',
    description: 'Pushes.',
    input: z.object({}),
    restart: 'once',
    approval: true,
    run: () => void ran.push('pushed'),
  })
  return { tool, ran }
}

describe('the key of a chat session', () => {
  it('says when it was made, sorts by that, and is the same for the same seed and clock', () => {
    const clock = new VirtualClock()
    const keys = [7, 7, 8].map(
      (seed) => makeChat(options([], { seed, host: { clock, models: script([]).models } })).key,
    )
    expect(keys[0]).toMatch(/^19700101-000000-[a-z2-9]{4}$/)
    expect(keys[1]).toBe(keys[0])
    expect(keys[2]).not.toBe(keys[0])
  })
})

describe('a stored chat session', () => {
  it('goes on where it was, with the model and the channel it had', async () => {
    const kept = await folder()
    await spokenTo(kept, 'a', { channel: 'console', cwd: '/work' })
    const session = await resumed(kept, 'a')
    expect(await turn('And now?', session)).toMatchObject({ reply: 'Again.', stop: 'done' })
    const { channel, cwd, key, model, provider } = session
    expect({ channel, cwd, key, model, provider }).toEqual({
      ...{ channel: 'console', cwd: '/work', key: 'a', model: 'm', provider: 'script' },
    })
    expect(session.history).toHaveLength(4)
  })

  it('takes what the options say over what was saved', async () => {
    const kept = await folder()
    await spokenTo(kept, 'a', { system: 'Be brief.', tools: [asking().tool] })
    const { models, requests } = script(['Again.'])
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      restart: 'pure',
      run: () => '',
    })
    const more = { model: 'other', provider: 'script', system: 'Be long.', tools: [look], planMode: true, maxSteps: 1 }
    const session = await resumed(kept, 'a', { ...more, host: { clock: new VirtualClock(), models } })
    await turn('And now?', session)
    expect(requests[0]).toMatchObject({ model: 'other', system: expect.stringContaining('Be long.') as unknown })
    const names = requests[0]?.tools.map(({ name }) => name) ?? []
    expect(names.filter((name) => ['look', 'push', 'exit_plan_mode'].includes(name))).toEqual([
      'look',
      'exit_plan_mode',
    ])
    expect(session.planMode).toBe(true)
  })

  it('is open in one place at a time', async () => {
    const kept = await folder()
    const session = begun(kept, ['Well.'], { key: 'a' })
    await turn('Hello.', session)
    const error = await rejection(openChat('a', options([]), { folder: kept }))
    expect(error).toMatchObject({ code: 'session-in-use', details: { key: 'a', pid: process.pid } })
    expect(await rejection(kept.remove('a'))).toMatchObject({ code: 'session-in-use' })
    expect(await rejection(begun(kept, [], { key: 'a' }).start())).toMatchObject({ code: 'session-in-use' })
    await session.close()
    expect((await resumed(kept, 'a')).history).toHaveLength(2)
  })

  it('that was closed while it waited for an approval asks again under the same id, and the call runs once', async () => {
    const kept = await folder()
    const { ran, tool } = asking()
    const first = gate<ApprovalCall>()
    const session = begun(kept, [{ toolCalls: [{ name: 'push', id: 'call-9' }] }], {
      ...{ key: 'a', tools: [tool] },
      approve: (call, _, { signal }) => {
        first.resolve(call)
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(false)))
      },
    })
    const under = turn('Push it.', session)
    const asked = await first.promise
    const stopped = rejection(under)
    await session.close()
    expect(await stopped).toMatchObject({ code: 'world-driven' })
    expect(ran).toEqual([])

    const again: ApprovalCall[] = []
    const later = await resumed(kept, 'a', { tools: [tool], approve: (call) => again.push(call) > 0 })
    expect(later.isBusy).toBe(true)
    expect(await rejection(turn('Well?', later))).toMatchObject({ code: 'turn-in-progress' })
    expect(await later.attach()).toMatchObject({ text: 'Again.', stop: 'done' })
    expect(again.map(({ approval }) => approval)).toEqual([asked.approval])
    expect(ran).toEqual(['pushed'])
    expect(later.isBusy).toBe(false)
  })

  it('that was closed while it asked and a tool was at work is closed in the midst of its turn', async () => {
    const kept = await folder()
    const { ran, tool } = asking()
    const calls = [{ toolCalls: [{ name: 'wait' }, { name: 'push' }] }]
    const tools = [waiting('once'), tool]
    const session = begun(kept, calls, { key: 'a', tools, approve: () => new Promise(() => undefined) })
    const both = new Promise((resolve) => void session.runner.on('approval-requested', resolve))
    const under = turn('Wait, and push it.', session)
    await both
    await session.close()
    expect(await under).toMatchObject({ stop: 'cancelled' })
    const later = await resumed(kept, 'a', { tools })
    await later.start()
    expect(later.isBusy).toBe(false)
    expect(ran).toEqual([])
  })

  it('that was closed in the midst of a turn has a conversation that ends, and goes on from there', async () => {
    const kept = await folder()
    const session = begun(kept, [{ toolCalls: [{ name: 'wait' }] }], { key: 'a', tools: [waiting()] })
    const under = turn('Wait.', session)
    await new Promise((resolve) => void session.runner.on('tool-called', resolve))
    await session.close()
    expect(await under).toMatchObject({ reply: '[turn cancelled]', stop: 'cancelled' })
    const later = await resumed(kept, 'a', { tools: [waiting()] })
    expect(later.isBusy).toBe(false)
    expect(await turn('And now?', later)).toMatchObject({ reply: 'Again.' })
  })
})

function waiting(restart: 'once' | 'pure' = 'pure') {
  return defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.object({}),
    restart,
    operation: 'read',
    run: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
  })
}

describe('a folder of chat sessions', () => {
  it('lists them, the last used first, and finds the latest of a working folder', async () => {
    const kept = await folder()
    expect(await kept.list()).toEqual([])
    for (const [key, cwd] of [
      ['a', '/one'],
      ['b', '/two'],
      ['c', '/one'],
    ] as const)
      await spokenTo(kept, key, { cwd })
    for (const [key, seconds] of [
      ['a', 3_000],
      ['b', 4_000],
      ['c', 2_000],
    ] as const) {
      await utimes(kept.transcript(key), seconds, seconds)
    }
    expect((await kept.list()).map(({ key }) => key)).toEqual(['b', 'a', 'c'])
    expect((await kept.list())[0]).toEqual({
      ...{ key: 'b', createdAt: 0, lastUsedAt: 4_000_000, cwd: '/two', channel: 'cli', model: 'script/m' },
      firstMessage: 'Hello, b.',
    })
    expect(await kept.find('latest', '/one')).toBe('a')
    expect(await rejection(kept.find('latest', '/three'))).toMatchObject({ code: 'unknown-session' })
  })

  it('finds them by the beginning of their keys, if that is of one only', async () => {
    const kept = await folder()
    for (const key of ['20261123-150000-abcd', '20261123-160000-efgh', '20261123']) await spokenTo(kept, key)
    expect(await kept.find('20261123-15', '/')).toBe('20261123-150000-abcd')
    expect(await kept.find('20261123', '/')).toBe('20261123')
    expect(await rejection(kept.find('20261123-1', '/'))).toMatchObject({
      code: 'ambiguous-id',
      details: { matching: ['20261123-150000-abcd', '20261123-160000-efgh'] },
    })
    expect(await rejection(kept.find('../20261123', '/'))).toMatchObject({ code: 'unknown-session' })
  })

  it('lists all of them where transcripts hold what they must not, or cannot be read', async () => {
    const kept = await folder()
    for (const key of ['a', 'b', 'c']) await spokenTo(kept, key)
    await writeFile(kept.transcript('a'), 'null\n5\n[]\n{"type":"message","role":"user","content":"text"}\n')
    await rm(kept.transcript('b'))
    await mkdir(kept.transcript('b'))
    const listed = await kept.list()
    expect(listed.map(({ key }) => key).toSorted()).toEqual(['a', 'b', 'c'])
    expect(listed.find(({ key }) => key === 'a')).toMatchObject({ cwd: undefined, firstMessage: undefined })
  })

  it('says of a chat session without a world, and of a transcript that cannot be opened, what is wrong', async () => {
    const kept = await folder()
    await mkdir(join(kept.path, 'empty'), { recursive: true })
    expect(await rejection(openChat('empty', options([]), { folder: kept }))).toMatchObject({ code: 'unknown-session' })
    await spokenTo(kept, 'a')
    await rm(kept.transcript('a'))
    await mkdir(kept.transcript('a'))
    const session = await resumed(kept, 'a')
    expect(await rejection(turn('And now?', session))).toMatchObject({
      code: 'store-failed',
      message: expect.stringContaining('transcript.jsonl cannot be opened') as string,
    })
  })

  it('leaves its turn open when it is closed so, and goes on with it when it is opened again', async () => {
    const kept = await folder()
    const called = gate()
    const { models } = script(() => {
      called.resolve()
      return new Promise(() => undefined)
    })
    const session = makeChat({ provider: 'script', model: 'm', host: { models }, key: 'a' }, { folder: kept })
    const under = turn('Think.', session).catch((error: unknown) => error)
    await called.promise
    session.ask('And that.').catch(() => undefined)
    await session.close({ keepTurn: true })
    expect(await under).toMatchObject({ code: 'world-driven' })
    const again = await resumed(kept, 'a')
    expect(again.isBusy).toBe(true)
    expect(await again.attach()).toMatchObject({ stop: 'done' })
    const said = again.history.map((message) => textOf(message))
    expect(said).toEqual(expect.arrayContaining(['Think.', 'And that.', 'Again.']))
    expect(said).not.toContain('[turn cancelled]')
  })

  it('numbers messages on in its transcript behind those that were taken back before a model had read them', async () => {
    const kept = await folder()
    const called = gate()
    const replies = [
      () => {
        called.resolve()
        return new Promise<never>(() => undefined)
      },
      () => 'Well.',
    ]
    const { models } = script(() => replies.shift()?.() ?? 'Done.')
    const session = makeChat({ provider: 'script', model: 'm', host: { models }, key: 'a' }, { folder: kept })
    onTestFinished(() => session.close())
    void turn('Think.', session)
    await called.promise
    for (const text of ['One.', 'Two.']) session.ask(text).catch(() => undefined)
    expect(await session.cancel(undefined, { takeBack: 2 })).toBe(2)
    await turn('Again.', session)
    await session.close()
    type Line = { type: string; seq?: number; fromSeq?: number; toSeq?: number; content?: { text: string }[] }
    const lines = (await readFile(kept.transcript('a'), 'utf8')).trim().split('\n')
    const read = lines.map((line) => JSON.parse(line) as Line)
    const said = read.flatMap(({ content, seq, type }) => (type === 'message' ? [`${seq} ${content?.[0]?.text}`] : []))
    expect(said).toEqual(expect.arrayContaining(['1 Think.', '4 [turn cancelled]', '5 Again.', '6 Well.']))
    expect(new Set(said).size).toBe(said.length)
    const taken = read.filter(({ type }) => type === 'rewrite').map(({ fromSeq, toSeq }) => [fromSeq, toSeq])
    expect(taken).toEqual([
      [2, 2],
      [3, 3],
    ])
  })

  it('loses a chat session that is removed, with all its files', async () => {
    const kept = await folder()
    await spokenTo(kept, 'a')
    await spokenTo(kept, 'b')
    await kept.remove('a')
    expect(await readdir(kept.path)).toEqual(['b'])
  })
})
