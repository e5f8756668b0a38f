import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/models/anthropic.ts'
import { parseModel } from '../../src/protocol/model-name.ts'
import { openai, openaiCompatible } from '../../src/models/openai.ts'
import type { ModelProvider } from '../../src/models/port.ts'
import { builtInProviders } from '../../src/models/providers.ts'

const run = promisify(execFile)

describe('the built-in providers', () => {
  it('are the four that the documentation names', () => {
    expect(Object.keys(builtInProviders())).toEqual(['anthropic', 'openai', 'ollama', 'moonshot'])
  })

  it('load no SDK until one of them is called', async () => {
    const program = `
      import { registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ resolve: (name, context, next) => (loaded.push(name), next(name, context)) })
      const { builtInProviders } = await import(process.argv[1])
      const { anthropic } = builtInProviders()
      const sdks = () => loaded.filter((name) => /^(@anthropic-ai|openai)/.test(name)).join()
      const before = sdks()
      process.env.ANTHROPIC_API_KEY = 'key'
      await anthropic.models().catch(() => {})
      console.log(JSON.stringify({ before, after: sdks() }))
    `
    const module = new URL('../../src/models/providers.ts', import.meta.url).href
    const env = { ...process.env, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program, module], { env })
    const { before, after } = JSON.parse(stdout)
    expect(before).toBe('')
    expect(after).toContain('@anthropic-ai/sdk')
    expect(after).not.toContain('openai')
  })
})

describe('the settings of a provider', () => {
  const baseURL = 'http://127.0.0.1:1'

  it.each<[string, ModelProvider, ModelProvider['settings']]>([
    [
      'the headers by which the API of Claude is changed',
      anthropic({ headers: { 'Anthropic-Beta': 'x', via: 'y' } }),
      { 'anthropic-beta': 'x' },
    ],
    ['the name by which thinking is told apart', openai({ name: 'proxy', apiKey: 'k', baseURL }), { name: 'proxy' }],
    [
      'the field of thinking',
      openaiCompatible({ name: 'vllm', baseURL }),
      { name: 'vllm', thinkingField: 'reasoning_content' },
    ],
    [
      'the field that was chosen',
      openaiCompatible({ name: 'v', baseURL, thinkingField: 'reasoning' }),
      { name: 'v', thinkingField: 'reasoning' },
    ],
  ])('are %s', (_, { settings }, expected) => {
    expect(settings).toEqual(expected)
  })

  it('are none where its options say only where and as whom to call', () => {
    const all = [
      ...Object.values(builtInProviders()),
      anthropic({ apiKey: 'k', baseURL }),
      openai({ apiKey: 'k', baseURL }),
    ]
    expect(all.map(({ settings }) => settings)).toEqual(all.map(() => undefined))
  })
})

describe('the name of a model', () => {
  it.each([
    ['anthropic/claude-sonnet-5', 'anthropic', 'claude-sonnet-5'],
    ['local/org/model', 'local', 'org/model'],
    ['lead', 'lead', 'lead'],
  ])('%s is split at its first slash', (name, provider, model) => {
    expect(parseModel(name)).toEqual({ provider, model })
  })
})
