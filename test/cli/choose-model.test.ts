import { describe, expect, it } from 'vitest'
import { adviceOn, assertKey, chooseModel } from '../../src/cli/choose-model.ts'
import { UsageError } from '../../src/cli/parsed-words.ts'

const bothKeys = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' }

describe('the model of a run', () => {
  it('is the one that is named, whatever keys are set', () => {
    expect(chooseModel('ollama/qwen3', bothKeys)).toBe('ollama/qwen3')
    expect(chooseModel('openai/org/tuned', {})).toBe('openai/org/tuned')
    expect(chooseModel('scripted', bothKeys)).toBe('scripted/reader')
    expect(chooseModel('ollama', bothKeys)).toBe('ollama/gpt-oss:20b')
  })

  it('is the usual one of the provider whose key is set, Anthropic first', () => {
    expect(chooseModel(undefined, bothKeys)).toMatch(/^anthropic\/claude-/)
    expect(chooseModel(undefined, { ...bothKeys, ANTHROPIC_API_KEY: '' })).toMatch(/^openai\/gpt-/)
    expect(chooseModel('openai', bothKeys)).toBe(chooseModel(undefined, { OPENAI_API_KEY: 'b' }))
  })

  it('is a script where no key is set', () => {
    expect(chooseModel(undefined, {})).toBe('scripted/reader')
    expect(chooseModel(undefined, { MOONSHOT_API_KEY: 'c' })).toBe('scripted/reader')
  })

  it.for([
    [
      'acme/big',
      "--model must be PROVIDER/NAME, got the unknown provider 'acme'. Known: anthropic, openai, moonshot, ollama, scripted.",
    ],
    [
      'constructor',
      "--model must be PROVIDER/NAME, got the unknown provider 'constructor'. Known: anthropic, openai, moonshot, ollama, scripted.",
    ],
    ['openai/', '--model openai/ names no model: write openai/NAME.'],
    ['scripted/poet', '--model scripted/poet: the only scripted model is scripted/reader.'],
  ])('cannot be %s', ([name = '', message]) => {
    expect(() => chooseModel(name, {})).toThrow(new UsageError(message))
  })

  it('needs the key of its provider, if that has one', () => {
    const keyless = { code: 'missing-api-key', message: expect.stringContaining('MOONSHOT_API_KEY is not set') }
    expect(() => assertKey('moonshot/kimi', { MOONSHOT_API_KEY: '' })).toThrow(expect.objectContaining(keyless))
    expect(() => assertKey('ollama/qwen3', {})).not.toThrow()
    expect(() => assertKey('scripted/reader', {})).not.toThrow()
  })
})

describe('advice on a failure', () => {
  it('names the variable whose key was refused', () => {
    expect(adviceOn({ kind: 'unauthorized' }, 'openai/x')).toContain('OPENAI_API_KEY')
    expect(adviceOn({ kind: 'unauthorized' }, 'ollama/x')).toBeUndefined()
  })

  it('names the model that may not exist', () => {
    expect(adviceOn({ kind: 'invalid-request' }, 'openai/x')).toContain('openai/x')
  })
})
