import { LogView, type Message, type ToolDeclaration, user } from 'entia'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  estimateTokens,
  isAtLeast,
  maxTokensOf,
  mostTokensOf,
  rawTokens,
  rawTokensOfText,
} from '../../../src/rules/tokens/estimate-tokens.ts'
import { rawTokensOfRequest, runningCount } from '../../../src/rules/tokens/running-count.ts'
import { canonical } from '../../../src/world/canonical.ts'
import type { Json } from '../../../src/base/json.ts'

/** As a World holds it. */
function held<T>(value: T): T {
  return canonical(value, () => 'A value') as T
}

const texts = ['Go on.', 'What did the second file say about it?', 'It says that nothing is left to be done here.']

/** Messages as a World holds them, and a log of them that counts how often one is looked at. */
function conversation(length: number) {
  const messages: Message[] = Array.from({ length }, (_, index) =>
    held(user(`${index}: ${texts[index % texts.length]}`)),
  )
  let looks = 0
  const log = new Proxy(messages, {
    get(target, key, receiver): unknown {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks++
      return Reflect.get(target, key, receiver)
    },
  })
  const looksSinceThen = (): number => {
    const now = looks
    looks = 0
    return now
  }
  return { messages, log, looks: looksSinceThen }
}

/** A frozen message that counts how often its content is read. */
function watched(text: string): { readonly message: Message; readonly reads: () => number } {
  let reads = 0
  const content = [{ type: 'text' as const, text }]
  const message = Object.freeze({
    role: 'user' as const,
    get content() {
      reads++
      return content
    },
  })
  return { message, reads: () => reads }
}

/** How many of these were counted: of those the greatest that they may have is what they have. */
function countedOf(messages: readonly Message[]): number {
  return messages.filter((message) => maxTokensOf(message) !== maxTokensOf({ ...message })).length
}

const sumOf = (messages: readonly Message[]): number => messages.reduce((sum, message) => sum + rawTokens(message), 0)

describe('a message of a World', () => {
  it('is counted once, alone and among others', () => {
    const { message, reads } = watched('It is read at the first time, and never again.')
    const tokens = rawTokens(message)
    expect(reads()).toBe(1)
    expect(rawTokens(message)).toBe(tokens)
    expect(estimateTokens([message, message], { factor: 1 })).toBe(2 * tokens)
    expect(isAtLeast(message, { factor: 1, tokens })).toBe(true)
    expect(runningCount([message])).toBe(tokens)
    expect(reads()).toBe(1)
  })
})

describe('what a content has at most', () => {
  it('is its bytes, what a message and a medium take included', () => {
    expect(maxTokensOf('häuser')).toBe(7)
    expect(maxTokensOf('\ud83d')).toBe(3)
    expect(maxTokensOf({ ...user('häuser') })).toBe(11)
    expect(maxTokensOf([{ role: 'user', content: [{ type: 'file', mediaType: 'image/png' }] }])).toBe(1_604)
    expect(maxTokensOf([])).toBe(0)
  })

  it('is never less than it has', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(maxTokensOf(text)).toBeGreaterThanOrEqual(rawTokensOfText(text))
      }),
    )
  })
})

describe('the most that a message can have, by how long its texts are', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 })

  it('is never less than it has', () => {
    const block = fc.oneof(
      text.map((written) => ({ type: 'text' as const, text: written })),
      fc.tuple(text, fc.dictionary(text, fc.jsonValue())).map(([name, input]) => ({
        type: 'tool-call' as const,
        id: 'a',
        name,
        arguments: input as Readonly<Record<string, Json>>,
      })),
    )
    fc.assert(
      fc.property(fc.array(block, { maxLength: 3 }), (content) => {
        const message = { role: 'assistant', content } as const
        expect(mostTokensOf(message)).toBeGreaterThanOrEqual(maxTokensOf(message))
      }),
    )
  })
})

