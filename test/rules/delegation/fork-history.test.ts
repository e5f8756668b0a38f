import { describe, expect, it } from 'vitest'
import type { AssistantMessage, Message, ToolMessage } from '../../../src/protocol/message.ts'
import { forkHistory } from '../../../src/rules/delegation/fork-history.ts'
import { refusal } from '../../world/family.ts'

function user(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

function note(text: string): Message {
  return { role: 'system', content: [{ type: 'text', text }] }
}

/** The model says something, and asks for these: `a-1` is call 1 of the tool `a`. */
function model(text: string, ...ids: readonly string[]): AssistantMessage {
  const calls = ids.map((id) => ({ type: 'tool-call' as const, id, name: nameIn(id), arguments: {} }))
  return { role: 'assistant', content: [{ type: 'text', text }, ...calls] }
}

function result(id: string, text = 'Found.'): ToolMessage {
  return { role: 'tool', callId: id, name: nameIn(id), content: [{ type: 'text', text }] }
}

function placeholder(id: string): ToolMessage {
  return result(id, 'Fork started — processing in background')
}

function nameIn(id: string): string {
  return id.split('-')[0] as string
}

const hello = user('Hello')
const past = [hello, model('Hi')]

describe('the history of a fork that a model asks for', () => {
  const asking = model('Two at once.', 'read-1', 'fork-2', 'fork-3')
  const placeholders = ['read-1', 'fork-2', 'fork-3'].map(placeholder)

  it('ends with the message that asks, and a placeholder for each of its calls in their order', () => {
    const history = { shared: 3, behind: placeholders }
    expect(forkHistory([...past, asking], 'fork-2')).toEqual(history)
    expect(forkHistory([...past, asking], 'fork-3')).toEqual(history)
  })

  it('has no result of a call of that message, even if there is one, nor what was said since', () => {
    const messages = [...past, asking, result('read-1'), user('Hurry'), note('It is noon.'), result('fork-2')]
    expect(forkHistory(messages, 'fork-3')).toEqual({ shared: 3, behind: placeholders })
  })

  it('ends with the last message that holds the call, if ids come up again', () => {
    const again = model('Once more.', 'fork-2')
    const messages = [...past, asking, ...placeholders, again]
    expect(forkHistory(messages, 'fork-2')).toEqual({ shared: 7, behind: [placeholder('fork-2')] })
    expect(forkHistory(messages, 'fork-3').shared).toBe(3)
  })

  it('needs the call to be there', () => {
    expect(() => forkHistory([...past, asking], 'fork-4')).toThrow(
      refusal('invalid-argument', 'fork-4', 'id of a call'),
    )
  })
})

describe('the history of a fork that a program asks for', () => {
  it.for<[what: string, messages: readonly Message[], shared: number, behind: readonly ToolMessage[]]>([
    ['is whole behind a text of the model', past, 2, []],
    [
      'is whole behind calls, with a placeholder for each',
      [...past, model('', 'read-1', 'grep-2')],
      3,
      [placeholder('read-1'), placeholder('grep-2')],
    ],
    [
      'is whole behind some results, with placeholders for the open calls',
      [...past, model('', 'read-1', 'grep-2', 'read-3'), result('read-1')],
      4,
      [placeholder('grep-2'), placeholder('read-3')],
    ],
    ['is whole behind all results', [hello, model('', 'read-1'), result('read-1')], 3, []],
    ['lacks what the user has said since', [...past, user('And?'), user('Well?')], 2, []],
    ['lacks what the world has said since', [...past, note('It is noon.'), user('So?')], 2, []],
    [
      'lacks what was said behind the first results',
      [...past, model('', 'read-1', 'grep-2'), result('read-1'), user('Hurry')],
      4,
      [placeholder('grep-2')],
    ],
    ['lacks what was said behind all results', [hello, model('', 'read-1'), result('read-1'), user('Hurry')], 3, []],
    [
      'lacks what was said between the results, but has these',
      [
        ...past,
        model('', 'read-1', 'grep-2', 'read-3'),
        user('Hurry'),
        result('read-1'),
        note('Noon.'),
        result('grep-2'),
      ],
      3,
      [result('read-1'), result('grep-2'), placeholder('read-3')],
    ],
    ['is empty if no model has answered yet', [hello, note('It is noon.')], 0, []],
    ['is empty if nothing was said', [], 0, []],
  ])('%s', ([, messages, shared, behind]) => {
    expect(forkHistory(messages)).toEqual({ shared, behind })
  })

  it('is found at the end of a long conversation, without a look at the rest', () => {
    const looked: string[] = []
    const long = [...Array.from({ length: 10_000 }, () => hello), model('Hi'), user('And?')]
    const watched = new Proxy(long, {
      get: (target, key) => {
        if (typeof key === 'string') looked.push(key)
        return Reflect.get(target, key) as unknown
      },
    })
    expect(forkHistory(watched)).toEqual({ shared: 10_001, behind: [] })
    expect(looked.filter((key) => Number(key) < 10_000)).toEqual([])
    expect(looked.length).toBeLessThan(50)
  })
})
