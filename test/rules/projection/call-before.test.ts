import type { AssistantMessage, Message } from 'entia'
import { describe, expect, it } from 'vitest'
import { callBefore, newestCall } from '../../../src/rules/projection/tool-calls.ts'
import { isSameCall, keyOfCall } from '../../../src/rules/context/watchdog-signal.ts'
import { saying } from '../../systems/one-tick.ts'

const result = (callId: string): Message => ({
  role: 'tool',
  callId,
  name: 'look',
  content: [{ type: 'text', text: 'Nothing.' }],
})

/** A message that asks for tools under these ids. */
function askingAs(...ids: readonly string[]): AssistantMessage {
  const content = ids.map((id) => ({ type: 'tool-call' as const, id, name: 'look', arguments: { id } }))
  return { role: 'assistant', content }
}

describe('the call before one', () => {
  it('stands in the same message, or in the last one that asked', () => {
    const messages = [askingAs('a', 'b'), result('a'), result('b'), saying('So.'), askingAs('c', 'd')]
    expect(callBefore(messages, 'd')?.id).toBe('c')
    expect(callBefore(messages, 'c')?.id).toBe('b')
  })

  it('is none where nothing was asked for before, or the call is no longer the newest', () => {
    expect(callBefore([saying('Hello.'), askingAs('a')], 'a')).toBeUndefined()
    expect(callBefore([askingAs('a'), result('a'), askingAs('b')], 'a')).toBeUndefined()
    expect(callBefore([], 'a')).toBeUndefined()
  })
})

describe('the newest call', () => {
  it('is found whether it has its result or not, and whatever was said since', () => {
    expect(newestCall([askingAs('a', 'b')])).toMatchObject({ call: { id: 'b' }, index: 0 })
    expect(newestCall([saying('Hm.'), askingAs('a'), result('a'), saying('So.')])).toMatchObject({ index: 1 })
    expect(newestCall([saying('Hm.')])).toBeUndefined()
  })
})

describe('two calls', () => {
  const call = (input: object, name = 'look') => ({ name, arguments: input as Readonly<Record<string, never>> })

  it.each([
    [{}, {}],
    [
      { a: 1, b: [1, { c: null }] },
      { a: 1, b: [1, { c: null }] },
    ],
  ])('are the same if name and arguments are', (one, other) => {
    expect(isSameCall(call(one), call(other))).toBe(true)
    expect(isSameCall(call(one), call(other, 'find'))).toBe(false)
  })

  it.each([
    [{ path: 'main.go' }, { path: './main.go' }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: [1] }, { a: [1, 2] }],
    [{ a: [1] }, { a: { 0: 1 } }],
    [{ a: null }, { a: {} }],
    [{ a: 1 }, { a: '1' }],
  ])('differ where any value does: %j and %j', (one, other) => {
    expect(isSameCall(call(one), call(other))).toBe(false)
    expect(keyOfCall(call(one))).not.toBe(keyOfCall(call(other)))
  })

  it('that are no JSON are compared as they were written', () => {
    expect(isSameCall({ ...call({}), malformed: '{' }, { ...call({}), malformed: '{' })).toBe(true)
    expect(isSameCall({ ...call({}), malformed: '{' }, { ...call({}), malformed: '[' })).toBe(false)
    expect(isSameCall({ ...call({}), malformed: '{' }, call({}))).toBe(false)
  })
})
