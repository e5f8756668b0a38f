import { smallTierNotice, smallTierParentCheck } from 'entia/context'
import { describe, expect, it } from 'vitest'

const session = {
  model: 'claude-haiku-4-5',
  mode: 'warn',
  oneShot: false,
  yolo: false,
  interactive: true,
} as const

describe('an interactive session', () => {
  it('of a small model is warned about, or refused', () => {
    expect(smallTierParentCheck(session)).toBe('warn')
    expect(smallTierParentCheck({ ...session, mode: 'refuse' })).toBe('refuse')
    expect(smallTierParentCheck({ ...session, model: 'anthropic/claude-haiku-4-5' })).toBe('warn')
  })

  it.for([
    [{ mode: 'allow' }],
    [{ oneShot: true }],
    [{ yolo: true }],
    [{ interactive: false }],
    [{ model: 'llama3.3' }],
    [{ model: 'claude-sonnet-4-6' }],
    [{ model: 'claude-opus-4-7' }],
    [{ tiers: { haiku: 'mid' } }],
  ] as const)('is left alone: %j', ([exception]) => {
    for (const mode of ['warn', 'refuse'] as const) {
      expect(smallTierParentCheck({ ...session, mode, ...exception })).toBe('none')
    }
  })

  it('of a model that the user calls small is warned about', () => {
    expect(smallTierParentCheck({ ...session, model: 'ollama/llama3.3', tiers: { llama: 'small' } })).toBe('warn')
  })
})

describe('the notice about a small model', () => {
  it('names the model, what to do with it, what to use instead, and how to silence it', () => {
    const notice = smallTierNotice('anthropic/claude-haiku-4-5')
    expect(notice).toMatch(/^entia: small-tier parent: anthropic\/claude-haiku-4-5$/m)
    expect(notice).toContain('--agentic-small-model')
    expect(notice).toContain('claude-opus-4-7')
    expect(notice).toContain('--small-tier-parent=allow silences')
    expect(smallTierNotice('claude-haiku-4-5', { provider: 'anthropic' })).toContain('claude-opus-4-7')
  })

  it("suggests the user's frontier model of the provider, and none where none is known", () => {
    const modelsByTier = { ollama: { frontier: 'qwen3-max' } }
    expect(smallTierNotice('ollama/llama3.3', { modelsByTier })).toContain('use qwen3-max for the session')
    expect(smallTierNotice('openai/gpt-5.4-mini')).not.toContain('use ')
  })
})
