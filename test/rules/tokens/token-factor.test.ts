import { World } from 'entia'
import { TokenFactors } from 'entia/components'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { factorOf, noteCall } from '../../../src/rules/tokens/request-tokens.ts'

type Known = Parameters<typeof factorOf>[1]

/** What is known after calls, in order. */
function noted(...calls: readonly (readonly [promptTokens: number | undefined, rawTokens: number])[]): Known {
  let known: Known
  for (const [promptTokens, rawTokens] of calls) known = noteCall(known, promptTokens, rawTokens) ?? known
  return known
}

describe('the factor of a model', () => {
  it.for([
    'openai/gpt-5.4',
    'gpt-5.4',
    'openai/o1',
    'openai/o3-mini',
    'openai/o4-mini',
    'ollama/gpt-oss:20b',
    'azure/GPT-5',
    'openrouter/openai/gpt-5',
  ])('is 1 for %s before its first call', (model) => {
    expect(factorOf(model, undefined)).toBe(1)
    expect(factorOf(model, { calls: [] })).toBe(1)
  })

  it.for([
    'anthropic/claude-opus-5',
    'gemini/gemini-3-pro',
    'o2',
    'openai/o5',
    'ollama/turbo3',
    'moonshot/kimi-k2.5',
    'gpt/llama3',
  ])('is 1.25 for %s before its first call', (model) => {
    expect(factorOf(model, undefined)).toBe(1.25)
  })

  it('is what its provider counted over what was counted here, the calls taken together', () => {
    expect(factorOf('openai/gpt-5', noted([1_200, 1_000]))).toBe(1.2)
    expect(factorOf('openai/gpt-5', noted([1_000, 1_000], [6_000, 3_000]))).toBe(1.75)
  })

  it('is from 0.5 to 3', () => {
    expect(factorOf('x', noted([100, 1_000]))).toBe(0.5)
    expect(factorOf('x', noted([500, 1_000]))).toBe(0.5)
    expect(factorOf('x', noted([3_000, 1_000]))).toBe(3)
    expect(factorOf('x', noted([9_000, 1_000]))).toBe(3)
  })

  it('forgets all but the 20 newest calls', () => {
    const old = Array.from({ length: 30 }, () => [3_000, 1_000] as const)
    const recent = Array.from({ length: 20 }, () => [1_000, 1_000] as const)
    expect(factorOf('x', noted(...old, ...recent))).toBe(1)
    expect(factorOf('x', noted(...old, ...recent.slice(1)))).toBe(1.1)
    expect(noted(...old, ...recent)?.calls).toHaveLength(20)
  })

  it('does not depend on the order of the calls it is made of', () => {
    const call = fc.tuple(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 500, max: 1_000_000 }))
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 20 }), (calls) => {
        const factor = factorOf('x', noted(...calls))
        expect(factorOf('x', noted(...calls.toReversed()))).toBe(factor)
        expect(factor).toBeGreaterThanOrEqual(0.5)
        expect(factor).toBeLessThanOrEqual(3)
      }),
    )
  })
})

describe('a call of a model', () => {
  it('says nothing when its provider gave no usage, or its request has fewer than 500 tokens', () => {
    const known = noted([2_000, 1_000])
    expect(noteCall(known, undefined, 10_000)).toBeUndefined()
    expect(noteCall(known, 499, 499)).toBeUndefined()
    expect(noteCall(undefined, 499, 499)).toBeUndefined()
    expect(noteCall(undefined, 400, 500)).toEqual({ calls: [[400, 500]] })
  })

  it('stands behind the earlier ones, which stay as they are', () => {
    const known = noted([2_000, 1_000])
    expect(noteCall(known, 1_500, 1_000)).toEqual({
      calls: [
        [2_000, 1_000],
        [1_500, 1_000],
      ],
    })
    expect(known?.calls).toHaveLength(1)
  })

  it('is kept in its world, by the name of its model', () => {
    const world = new World()
    const models = { 'anthropic/claude-opus-5': noteCall(undefined, 1_200, 1_000) ?? { calls: [] } }
    const agent = world.spawn(TokenFactors({ models }))
    const restored = World.restore(world.snapshot(), { components: [TokenFactors] })
    const { 'anthropic/claude-opus-5': known } = restored.read(agent, TokenFactors).models
    expect(factorOf('anthropic/claude-opus-5', known)).toBe(1.2)
    expect(
      factorOf('anthropic/claude-sonnet-5', restored.read(agent, TokenFactors).models['anthropic/claude-sonnet-5']),
    ).toBe(1.25)
  })
})
