import { describe, expect, it } from 'vitest'
import { agent, ask, Runner, standardSystems, World } from '../../../src/index.ts'
import { defaultLocalModel, ollamaAddress } from '../../../src/runtime/models/local-model.ts'
import { providersOf } from '../../../src/runtime/models/providers-of.ts'
import { startOllama } from '../../servers/ollama-server.ts'

const tags = 'GET /api/tags'

describe('the default local model', () => {
  it('is the first wanted one that is installed, and calls at the same time share one request', async () => {
    const { url, requests } = await startOllama({ models: ['gpt-oss:20b'] })
    const env = { OLLAMA_HOST: url }
    expect(await Promise.all([defaultLocalModel({ env }), defaultLocalModel({ env })])).toEqual([
      'gpt-oss:20b',
      'gpt-oss:20b',
    ])
    expect(requests).toEqual([tags])
  })

  it('is kept for the process once it is found, until somebody asks again', async () => {
    const answers = { models: ['gpt-oss:20b'] }
    const { url, requests } = await startOllama(answers)
    const env = { OLLAMA_HOST: url }
    const clock = { now: () => 0 }
    await defaultLocalModel({ env, clock })
    answers.models = ['gpt-oss:20b', 'gpt-oss:120b']
    clock.now = () => 1e9
    expect(await defaultLocalModel({ env, clock })).toBe('gpt-oss:20b')
    expect(requests).toEqual([tags])
    expect(await defaultLocalModel({ env, clock, refresh: true })).toBe('gpt-oss:120b')
    expect(requests).toEqual([tags, tags])
  })

  it('is looked for again a minute after there was none', async () => {
    const answers = { models: ['other:7b'] }
    const { url, requests } = await startOllama(answers)
    const env = { OLLAMA_HOST: url }
    const clock = { now: () => 0 }
    expect(await defaultLocalModel({ env, clock })).toBeNull()
    answers.models = ['gpt-oss:120b']
    clock.now = () => 59_999
    expect(await defaultLocalModel({ env, clock })).toBeNull()
    expect(requests).toHaveLength(1)
    clock.now = () => 60_000
    expect(await defaultLocalModel({ env, clock })).toBe('gpt-oss:120b')
  })

  it('may be wanted without a tag, which means the latest', async () => {
    const { url } = await startOllama({ models: ['qwen3:latest', 'mistral:7b'] })
    const env = { OLLAMA_HOST: url }
    expect(await defaultLocalModel({ env, localModels: ['mistral', 'qwen3'] })).toBe('qwen3')
  })

  it('is null where no Ollama is, or where it stays silent for 1.5 s', async () => {
    expect(await defaultLocalModel({ env: { OLLAMA_HOST: '127.0.0.1:1' } })).toBeNull()
    expect(await defaultLocalModel({ env: { OLLAMA_HOST: 'no address' } })).toBeNull()
    const { url } = await startOllama({ models: ['gpt-oss:20b'], isSilent: true })
    expect(await defaultLocalModel({ env: { OLLAMA_HOST: url } })).toBeNull()
  })

  it('is null where something else answers', async () => {
    const answers = { models: [] as string[] }
    const { url } = await startOllama(answers)
    // The chat address of the same server answers with events.
    expect(await defaultLocalModel({ env: { OLLAMA_HOST: `${url}/elsewhere` } })).toBeNull()
  })

  it('answers a turn by the provider of the same address', async () => {
    const { url, requests } = await startOllama({ models: ['gpt-oss:20b'] })
    const env = { OLLAMA_HOST: url }
    const world = new World({ systems: standardSystems() })
    const local = world.spawn(...agent({ model: `ollama/${await defaultLocalModel({ env })}` }))
    const runner = new Runner(world, { models: providersOf({}, env) })
    await runner.start()
    expect((await ask(runner, local, 'Where are you?')).text).toBe('Local.')
    expect(requests).toEqual([tags, 'POST /v1/chat/completions'])
    await runner.stop()
  })
})

describe('the address of Ollama', () => {
  it.for([
    [undefined, 'http://127.0.0.1:11434'],
    ['  ', 'http://127.0.0.1:11434'],
    ['gpu.local', 'http://gpu.local:11434'],
    ['gpu.local:8080', 'http://gpu.local:8080'],
    [':8080', 'http://127.0.0.1:8080'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['https://gpu.example/ollama/', 'https://gpu.example/ollama'],
  ] as const)('of %j is %s', ([given, address]) => {
    expect(ollamaAddress({ OLLAMA_HOST: given })).toBe(address)
  })
})
