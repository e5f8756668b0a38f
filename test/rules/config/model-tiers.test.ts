import { modelTier, type Tier } from 'entia/context'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('the tier of a model', () => {
  it.for<[name: string, tier: Tier | undefined]>([
    ['gemini-2.5-pro', 'mid'],
    ['gpt-5.4-mini', 'small'],
    ['claude-opus-5-5', 'frontier'],
    ['qwen3-max', 'frontier'],
    ['kimi-k2.5', 'mid'],
    ['gemini-3.5-flash', 'small'],
    ['claude-haiku-4-5', 'small'],
    ['claude-3-5-sonnet-latest', 'mid'],
    ['claude-fable-1', 'frontier'],
    ['claude-mythos-1', 'frontier'],
    ['claude-2', undefined],
    ['gpt-4o-mini', 'small'],
    ['gpt-4.1-nano', 'small'],
    ['gpt-4.1', 'mid'],
    ['gpt-3.5-turbo', 'small'],
    ['gpt-oss-20b', 'small'],
    ['gpt-oss-120b', 'mid'],
    ['gpt-6-luna', 'small'],
    ['gpt-6-terra', 'mid'],
    ['gpt-6-sol', 'mid'],
    ['gpt-6', 'frontier'],
    ['gpt-5.4', 'frontier'],
    ['o1-mini', 'small'],
    ['o3', 'mid'],
    ['o4-mini', 'small'],
    ['solo1', undefined],
    ['my-o3-mini', undefined],
    ['gemini-1.5-pro', 'mid'],
    ['gemini-3.5-pro', 'frontier'],
    ['gemini-ultra', undefined],
    ['qwen-turbo', 'small'],
    ['qwen3-coder-30b-a3b', 'small'],
    ['qwen3-coder', 'mid'],
    ['qwen3-235b-a22b', 'mid'],
    ['qwen3', undefined],
    ['moonshot-v1-128k', 'small'],
    ['kimi-k3', 'frontier'],
    ['llama3.3', undefined],
    ['', undefined],
  ])('%s is %s', ([name, tier]) => {
    expect(modelTier(name)).toBe(tier)
    expect(modelTier(`provider/${name}`)).toBe(tier)
    expect(modelTier(name.toUpperCase())).toBe(tier)
  })

  it('is not read from the name of the provider', () => {
    expect(modelTier('kimi-k3/llama3.3')).toBeUndefined()
    expect(modelTier('openrouter/anthropic/claude-opus-5')).toBe('frontier')
  })

  it('is what the user says, with or without a provider', () => {
    const overrides = { llama: 'small' } as const
    expect(modelTier('llama3.3', overrides)).toBe('small')
    expect(modelTier('ollama/llama3.3', overrides)).toBe('small')
    expect(modelTier('ollama/mistral', overrides)).toBeUndefined()
    expect(modelTier('claude-opus-5', { Opus: 'mid' })).toBe('mid')
  })

  it('is that of the longest part, and then of the first by name, in whatever order they stand', () => {
    expect(modelTier('llama3.3', { llama: 'small', 'llama3.3': 'frontier', llama3: 'mid' })).toBe('frontier')
    expect(modelTier('abcd', { cd: 'small', ab: 'mid' })).toBe('mid')
    expect(modelTier('abcd', { ab: 'mid', cd: 'small' })).toBe('mid')
  })

  it('may hang on how the name begins', () => {
    expect(modelTier('x/llama3', { '^llama': 'small' })).toBe('small')
    expect(modelTier('x/my-llama3', { '^llama': 'small' })).toBeUndefined()
  })

  it('is found for any name and under any overrides, without an error', () => {
    const overrides = fc.dictionary(fc.string(), fc.constantFrom<Tier>('frontier', 'mid', 'small'))
    fc.assert(
      fc.property(fc.string(), overrides, (name, table) => {
        expect(['frontier', 'mid', 'small', undefined]).toContain(modelTier(name, table))
      }),
    )
  })
})
