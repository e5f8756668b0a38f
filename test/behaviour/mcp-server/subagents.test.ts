import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scripted, textOf } from '../../../src/index.ts'
import type { ServeOptions } from '../../../src/doors/mcp/index.ts'
import { called, clientOf, project, served } from './served.ts'

const names = ['spawn_subagent', 'query_subagent', 'collect_subagent', 'list_subagents', 'kill_subagent']

/** A model of 1 US$ a thousand tokens of input, which repeats what it is asked. */
function modelAt(tokens: number, prices: object = { 'script/x': { input: 1_000, output: 0 } }): ServeOptions {
  const echo = scripted(({ messages }) => `I was asked: ${JSON.stringify(messages.at(-1)?.content).slice(0, 80)}`, {
    usage: { input: tokens, output: 1 },
  })
  return { model: 'script/x', runtime: { models: { script: echo }, prices: prices as never } }
}

/** A client of a server with this configuration. */
async function clientWith(options: ServeOptions, config: object = {}) {
  const at = await project()
  await mkdir(join(at.home, 'config'))
  await writeFile(join(at.home, 'config/config.json'), JSON.stringify(config))
  const { url } = await served(at, { tools: ['chat'], ...options })
  return clientOf(url, '2026-07-28')
}

describe('subagents', () => {
  it('are no tools of a server, unless they are exposed by an option or the configuration', async () => {
    const listed = async (options: ServeOptions, config?: object) =>
      (await (await clientWith(options, config)).listTools()).tools.map(({ name }) => name)
    expect(await listed({})).toEqual(['chat', 'chat_models'])
    expect(await listed({ exposeSubagents: true })).toEqual(['chat', 'chat_models', ...names])
    expect(await listed({}, { subagents: { exposeOverMcp: true } })).toContain('spawn_subagent')
    const off = { exposeSubagents: false }
    expect(await listed(off, { subagents: { exposeOverMcp: true } })).not.toContain('spawn_subagent')
  })

  it('work on a task, answer a question behind it, and are ended', async () => {
    const client = await clientWith({ ...modelAt(1), exposeSubagents: true })
    const id = await called(client, 'spawn_subagent', { task: 'Count the files.' })
    expect(id).toMatch(/^session-/)
    expect(await called(client, 'collect_subagent', { id, timeoutMs: 5_000 })).toMatch('Count the files.')
    expect(await called(client, 'collect_subagent', { id })).toMatch('has nothing that was not collected')
    expect(await called(client, 'query_subagent', { id: '1', prompt: 'And the folders?' })).toMatch('And the folders?')
    expect(JSON.parse(await called(client, 'list_subagents'))).toMatchObject([
      { id, number: 1, status: 'succeeded', model: 'script/x', usage: { calls: 2 } },
    ])
    expect(await called(client, 'kill_subagent', { id })).toBe('true')
    expect(await called(client, 'kill_subagent', { id: 'nope' })).toBe('false')
  })

  it('stop at the cap, of which what chat spends is a part, and can be listed and ended behind it', async () => {
    // Each call costs 2.50 US$.
    const client = await clientWith({ ...modelAt(2_500), exposeSubagents: true })
    const id = await called(client, 'spawn_subagent', { task: 'First.' })
    await called(client, 'collect_subagent', { id, timeoutMs: 5_000 })
    expect(await called(client, 'chat', { prompt: 'Second?' })).toMatch('Second?')
    const refusal = 'Error: subagent spend 5.00 of 5.00 US$ used; raise subagents.mcpSpendCapUsd'
    expect(await called(client, 'spawn_subagent', { task: 'Third.' })).toBe(refusal)
    expect(await called(client, 'query_subagent', { id, prompt: 'Fourth?' })).toBe(refusal)
    expect(await called(client, 'chat', { prompt: 'Fifth?' })).toBe(refusal)
    expect(await called(client, 'list_subagents')).toMatch(id)
    expect(await called(client, 'kill_subagent', { id })).toBe('true')
  })

  it('that go on and on are ended by what they were granted of the cap', async () => {
    const endless = scripted(
      ({ messages }) => ({ toolCalls: [{ name: 'list_files', arguments: { limit: messages.length } }] }),
      // 0.50 US$ a call.
      { usage: { input: 500, output: 1 } },
    )
    const { model, runtime } = modelAt(500)
    const options = { model, runtime: { ...runtime, models: { script: endless } }, exposeSubagents: true }
    const client = await clientWith({ ...options, tools: ['list_files'] })
    const id = await called(client, 'spawn_subagent', { task: 'Go on.', tools: ['list_files'] })
    expect(await called(client, 'collect_subagent', { id, timeoutMs: 5_000 })).toMatch(/^Error: /)
    const [{ usage }] = JSON.parse(await called(client, 'list_subagents')) as [{ usage: { costNanoUsd: number } }]
    expect(usage.costNanoUsd / 1e9).toBeLessThanOrEqual(2.5)
  })

  it('that go on and on with a question are ended by what is left of the cap', async () => {
    const endless = scripted(
      ({ messages }) => {
        const isAsked = messages.some((each) => each.role === 'user' && textOf(each) === 'Go on.')
        return isAsked ? { toolCalls: [{ name: 'list_files', arguments: { limit: messages.length } }] } : 'Done.'
      },
      { usage: { input: 500, output: 1 } },
    )
    const { model, runtime } = modelAt(500)
    const options = { model, runtime: { ...runtime, models: { script: endless } }, exposeSubagents: true }
    const client = await clientWith({ ...options, tools: ['list_files'] })
    const id = await called(client, 'spawn_subagent', { task: 'Begin.', tools: ['list_files'] })
    expect(await called(client, 'collect_subagent', { id, timeoutMs: 5_000 })).toBe('Done.')
    expect(await called(client, 'query_subagent', { id, prompt: 'Go on.' })).toMatch(/^Error: /)
    const [{ usage }] = JSON.parse(await called(client, 'list_subagents')) as [{ usage: { costNanoUsd: number } }]
    expect(usage.costNanoUsd / 1e9).toBeGreaterThan(1)
    expect(usage.costNanoUsd / 1e9).toBeLessThanOrEqual(5)
  })

  it.each([
    ['of their preset', { preset: 'minimal' }],
    ['that are named', { tools: ['read_file'] }],
    ['of the default preset, which only reads', {}],
  ])('have the tools %s, and no others', async (_, granted) => {
    const writer = scripted(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return textOf(last)
      return { toolCalls: [{ name: 'write_file', arguments: { path: 'a.txt', content: 'x' } }] }
    })
    const { model, runtime } = modelAt(1)
    const options = { model, runtime: { ...runtime, models: { script: writer } }, exposeSubagents: true }
    const client = await clientWith({ ...options, tools: ['file'], allow: ['write_file'] })
    const id = await called(client, 'spawn_subagent', { task: 'Write.', ...granted })
    expect(await called(client, 'collect_subagent', { id, timeoutMs: 5_000 })).toBe(
      'Error: there is no tool named write_file.',
    )
  })

  it('do not begin where the cap is 0', async () => {
    const client = await clientWith({ ...modelAt(1), exposeSubagents: true }, { subagents: { mcpSpendCapUsd: 0 } })
    expect(await called(client, 'spawn_subagent', { task: 'First.' })).toBe(
      'Error: subagent spend 0.00 of 0.00 US$ used; raise subagents.mcpSpendCapUsd',
    )
    expect(await called(client, 'kill_subagent', { id: '1' })).toBe('false')
  })

  it('need a price of their model while there is a cap', async () => {
    const options = { ...modelAt(1, {}), exposeSubagents: true }
    const refusal =
      'Error: the model script/x has no price, and a cap is set. Name another model, or set subagents.mcpSpendCapUsd to null.'
    const capped = await clientWith(options)
    expect(await called(capped, 'spawn_subagent', { task: 'First.' })).toBe(refusal)
    expect(await called(capped, 'chat', { prompt: 'First?' })).toBe(refusal)
    const free = await clientWith(options, { subagents: { mcpSpendCapUsd: null } })
    expect(await called(free, 'chat', { prompt: 'First?' })).toMatch('First?')
  })

  it('say what is missing where the key of a provider is not set', async () => {
    const client = await clientWith({ exposeSubagents: true, model: 'anthropic/claude-sonnet-4-5' })
    expect(await called(client, 'spawn_subagent', { task: 'First.' })).toBe(
      'Error: ANTHROPIC_API_KEY is not set. Set it, or choose another provider.',
    )
  })
})
