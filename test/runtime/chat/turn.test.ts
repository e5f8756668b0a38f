import { defineTool, type Message, type ModelRequest, textOf, user } from 'entia'
import { newSession, turn } from 'entia/runtime'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { rejection } from '../../behaviour/turns/driving.ts'
import { chatting, gate } from './chatting.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  restart: 'pure',
  operation: 'read',
  run: () => 'seen',
})

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

  it('needs something to answer', async () => {
    const { session } = chatting(['Yes.'])
    expect(await rejection(turn(' \n', session))).toMatchObject({ code: 'empty-prompt' })
    expect(await rejection(turn(user('  '), session))).toMatchObject({ code: 'empty-prompt' })
    expect(session.history).toEqual([])
    expect(await turn('Here?', session)).toMatchObject({ reply: 'Yes.' })
  })

  it('needs a chat session that is open', async () => {
    const { session } = chatting(['Yes.'])
    await session.close()
    expect(await rejection(turn('Here?', session))).toMatchObject({ code: 'session-closed' })
    expect(await rejection(session.ask('Here?'))).toMatchObject({ code: 'session-closed' })
  })
})
