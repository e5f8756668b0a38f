import { describe, expect, it } from 'vitest'
import type { AssistantMessage } from '../../src/protocol/message.ts'
import { RefusedParts } from '../../src/models/refused-parts.ts'
import { requestOf, userSays } from '../contracts/model-calls.ts'

const reply: AssistantMessage = {
  role: 'assistant',
  content: [
    { type: 'thinking', provider: 'local', text: 'Hm.' },
    { type: 'tool-call', id: 'a', name: 'add', arguments: {} },
  ],
}
const request = (provider: string, model = 'm') => requestOf([userSays('Go.'), reply], { provider, model })
const refusal = (message: string) => ({ kind: 'invalid-request', message }) as const

describe('what a model refused', () => {
  it('is left out for it alone: for no model of another name, and none of that name elsewhere', () => {
    const refused = new RefusedParts()
    refused.keep(request('one'), ['own'])
    expect(refused.leftOut(request('one'), reply).own).toBe(true)
    expect(refused.leftOut(request('other'), reply).own).toBe(false)
    expect(refused.leftOut(request('one', 'n'), reply).own).toBe(false)
  })

  it('is left out once: the same words again are about something else', () => {
    const refused = new RefusedParts()
    const words = refusal('Invalid `signature` in `thinking` block')
    expect(refused.partOf(request('one'), words)).toBe('own')
    refused.keep(request('one'), ['own'])
    expect(refused.partOf(request('one'), words)).toBeUndefined()
  })

  it('is forgotten once a hundred other models have refused', () => {
    const refused = new RefusedParts()
    for (let model = 0; model < 100; model++) refused.keep(request('one', `m${model}`), ['own'])
    expect(refused.leftOut(request('one', 'm0'), reply).own).toBe(true)
    refused.keep(request('one', 'last'), ['own'])
    expect(refused.leftOut(request('one', 'm0'), reply).own).toBe(false)
    expect(refused.leftOut(request('one', 'last'), reply).own).toBe(true)
  })
})

describe('words of a refusal', () => {
  it.each([
    ['thinking is enabled but reasoning_content is missing in assistant tool call message at index 2', 'noThinking'],
    ['The `reasoning_content` in the thinking mode must be passed back to the API.', 'noThinking'],
    ['The `content[].thinking` in the thinking mode must be passed back to the API.', 'noThinking'],
    ['Missing `reasoning_content` field in the assistant message at message index 2.', 'noThinking'],
    ['Function call is missing a thought_signature in functionCall parts.', 'noSignature'],
    ["function call 'bash' in the 2. content block is missing a `thought_signature`", 'noSignature'],
    ['Corrupted thought signature.', 'own'],
    ["property 'reasoning_content' is unsupported", 'own'],
    ['The model is missing.', undefined],
  ])('say what they are about: %s', (words, part) => {
    expect(new RefusedParts().partOf(request('one'), refusal(words))).toBe(part)
  })
})
