import { defineTool, type ModelRequest, textOf, VirtualClock } from 'entia'
import { addObserver, type ToolSource, turn } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { rejection } from '../../behaviour/turns/driving.ts'
import { makeChat, openChat } from '../../../src/runtime/chat/make-chat.ts'
import { SessionFolder } from '../../../src/runtime/chat/session-folder.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { chatting, script } from './chatting.ts'

function tool(name: string, result: string) {
  return defineTool({
    name,
    description: 'Says something.',
    input: z.object({}),
    restart: 'pure',
    operation: 'read',
    run: () => result,
  })
}

function source(name: string, call: ToolSource['call']): ToolSource {
  const { declaration } = tool(name, '')
  return { declarations: [declaration], call }
}

/** Calls a tool at each turn, and then ends it. */
const calls = (name: string) => (request: ModelRequest) =>
  request.messages.at(-1)?.role === 'tool' ? 'Done.' : { toolCalls: [{ name }] }

const ours = new Set(['own', 'other', 'more', 'exit_plan_mode'])

function named({ tools }: ModelRequest): readonly string[] {
  return tools.map(({ name }) => name).filter((name) => ours.has(name))
}

describe('tools that a turn is given', () => {
  it('stand in for those of the chat session, for this turn only', async () => {
    const { requests, session } = chatting(calls('own'), { tools: [tool('own', 'of the session')] })
    await turn('one', session)
    await turn('two', session, { tools: [tool('own', 'of the turn'), tool('more', 'x')] })
    await turn('three', session)
    const results = session.history.filter(({ role }) => role === 'tool').map((message) => textOf(message))
    expect(results).toEqual(['of the session', 'of the turn', 'of the session'])
    expect(requests.map(named)).toEqual([['own'], ['own'], ['own', 'more'], ['own', 'more'], ['own'], ['own']])
  })

  it('may come from a source, whose handler gets the arguments, a signal and a key', async () => {
    const got: unknown[] = []
    const other = source('other', async (name, input, { key, signal }) => {
      got.push([name, input, typeof key, signal.aborted])
      return { found: 3 }
    })
    const { session } = chatting(calls('other'), { tools: [tool('own', 'x')], planMode: true })
    await turn('one', session, { toolSource: other })
    expect(got).toEqual([['other', {}, 'string', false]])
    expect(textOf(session.history.at(-2))).toBe('{"found":3}')
    expect(session.planMode).toBe(true)
  })

  it('pass the policy and the observers like those of the chat session', async () => {
    const ran: string[] = []
    const { declaration } = tool('other', '')
    const other: ToolSource = {
      declarations: [{ ...declaration, operation: 'write' }],
      call: async (name) => ran.push(name),
    }
    const { session } = chatting(calls('other'))
    const outcomes: unknown[] = []
    addObserver(session, ({ call, outcome }) => outcomes.push([call.tool, call.operation, outcome]))
    await turn('one', session, { toolSource: other })
    expect([ran, outcomes]).toEqual([[], [['other', 'write', 'declined']]])
  })

  it('leave the model with an error where the source fails, and the chat session as it was', async () => {
    const other = source('other', () => Promise.reject(new Error('the server is gone')))
    const { requests, session } = chatting(calls('other'), { tools: [tool('own', 'x')] })
    expect(await turn('one', session, { toolSource: other })).toMatchObject({ stop: 'done' })
    expect(textOf(session.history.at(-2))).toContain('the server is gone')
    await turn('two', session)
    expect(named(requests.at(-1) as ModelRequest)).toEqual(['own'])
    expect(textOf(session.history.at(-2))).toContain('there is no tool named other')
  })

  it('are gone when the chat session is opened again, also where it was closed in the midst of the turn', async () => {
    const kept = new SessionFolder(await tempFolder())
    const opened = Promise.withResolvers<void>()
    const slow = source('other', (_, __, { signal }) => {
      opened.resolve()
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')))
    })
    const made = (behaviour: Parameters<typeof script>[0]) => {
      const { models, requests } = script(behaviour)
      const host = { clock: new VirtualClock(), models }
      return { options: { key: 'a', provider: 'script', model: 'm', tools: [tool('own', 'x')], host }, requests }
    }
    const session = makeChat(made(calls('other')).options, { folder: kept })
    const under = turn('one', session, { toolSource: slow })
    await opened.promise
    await session.close()
    expect(await under).toMatchObject({ stop: 'cancelled' })
    const again = made(calls('own'))
    const later = await openChat('a', again.options, { folder: kept })
    onTestFinished(() => later.close())
    expect(await turn('two', later)).toMatchObject({ reply: 'Done.' })
    expect(again.requests.map(named)).toEqual([['own'], ['own']])
  })

  it('are refused before the turn begins where two have one name, or one is no tool', async () => {
    const { session } = chatting(['Yes.'])
    const twice = { tools: [tool('own', 'x')], toolSource: source('own', async () => 'y') }
    expect(await rejection(turn('one', session, twice))).toMatchObject({ code: 'invalid-argument' })
    const wrong = { tools: [{}] as never }
    expect(await rejection(turn('one', session, wrong))).toMatchObject({ code: 'invalid-argument' })
    const undeclared = { tools: [{ call: () => 'x' }] as never }
    expect(await rejection(turn('one', session, undeclared))).toMatchObject({ code: 'invalid-argument' })
    expect(await rejection(turn('one', session, { toolSource: {} as never }))).toMatchObject({
      code: 'invalid-argument',
    })
    expect(session.history).toEqual([])
  })
})
