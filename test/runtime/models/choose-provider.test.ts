import { describe, expect, it } from 'vitest'
import { agent, ask, Runner, standardSystems, World } from '../../../src/index.ts'
import { chooseProvider } from '../../../src/runtime/models/choose-provider.ts'
import type { ProviderConfig } from '../../../src/runtime/models/known-providers.ts'
import { providersOf } from '../../../src/runtime/models/providers-of.ts'
import { startAnthropicServer } from '../../servers/anthropic-server.ts'
import { startChatServer } from '../../servers/chat-server.ts'
import { startResponsesServer } from '../../servers/responses-server.ts'

const keys = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b', MOONSHOT_API_KEY: 'c' }

describe('the provider of a chat session', () => {
  it('is the one that is named, else that of the configuration, else anthropic', () => {
    const config = { provider: 'ollama' }
    expect(chooseProvider({ provider: 'moonshot', config, env: keys })).toEqual({
      ...{ provider: 'moonshot', model: 'kimi-k3' },
      keyVariable: 'MOONSHOT_API_KEY',
    })
    expect(chooseProvider({ config, env: {} })).toEqual({ provider: 'ollama', model: 'gpt-oss:20b' })
    expect(chooseProvider({ env: keys })).toMatchObject({ provider: 'anthropic', model: 'claude-sonnet-5-5' })
  })

  it('may be named with the model', () => {
    expect(chooseProvider({ model: 'openai/gpt-6-luna', env: keys })).toMatchObject({
      ...{ provider: 'openai', model: 'gpt-6-luna' },
    })
    expect(chooseProvider({ config: { model: 'ollama/qwen3' }, env: {} })).toEqual({
      ...{ provider: 'ollama', model: 'qwen3' },
    })
    expect(chooseProvider({ config: { model: 'openai' }, env: keys })).toMatchObject({ provider: 'openai' })
  })

  it('is not read from a model whose first part is no provider', () => {
    expect(chooseProvider({ provider: 'ollama', model: 'hf.co/org/model', env: {} })).toEqual({
      ...{ provider: 'ollama', model: 'hf.co/org/model' },
    })
  })

  it('must not contradict the model', () => {
    const conflict = { code: 'conflicting-provider' }
    const message =
      "The model 'anthropic/x' is one of anthropic, and the provider is 'openai'. Name one of the two only."
    const names = { provider: 'openai', model: 'anthropic/x' }
    expect(() => chooseProvider({ ...names, env: keys })).toThrow(expect.objectContaining({ ...conflict, message }))
    expect(() => chooseProvider({ config: names, env: keys })).toThrow(expect.objectContaining(conflict))
    // What is named counts over the configuration, and contradicts nothing.
    expect(chooseProvider({ model: 'openai/x', config: { provider: 'ollama' }, env: keys }).provider).toBe('openai')
  })

  it('does not get the model that a configuration has for another one', () => {
    const config = { provider: 'openai', model: 'gpt-6-luna' }
    expect(chooseProvider({ provider: 'ollama', config, env: {} }).model).toBe('gpt-oss:20b')
    expect(chooseProvider({ provider: 'openai', config, env: keys }).model).toBe('gpt-6-luna')
  })

  it('that is not known is refused with the nearest name', () => {
    const message =
      "There is no model provider 'olama'. Did you mean 'ollama'? Known: anthropic, openai, moonshot, ollama."
    expect(() => chooseProvider({ provider: 'olama', env: keys })).toThrow(
      expect.objectContaining({ code: 'unknown-provider', message }),
    )
    expect(() => chooseProvider({ provider: 'constructor', env: keys })).toThrow(/no model provider 'constructor'/)
  })
})

describe('the key of a provider', () => {
  it.for([[{}], [{ ANTHROPIC_API_KEY: '' }], [{ ANTHROPIC_API_KEY: '  ' }]])('is missing in %j', ([env]) => {
    const message = 'ANTHROPIC_API_KEY is not set. Set it, or choose another provider.'
    expect(() => chooseProvider({ env })).toThrow(expect.objectContaining({ code: 'missing-api-key', message }))
    expect(chooseProvider({ env, validateApiKey: false }).provider).toBe('anthropic')
  })

  it('is that of the configured variable, and none where the configuration names none', () => {
    const server = { api: 'openai-chat', baseUrl: 'http://127.0.0.1:1/v1', defaultModel: 'm' } as const
    const config = { provider: 'mine', providers: { mine: { ...server, apiKeyEnv: 'MY_KEY' } } }
    expect(() => chooseProvider({ config, env: {} })).toThrow(/^MY_KEY is not set\./)
    expect(chooseProvider({ config, env: { MY_KEY: 'k' } })).toEqual({
      ...{ provider: 'mine', model: 'm', keyVariable: 'MY_KEY' },
    })
    expect(chooseProvider({ config: { ...config, providers: { mine: server } }, env: {} })).toEqual({
      ...{ provider: 'mine', model: 'm' },
    })
  })
})

describe('a provider of the configuration', () => {
  const servers = [
    ['openai-chat', startChatServer],
    ['openai-responses', startResponsesServer],
    ['anthropic', startAnthropicServer],
  ] as const

  it.for(servers)('speaks %s with its own server', async ([api, start]) => {
    const server = await start(() => ({ text: 'Here.' }))
    const text = async (apiKeyEnv: string | undefined, env: Record<string, string>): Promise<string> => {
      const mine: ProviderConfig = { api, baseUrl: server.url, apiKeyEnv, defaultModel: 'm' }
      const world = new World({ systems: standardSystems() })
      const asked = world.spawn(...agent({ model: 'mine/m' }))
      const runner = new Runner(world, { models: providersOf({ providers: { mine } }, env) })
      await runner.start()
      const { text: answer } = await ask(runner, asked, 'Where are you?')
      await runner.stop()
      return answer
    }
    expect(await text('MY_KEY', { ...keys, MY_KEY: 'key-of-mine' })).toBe('Here.')
    expect(server.requests[0]?.headers.authorization).toBe('Bearer key-of-mine')
    // The keys of other providers never go there.
    expect(await text(undefined, keys)).toBe('Here.')
    expect([undefined, 'Bearer none']).toContain(server.requests[1]?.headers.authorization)
    await server.close()
  })

  it('gets its key from the given environment, as those that come with the package do', () => {
    expect(Object.keys(providersOf({}, {}))).toEqual([])
    expect(Object.keys(providersOf({}, { ...keys, OPENAI_API_KEY: ' ' }))).toEqual(['anthropic', 'moonshot'])
  })
})
