import { describe, expect, it } from 'vitest'
import { failureText } from '../../../src/cli/chat/model-advice.ts'

describe('a failed turn of a chat', () => {
  it.for([
    [
      { kind: 'unauthorized', message: 'anthropic failed: invalid x-api-key' },
      'anthropic/large',
      'unauthorized: anthropic failed: invalid x-api-key. Check ANTHROPIC_API_KEY and the account behind it.',
    ],
    [
      { kind: 'overloaded', message: 'ollama could not be reached: connect ECONNREFUSED' },
      'ollama/gpt-oss:20b',
      'ollama could not be reached: connect ECONNREFUSED. Start Ollama, or name where it runs by OLLAMA_HOST.',
    ],
    [
      { kind: 'overloaded', message: 'anthropic could not be reached: connect ECONNREFUSED' },
      'anthropic/large',
      'anthropic could not be reached: connect ECONNREFUSED. Look at the network, a proxy and the address of the provider (its base URL).',
    ],
    [
      { kind: 'overloaded', message: 'anthropic failed: Overloaded' },
      'anthropic/large',
      expect.stringMatching(/^overloaded: anthropic failed: Overloaded\./) as string,
    ],
    [
      { kind: 'budget-spent', message: 'The ceiling is reached.' },
      'anthropic/large',
      'budget-spent: The ceiling is reached. Raise the ceiling: ceilings in config.json, or /resume-after-cost-ceiling USD in a chat.',
    ],
    [
      { kind: 'watchdog', message: 'bash was called 5 times with the same arguments.' },
      'anthropic/large',
      'watchdog: bash was called 5 times with the same arguments. In a chat, /resume-after-watchdog lets it go on; say what to do differently.',
    ],
  ] as const)('is told in whole sentences, with what its user can do: %j', ([failure, model, text]) => {
    expect(failureText(failure, model)).toEqual(text)
  })
})
