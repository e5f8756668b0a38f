import type { Message } from 'entia'
import { type HistoryMessage, newSession } from 'entia/runtime'
import { describe, expect, it } from 'vitest'

const call = (id: string): Message => ({
  role: 'assistant',
  content: [{ type: 'tool-call', id, name: 'look', arguments: {} }],
})
const result = (callId: string): HistoryMessage => ({ role: 'tool', callId, name: 'look', content: 'seen' })
const said: HistoryMessage = { role: 'user', content: 'Look.' }
const closing: HistoryMessage = { role: 'assistant', content: 'Seen.' }

/** The error of a history that is refused. */
function refusal(history: unknown): unknown {
  try {
    newSession({ history: history as readonly HistoryMessage[] })
    return undefined
  } catch (error) {
    return error
  }
}

describe('the history that a chat session is given', () => {
  it('may have texts as contents, calls and results, and is copied', () => {
    const history = [said, call('a'), result('a'), closing]
    const session = newSession({ history })
    history.pop()
    expect(session.history).toHaveLength(4)
    expect(session.history[2]).toEqual({
      role: 'tool',
      callId: 'a',
      name: 'look',
      content: [{ type: 'text', text: 'seen' }],
    })
  })

  it.each([
    ['a call without a result', [said, call('a'), closing], 1],
    ['a call without a result at its end', [said, call('a')], 1],
    ['a result without a call', [said, result('a'), closing], 1],
    ['a second result of one call', [said, call('a'), result('a'), result('a'), closing], 3],
    ['a result behind another message', [said, call('a'), said, result('a'), closing], 1],
    ['what is no message', [said, { role: 'robot', content: 'x' }], 1],
    ['a message without content', [{ role: 'user' }, closing], 0],
    ['a hole', Object.assign([said], { 2: closing }), 1],
    ['a user as the last to speak', [said, closing, said], 2],
  ])('is refused with %s, by its index', (_, history, index) => {
    expect(refusal(history)).toMatchObject({
      code: 'invalid-history',
      details: { index },
      message: expect.stringContaining(`history[${index}]`) as unknown,
    })
  })
})
