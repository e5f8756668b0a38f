import { defineTool, fail, type Message, type ModelRequest, textOf, user } from 'entia'
import { addObserver, newSession, turn } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { rejection } from '../../behaviour/turns/driving.ts'
import { chatting, gate } from './chatting.ts'

const lookParts = {
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  restart: 'pure',
  operation: 'read',
} as const
const look = defineTool({ ...lookParts, run: () => 'seen' })

function spoken(messages: Iterable<Message>): readonly string[] {
  return Array.from(messages, (message) => `${message.role}: ${textOf(message)}`)
}

describe('a new chat session', () => {
  it('is on the command line, with Anthropic, without history, and has ten steps a turn', () => {
    const session = newSession()
    const { channel, history, provider } = session
    expect({ channel, history, provider }).toEqual({ channel: 'cli', history: [], provider: 'anthropic' })
  })

  it('continues a conversation that it is given', async () => {
    const history = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ] as const
    const { requests, session } = chatting(['d'], { history })
    await turn('c', session)
    expect(spoken((requests[0] as ModelRequest).messages)).toEqual(['user: a', 'assistant: b', 'user: c'])
    expect(spoken(session.history)).toEqual(['user: a', 'assistant: b', 'user: c', 'assistant: d'])
  })
})

describe('a turn', () => {
  it('gives the reply, how it stopped, its steps and what it has used', async () => {
    const { session } = chatting([{ toolCalls: [{ name: 'look' }] }, 'All is well.'], { tools: [look] })
    expect(await turn('How is it?', session)).toMatchObject({
      reply: 'All is well.',
      session,
      stop: 'done',
      steps: 2,
      usage: { calls: 2 },
    })
  })

  it('ends after as many steps as are allowed, and the next turn has as many again', async () => {
    const { requests, session } = chatting(() => ({ toolCalls: [{ name: 'look' }] }), { tools: [look], maxSteps: 3 })
    for (const count of [3, 6]) {
      const { reply, steps, stop } = await turn('Go on', session)
      expect({ reply, steps, stop }).toEqual({ reply: '[Max turns reached]', steps: 3, stop: 'max-steps' })
      expect(requests).toHaveLength(count)
    }
    expect(session.history.filter(({ role }) => role === 'tool')).toHaveLength(6)
    expect(session.history.at(-1)).toMatchObject({ role: 'assistant' })
  })

  it('is refused while another is under way, which ends as if nothing had been', async () => {
    const open = gate()
    const { session } = chatting(async () => {
      await open.promise
      return 'First.'
    })
    const first = turn('one', session)
    expect(await rejection(turn('two', session))).toMatchObject({ code: 'turn-in-progress' })
    open.resolve()
    expect(await first).toMatchObject({ reply: 'First.', stop: 'done' })
    expect(spoken(session.history)).toEqual(['user: one', 'assistant: First.'])
  })

  it('is not opened for a signal that has aborted already', async () => {
    const { requests, session } = chatting(['Yes.'])
    const result = await turn('Here?', session, { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ stop: 'cancelled', reply: '[turn cancelled]', steps: 0, usage: { calls: 0 } })
    expect([session.history, requests]).toEqual([[], []])
  })

  it('that fails says why, and the next one goes on from there', async () => {
    const { session } = chatting([fail('unauthorized'), 'Yes.'])
    expect(await turn('Here?', session)).toMatchObject({
      stop: 'failed',
      reply: '[turn failed: unauthorized]',
      failure: { kind: 'unauthorized' },
    })
    expect(await turn('Now?', session)).toMatchObject({ stop: 'done', reply: 'Yes.' })
    expect(newSession({ history: session.history }).history).toHaveLength(4)
  })

  it('that reaches its ceiling says so, and one after that is refused until the ceiling is raised', async () => {
    const price = { input: 1_000_000, output: 1_000_000 }
    const { session } = chatting(
      [
        { text: 'Dear.', usage: { input: 5, output: 5 } },
        { text: 'Cheap.', usage: { input: 1, output: 0 } },
      ],
      {
        config: { ceilings: { maxSessionCostUsd: 8 } },
        host: { prices: { 'script/m': price } },
      },
    )
    expect(await turn('Here?', session)).toMatchObject({ costUsd: 10 })
    expect(await turn('Now?', session)).toMatchObject({ stop: 'budget-spent', failure: { kind: 'budget-spent' } })
    await session.resumeAfterCostCeiling(100)
    expect(await turn('Now?', session)).toMatchObject({ stop: 'done', reply: 'Cheap.' })
    expect(session.stats()).toMatchObject({
      turns: 2,
      steps: 2,
      costUsd: 11,
      unpriced: [],
      tokens: { input: 6, output: 5 },
    })
  })

  it('is steered by a message to the chat session while it is under way', async () => {
    const open = gate()
    const slow = defineTool({ ...lookParts, run: () => open.promise.then(() => 'seen') })
    const { requests, session } = chatting([{ toolCalls: [{ name: 'look' }] }, 'Both.'], { tools: [slow] })
    const first = turn('one', session)
    await new Promise((resolve) => void session.runner.on('tool-called', resolve))
    const steered = session.ask('two')
    await new Promise((resolve) => setImmediate(resolve))
    open.resolve()
    expect(await first).toMatchObject({ reply: 'Both.', steps: 2 })
    expect(await steered).toMatchObject({ text: 'Both.' })
    expect(spoken(requests[1]?.messages ?? []).at(-1)).toBe('user: two')
  })

  it('uses the model that the chat session was switched to', async () => {
    const { requests, session } = chatting(['One.', 'Two.'])
    await turn('one', session)
    await session.setModel('other')
    await turn('two', session)
    expect(requests.map(({ model }) => model)).toEqual(['m', 'other'])
    expect(`${session.provider}/${session.model}`).toBe('script/other')
  })

  it('refuses a model of a provider that there is not, and names those that there are', async () => {
    const { session } = chatting([])
    await expect(session.setModel('scirpt/large')).rejects.toMatchObject({
      code: 'unknown-provider',
      message: expect.stringMatching(
        /^There is no model provider 'scirpt'\. Did you mean 'script'\? Known: .*script.* For a model of script with this name: script\/scirpt\/large\.$/,
      ) as string,
    })
    expect(`${session.provider}/${session.model}`).toBe('script/m')
    await session.setModel('script/of/others')
    expect(session.model).toBe('of/others')
  })

  it('needs something to answer', async () => {
    const { session } = chatting(['Yes.'])
    expect(await rejection(turn(' \n', session))).toMatchObject({ code: 'empty-prompt' })
    expect(await rejection(turn(user('  '), session))).toMatchObject({ code: 'empty-prompt' })
    expect(await rejection(session.ask('Here?', null as never))).toMatchObject({ code: 'invalid-argument' })
    expect(session.history).toEqual([])
    expect(await turn('Here?', session)).toMatchObject({ reply: 'Yes.' })
  })

  it('needs a chat session that is open', async () => {
    const { session } = chatting(['Yes.'])
    expect(await rejection(turn('Here?', {} as never))).toMatchObject({ code: 'invalid-argument' })
    expect(() => addObserver(null as never, () => undefined)).toThrow('addObserver: session must be a chat session')
    await session.close()
    expect(await rejection(turn('Here?', session))).toMatchObject({ code: 'session-closed' })
    expect(await rejection(session.ask('Here?'))).toMatchObject({ code: 'session-closed' })
  })
})