describe('whether an estimate is so many tokens or more', () => {
  it('is what the estimate says', () => {
    const messages = fc.array(
      fc.string({ maxLength: 60 }).map((text) => user(text)),
      { maxLength: 6 },
    )
    const factor = fc.double({ min: 0.5, max: 3, noNaN: true })
    fc.assert(
      fc.property(messages, factor, fc.integer({ min: 0, max: 200 }), (some, factor, tokens) => {
        expect(isAtLeast(some, { factor, tokens })).toBe(estimateTokens(some, { factor }) >= tokens)
        const estimate = estimateTokens(some, { factor })
        expect(isAtLeast(some, { factor, tokens: estimate })).toBe(true)
        expect(isAtLeast(LogView.of(some), { factor, tokens: estimate + 1 })).toBe(false)
      }),
    )
  })

  it('is known of a text too', () => {
    expect(isAtLeast('Hello world', { factor: 1.25, tokens: 3 })).toBe(true)
    expect(isAtLeast('Hello world', { factor: 1.25, tokens: 4 })).toBe(false)
  })

  it('is known with nothing counted where there are too few bytes for it', () => {
    const { messages } = conversation(20)
    const bytes = maxTokensOf(messages)
    expect(isAtLeast(messages, { factor: 1, tokens: bytes + 1 })).toBe(false)
    expect(isAtLeast(messages, { factor: 1.25, tokens: Math.ceil(bytes * 1.25) + 1 })).toBe(false)
    expect(countedOf(messages)).toBe(0)
  })

  it('is known as soon as so many are counted, or so few are left', () => {
    const { messages } = conversation(20)
    const firstThree = sumOf(messages.slice(0, 3).map((message) => ({ ...message })))
    expect(isAtLeast(messages, { factor: 1, tokens: firstThree })).toBe(true)
    expect(countedOf(messages)).toBe(3)
    expect(isAtLeast(messages, { factor: 1, tokens: maxTokensOf(messages) - 1 })).toBe(false)
    expect(countedOf(messages)).toBe(4)
  })
})

describe('the running count of a log', () => {
  it('is the sum over its messages, from one to another', () => {
    const { messages } = conversation(200)
    expect(runningCount(messages)).toBe(sumOf(messages))
    for (const [from, to] of [
      [0, 200],
      [0, 150],
      [0, 199],
      [150, 170],
      [150, 200],
      [3, 3],
      [0, 0],
      [0, 900],
      [190, 100],
    ]) {
      expect(runningCount(messages, { from, to })).toBe(sumOf(messages.slice(from, to)))
    }
  })

  it('costs what is new, behind 100 messages and behind 10,000', () => {
    const costs = [100, 1_000, 10_000].map((length) => {
      const { messages, log, looks } = conversation(length)
      runningCount(log)
      looks()
      const { message, reads } = watched('One more.')
      messages.push(message)
      expect(runningCount(log)).toBe(sumOf(messages))
      return { looks: looks(), reads: reads() }
    })
    expect(costs[0]).toEqual({ looks: 3, reads: 1 })
    expect(costs).toEqual([costs[0], costs[0], costs[0]])
  })

  it('costs what lies between, where fewer messages are asked for than the last time', () => {
    const { messages, log, looks } = conversation(1_000)
    runningCount(log)
    looks()
    expect(runningCount(log, { to: 990 })).toBe(sumOf(messages.slice(0, 990)))
    expect(looks()).toBeLessThan(15)
  })

  it('is not taken from a stretch that begins elsewhere', () => {
    const { messages } = conversation(500)
    runningCount(messages)
    expect(runningCount(messages, { from: 300 })).toBe(sumOf(messages.slice(300)))
    messages.push(held(user('One more.')))
    expect(runningCount(messages, { from: 300 })).toBe(sumOf(messages.slice(300)))
    expect(runningCount(messages)).toBe(sumOf(messages))
  })

  it('does not count messages that an undone tick has taken back', () => {
    const { messages } = conversation(100)
    messages.push(held(user('This is never said, and it is a long sentence.')))
    runningCount(messages)
    messages.length = 100
    expect(runningCount(messages)).toBe(sumOf(messages))
    messages.push(held(user('At last.')), held(user('And now?')))
    expect(runningCount(messages)).toBe(sumOf(messages))
  })
})

describe('the count of a request', () => {
  const tool: ToolDeclaration = {
    name: 'read_file',
    description: 'Reads a file.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
    restart: 'pure',
  }
  const ofTool =
    rawTokensOfText('read_file') + rawTokensOfText('Reads a file.') + rawTokensOfText(JSON.stringify(tool.inputSchema))

  it('adds up system prompt, tools, messages, and what stands around these', () => {
    const { messages } = conversation(3)
    const tail = user('# Live state')
    expect(rawTokensOfRequest({ system: '', tools: [], messages: [] })).toBe(0)
    expect(
      rawTokensOfRequest({ system: 'Be kind.', tools: [tool, tool], messages, from: 1, to: 2, others: [tail] }),
    ).toBe(rawTokensOfText('Be kind.') + 2 * ofTool + sumOf(messages.slice(1, 2)) + rawTokens(tail))
  })

  it('counts each registry once, and in another one only the tools that are new', () => {
    let reads = 0
    const watchedTool = Object.freeze({
      ...tool,
      get description() {
        reads++
        return tool.description
      },
    })
    const tools = Object.freeze([watchedTool])
    for (let step = 0; step < 3; step++) expect(rawTokensOfRequest({ system: '', tools, messages: [] })).toBe(ofTool)
    expect(rawTokensOfRequest({ system: '', tools: [watchedTool, held(tool)], messages: [] })).toBe(2 * ofTool)
    expect(reads).toBe(1)
  })
})
