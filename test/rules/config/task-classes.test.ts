import { EntiaError } from 'entia'
import { modelOfTier, readConfig, type TaskClass, taskClasses, taskDefaults } from 'entia/context'
import { describe, expect, it } from 'vitest'

describe('a task class', () => {
  it.for<[TaskClass, Record<string, unknown>]>([
    ['debug', { tier: 'frontier', threshold: 0.65, askMode: 'auto', model: 'claude-opus-4-7' }],
    ['implement', { tier: 'frontier', threshold: 0.7, askMode: 'auto', model: 'claude-opus-4-7' }],
    ['chat', { tier: 'mid', threshold: 0.85, askMode: 'auto', model: 'claude-sonnet-4-6' }],
    ['research', { tier: 'mid', threshold: 0.65, askMode: 'allow', model: 'claude-sonnet-4-6', approvalMode: 'allow' }],
    ['review', { tier: 'frontier', threshold: 0.75, askMode: 'auto', model: 'claude-opus-4-7' }],
  ])('called %s stands for its bundle', ([taskClass, bundle]) => {
    expect(taskDefaults({ taskClass, provider: 'anthropic' })).toEqual(bundle)
  })

  it('gives way to a model and an approval mode that the user set, and keeps its threshold', () => {
    const config = { model: 'claude-opus-4-7', approvalMode: 'ask' } as const
    expect(taskDefaults({ taskClass: 'research', provider: 'anthropic', config })).toMatchObject({
      model: 'claude-opus-4-7',
      approvalMode: 'ask',
      threshold: 0.65,
    })
  })

  it('gives way to a threshold that the user set', () => {
    expect(taskDefaults({ taskClass: 'chat', provider: 'anthropic', config: { threshold: 0.4 } }).threshold).toBe(0.4)
  })

  it('names the model of each provider that has one, and none for any other', () => {
    const modelFor = (provider: string) => taskDefaults({ taskClass: 'chat', provider }).model
    expect(['gemini', 'vertex'].map(modelFor)).toEqual(['gemini-2.5-pro', 'gemini-2.5-pro'])
    expect(['openai', 'ollama', 'constructor', '__proto__', ''].filter((name) => modelFor(name) !== undefined)).toEqual(
      [],
    )
  })

  it('names the model that the user gave its tier', () => {
    const { modelsByTier } = readConfig({ context: { models_by_tier: { openai: { mid: 'gpt-6-sol' } } } }).context
    const config = { modelsByTier }
    expect(taskDefaults({ taskClass: 'chat', provider: 'openai', config }).model).toBe('gpt-6-sol')
    expect(taskDefaults({ taskClass: 'debug', provider: 'openai', config })).not.toHaveProperty('model')
    expect(taskDefaults({ taskClass: 'chat', provider: 'anthropic', config }).model).toBe('claude-sonnet-4-6')
  })

  it('that does not exist is refused, and the five are named', () => {
    const ask = () => taskDefaults({ taskClass: 'toString' as TaskClass, provider: 'anthropic' })
    expect(ask).toThrow(EntiaError)
    expect(ask).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        message: expect.stringContaining('debug, implement, chat, research, review'),
      }),
    )
    expect(taskClasses).toHaveLength(5)
  })
})

describe('the model of a tier', () => {
  it("is the user's, each tier by itself, and else the built-in one", () => {
    const models = { anthropic: { small: 'claude-haiku-5' } }
    expect(modelOfTier('anthropic', 'small', models)).toBe('claude-haiku-5')
    expect(modelOfTier('anthropic', 'mid', models)).toBe('claude-sonnet-4-6')
    expect(modelOfTier('gemini', 'small')).toBe('gemini-2.5-flash')
    expect(modelOfTier('openai', 'small')).toBe('gpt-6-luna')
    expect(['openai', 'ollama'].map((provider) => modelOfTier(provider, 'frontier'))).toEqual([undefined, undefined])
  })
})
