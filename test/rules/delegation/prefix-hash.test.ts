import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/protocol/message.ts'
import { prefixHash, type SharedRequest } from '../../../src/rules/delegation/hashes.ts'
import { canonical } from '../../../src/world/canonical.ts'
import { refusal } from '../../world/family.ts'
import { tool } from './blueprints.ts'

/** As a World holds it. */
function held<T>(value: T): T {
  return canonical(value, () => 'A value') as T
}

/** The same content in objects of its own, as another process has it. */
function copyOf<T>(value: T): T {
  return held(JSON.parse(JSON.stringify(value)) as T)
}

function saying(text: string): Message {
  return held({ role: 'user', content: [{ type: 'text', text }] })
}

function conversation(length: number, from = 0): Message[] {
  return Array.from({ length }, (_, index) => saying(`message ${from + index}`))
}

function requestOf(changes: Partial<SharedRequest> = {}): SharedRequest {
  const messages = changes.messages ?? conversation(300)
  return {
    llm: { model: 'scripted/x', temperature: 1 },
    settings: 7,
    system: 'Be kind.',
    tools: held([tool('a'), tool('b')]),
    messages,
    count: messages.length,
    ...changes,
  }
}

const plain = requestOf()

describe('the hash of a shared prefix', () => {
  it('is a SHA-256 that is the same for the same content, whoever holds it', () => {
    const hash = prefixHash(plain)
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect(prefixHash(plain)).toBe(hash)
    expect(prefixHash(copyOf(plain))).toBe(hash)
    expect(prefixHash({ ...plain, messages: plain.messages.slice() })).toBe(hash)
  })

  it('is of the first so many messages, whatever stands behind them', () => {
    const longer = { ...plain, messages: [...plain.messages, saying('more')] }
    expect(prefixHash(longer)).toBe(prefixHash(plain))
    expect(prefixHash({ ...longer, count: 301 })).not.toBe(prefixHash(plain))
  })

  it('has nothing to do with how long and how often a call may be tried', () => {
    const { llm } = plain
    expect(prefixHash({ ...plain, llm: { ...llm, retry: false, timeoutMs: 5 } })).toBe(prefixHash(plain))
  })

  it('is another one for any other content', () => {
    const replaced = (at: number): Message[] => plain.messages.toSpliced(at, 1, saying('another'))
    const others: Partial<SharedRequest>[] = [
      {},
      { llm: { model: 'scripted/y', temperature: 1 } },
      { llm: { model: 'scripted/x', temperature: 0 } },
      { llm: { model: 'scripted/x', temperature: 1, thinking: 'low' } },
      { settings: 8 },
      { settings: undefined },
      { system: 'Be kind. ' },
      { system: '' },
      { tools: held([tool('b'), tool('a')]) },
      { tools: held([tool('a')]) },
      { tools: [] },
      { messages: replaced(0) },
      { messages: replaced(63) },
      { messages: replaced(64) },
      { messages: replaced(299) },
      { messages: plain.messages.toReversed() },
      { count: 299 },
      { count: 256 },
      { count: 0 },
    ]
    const hashes = others.map((changes) => prefixHash({ ...plain, ...changes }))
    expect(new Set(hashes).size).toBe(others.length)
  })

  it('follows from the content alone, whatever was hashed before of logs that share messages', () => {
    const some = conversation(10)
    // Logs of a few messages over and over: blocks begin alike and go on otherwise, and logs are cut and regrown.
    const edit = fc.record({
      from: fc.nat(200),
      put: fc.array(fc.nat(9), { maxLength: 90, size: 'max' }),
      count: fc.nat(300),
      isCopy: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 12, size: 'max' }), (edits) => {
        const log: Message[] = []
        const seen = new Map<string, string>()
        for (const { from, put, count, isCopy } of edits) {
          log.length = Math.min(log.length, from)
          log.push(...put.map((index) => some[index] as Message))
          const messages = isCopy ? log.slice() : log
          const request = { ...plain, messages, count: Math.min(count, log.length) }
          const hash = prefixHash(request)
          expect(hash).toBe(prefixHash(copyOf({ ...request, messages: log.slice(0, request.count) })))
          const content = JSON.stringify(log.slice(0, request.count))
          expect(seen.get(content) ?? hash).toBe(hash)
          seen.set(content, hash)
        }
        expect(new Set(seen.values()).size).toBe(seen.size)
      }),
      { numRuns: 50 },
    )
  })

  it('reads no message twice, of whichever log, as long as it stands behind the same others', () => {
    const reads = new Map<number, number>()
    const watched = Array.from({ length: 300 }, (_, index) => {
      const toJSON = (): string => {
        reads.set(index, (reads.get(index) ?? 0) + 1)
        return `message ${index}`
      }
      return Object.freeze({ role: 'user' as const, content: [], toJSON })
    })
    prefixHash({ ...plain, messages: watched, count: 300 })
    expect([...reads.values()]).toEqual(Array(300).fill(1))
    reads.clear()
    prefixHash({ ...plain, messages: watched, count: 290 })
    prefixHash({ ...plain, messages: [...watched, ...conversation(50, 300)], count: 300 })
    expect(Math.min(...reads.keys())).toBeGreaterThanOrEqual(256)
  })

  it('takes nothing for granted that is not frozen', () => {
    const content = [{ type: 'text' as const, text: 'a' }]
    const messages = Array.from({ length: 64 }, () => ({ role: 'user' as const, content }))
    const tools = [tool('a')]
    const before = prefixHash({ ...plain, messages, tools, count: 64 })
    content[0] = { type: 'text', text: 'b' }
    const between = prefixHash({ ...plain, messages, tools, count: 64 })
    tools[0] = tool('b')
    const after = prefixHash({ ...plain, messages, tools, count: 64 })
    expect(new Set([before, between, after]).size).toBe(3)
  })

  it.for([-1, 1.5, 301, Number.NaN])('is refused for %d messages of 300', (count) => {
    expect(() => prefixHash({ ...plain, count })).toThrow(refusal('invalid-argument', 'from 0 to 300', String(count)))
  })
})
