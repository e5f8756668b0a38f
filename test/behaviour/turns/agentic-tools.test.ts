import { type AgentOptions, Conversation, fail, scripted, textOf, VirtualClock, type World } from 'entia'
import { Ledger, SubtaskCount } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { behaving, calling, driven, settled, worldWith } from './driving.ts'
import { tool } from './tools.ts'

const readFile = tool('read_file', () => 'BULK '.repeat(1_000))
const grepFiles = tool('grep_files', () => 'a match')
const listFiles = tool('list_files', () => 'a file')
const fetchUrl = tool('fetch_url', () => 'a page')
const all = [readFile, grepFiles, listFiles, fetchUrl]

const asking = (name: string, request = 'Where is it?') => calling({ name, arguments: { request } })

/** An agent that calls a wrapper once, and the subtasks' models beside it. */
function world(options: Partial<AgentOptions> = {}) {
  return worldWith({ model: 'lead/x', tools: all, config: {}, ...options })
}

function toolsOf(requests: readonly { readonly tools: readonly { readonly name: string }[] }[]) {
  return requests[0]?.tools.map(({ name }) => name)
}

/** What the conversation has as results of calls. */
function results(of: World, agent: number): unknown[] {
  const messages = of.read(agent, Conversation).filter(({ role }) => role === 'tool')
  return messages.map((message) => textOf(message))
}

describe('an agentic wrapper', () => {
  it.each([
    ['all', all, ['agentic_read_file', 'agentic_fetch_url', 'agentic_grep', 'agentic_research']],
    ['no fetch_url', [readFile, grepFiles, listFiles], ['agentic_read_file', 'agentic_grep', 'agentic_research']],
    ['no list_files', [readFile, grepFiles], ['agentic_read_file', 'agentic_grep']],
    ['grep_files alone', [grepFiles], []],
  ])('is there for agents that have its inner tools, beside them: %s', async (_, tools, expected) => {
    const { models, requests } = behaving(() => 'Done.')
    const made = worldWith({ tools, config: {} })
    await settled(made.world, { models, tools })
    const names = tools.map(({ declaration }) => declaration.name)
    const declared = toolsOf(requests) ?? []
    expect(declared.filter((name) => names.includes(name))).toEqual(names)
    expect(declared.filter((name) => name.startsWith('agentic_'))).toEqual(expected)
  })

  it.each([{ context: { agentic: { tools: false } } }, undefined])(
    'is not there where %j is configured',
    async (config) => {
      const { models, requests } = behaving(() => 'Done.')
      const made = worldWith({ tools: all, ...(config !== undefined && { config }) })
      await settled(made.world, { models, tools: all })
      expect(toolsOf(requests)?.filter((name) => name.startsWith('agentic_'))).toEqual([])
    },
  )

  it('says when to use it, and that its digest is not to be checked', async () => {
    const { models, requests } = behaving(() => 'Done.')
    const made = worldWith({ tools: all, config: {} })
    await settled(made.world, { models, tools: all })
    const wrappers = requests[0]?.tools.filter(({ name }) => name.startsWith('agentic_')) ?? []
    expect(wrappers).toHaveLength(4)
    for (const { description, inputSchema } of wrappers) {
      for (const words of ['INSTEAD OF', 'NOT IN ADDITION TO', 'authoritative', 'DO NOT re-read', 'narrower request']) {
        expect(description).toContain(words)
      }
      expect(inputSchema).toMatchObject({ properties: { request: { type: 'string' } }, required: ['request'] })
    }
  })

  it('answers with the digest of a subtask, whose bulk the agent never sees', async () => {
    const lead = behaving(asking('agentic_read_file'))
    const inner = behaving(
      ({ messages }) => (messages.length === 1 ? { toolCalls: [{ name: 'read_file' }] } : 'It is in line 7.'),
      { usage: { input: 1_000, output: 100 } },
    )
    const made = world({ config: { context: { agentic: { small_model: 'small/y' } } } })
    const prices = { small: { input: 1, output: 10 } }
    await settled(made.world, {
      models: { lead: lead.models.scripted, small: inner.models.scripted },
      tools: all,
      prices,
    })
    expect(results(made.world, made.agent).map((text) => JSON.parse(text as string) as unknown)).toEqual([
      { digest: 'It is in line 7.', truncated: false, steps_used: 2, cost_usd: 0.004 },
    ])
    expect(JSON.stringify(lead.requests)).not.toContain('BULK')
    expect(inner.requests).toHaveLength(2)
    expect(inner.requests[0]?.model).toBe('y')
    expect(toolsOf(inner.requests)).toEqual(['read_file'])
    expect(inner.requests[0]?.system).toContain('read_file')
    expect([...(inner.requests[0]?.messages ?? [])].map((message) => textOf(message))).toEqual(['Where is it?'])
    expect(made.world.get(made.agent, Ledger)?.models['small/y']).toMatchObject({ calls: 2, input: 2_000, output: 200 })
    expect(made.world.get(made.agent, SubtaskCount)).toMatchObject({ ended: 1, truncated: 0, inputTokens: 2_000 })
  })

  it.each([
    ['agentic_read_file', ['read_file'], 2],
    ['agentic_fetch_url', ['fetch_url'], 2],
    ['agentic_grep', ['read_file', 'grep_files'], 2],
    ['agentic_research', ['read_file', 'grep_files', 'list_files'], 5],
  ])('%s has %j and %i steps', async (name, tools, steps) => {
    const inner = behaving(({ messages, tools: [first] }) => ({
      text: `Step ${messages.length}`,
      toolCalls: [{ name: first?.name ?? '' }],
    }))
    const made = world({ config: { context: { agentic: { small_model: 'small/y' } } } })
    const models = { lead: behaving(asking(name)).models.scripted, small: inner.models.scripted }
    await settled(made.world, { models, tools: all })
    expect(toolsOf(inner.requests)).toEqual(tools)
    expect(results(made.world, made.agent).map((text) => JSON.parse(text as string) as unknown)).toMatchObject([
      { truncated: true, steps_used: steps },
    ])
  })

  it('cuts a digest that is too long', async () => {
    const made = world({ config: { context: { agentic: { small_model: 'small/y', max_digest_chars: 10 } } } })
    const models = { lead: scripted(asking('agentic_grep')), small: scripted(() => '0123456789ab') }
    await settled(made.world, { models, tools: all })
    expect(JSON.parse(results(made.world, made.agent)[0] as string)).toEqual({
      digest: '0123456789\n[digest truncated]',
      truncated: true,
      steps_used: 1,
    })
  })

  it('is refused without a request', async () => {
    const made = world()
    await settled(made.world, { models: { lead: scripted(asking('agentic_grep', ' ')) }, tools: all })
    expect(results(made.world, made.agent)[0]).toContain('Error: Invalid arguments')
    expect(made.world.get(made.agent, SubtaskCount)).toBeUndefined()
  })

  it('says so if its subtask fails', async () => {
    const made = world({ config: { context: { agentic: { small_model: 'small/y' } } } })
    const models = {
      lead: scripted(asking('agentic_grep')),
      small: scripted(() => fail('refused', { message: 'No.' })),
    }
    await settled(made.world, { models, tools: all })
    expect(results(made.world, made.agent)).toEqual(['Error: No.'])
  })

  it('is stopped with the turn of its agent, and what it has spent is counted', async () => {
    const clock = new VirtualClock({ auto: false })
    const hang = tool('read_file', ({ sleep }) => sleep(1e9))
    const made = world({ tools: [hang], config: { context: { agentic: { small_model: 'small/y' } } } })
    const small = behaving(() => ({ toolCalls: [{ name: 'read_file' }] }), { usage: { input: 10, output: 1 } })
    const models = { lead: scripted(asking('agentic_read_file')), small: small.models.scripted }
    const { runner, world: running, next } = driven(made.world, { models, tools: [hang], clock })
    const called = new Promise<void>((resolve) =>
      runner.on('tool-called', ({ tool: name }) => (name === 'read_file' ? resolve() : undefined)),
    )
    const ended = next('turn-ended')
    await runner.start()
    await called
    await runner.cancel(made.agent)
    expect(await ended).toMatchObject({ stop: 'cancelled' })
    await runner.idle()
    expect(results(running, made.agent)).toEqual(['[cancelled by the user]'])
    expect(running.get(made.agent, SubtaskCount)).toMatchObject({ ended: 1, inputTokens: 10, outputTokens: 1 })
    expect(running.get(made.agent, Ledger)?.models['small/y']).toMatchObject({ calls: 1, input: 10 })
  })
})

describe("the model of a wrapper's subtask", () => {
  const answers = (system: string | undefined): boolean => system?.includes('You answer a request') === true

  /** An agent that calls a wrapper in each of so many turns, and the models that were asked to answer. */
  async function asked(options: Partial<AgentOptions>, { refuses = [] as readonly string[], turns = 1 } = {}) {
    const { models, requests } = behaving(({ messages, model, system }) => {
      if (answers(system)) {
        return refuses.includes(model) ? fail('invalid-request', { message: `no model ${model}` }) : `By ${model}.`
      }
      const isAsked = messages.at(-1)?.role === 'user'
      return isAsked ? { toolCalls: [{ name: 'agentic_grep', arguments: { request: 'Where?' } }] } : 'Done.'
    })
    const provider = models.scripted
    const made = worldWith({ tools: all, config: {}, ...options })
    const { runner, told } = driven(made.world, { models: { scripted: provider, anthropic: provider }, tools: all })
    await runner.start()
    await runner.idle()
    for (let turn = 1; turn < turns; turn++) {
      await runner.message(made.agent, 'Once more.')
      await runner.idle()
    }
    const used = requests.filter(({ system }) => answers(system)).map(({ model }) => model)
    return { models: used, told, made }
  }

  it('is the one that was set', async () => {
    const config = { context: { agentic: { small_model: 'scripted/tiny' } } }
    expect((await asked({ model: 'anthropic/claude-opus-5', config })).models).toEqual(['tiny'])
  })

  it("is one of the agent's provider if it was set by its bare name", async () => {
    const config = { context: { agentic: { small_model: 'tiny' } } }
    expect((await asked({ model: 'anthropic/claude-opus-5', config })).models).toEqual(['tiny'])
  })

  it("is else the small one of the agent's provider", async () => {
    expect((await asked({ model: 'anthropic/claude-opus-5' })).models).toEqual(['claude-haiku-4-5'])
    const config = { context: { models_by_tier: { scripted: { small: 'mini' } } } }
    expect((await asked({ config })).models).toEqual(['mini'])
  })

  it("is else the agent's own", async () => {
    expect((await asked({ model: 'scripted/x' })).models).toEqual(['x'])
  })

  it("is the agent's own where the provider does not have the default, which is told once", async () => {
    const { models, told, made } = await asked(
      { model: 'anthropic/claude-opus-5' },
      { refuses: ['claude-haiku-4-5'], turns: 2 },
    )
    expect(models).toEqual(['claude-haiku-4-5', 'claude-opus-5', 'claude-opus-5'])
    expect(told('small-model-unavailable')).toMatchObject([
      { agent: made.agent, model: 'anthropic/claude-haiku-4-5', message: 'no model claude-haiku-4-5' },
    ])
    expect(JSON.parse(results(made.world, made.agent)[0] as string)).toMatchObject({ digest: 'By claude-opus-5.' })
    expect(made.world.get(made.agent, SubtaskCount)).toMatchObject({ ended: 2 })
  })

  it('that was set does not give way', async () => {
    const config = { context: { agentic: { small_model: 'scripted/tiny' } } }
    const { models, made, told } = await asked({ config }, { refuses: ['tiny'] })
    expect(models).toEqual(['tiny'])
    expect(told('small-model-unavailable')).toEqual([])
    expect(results(made.world, made.agent)).toEqual(['Error: no model tiny'])
  })

  it('that was set and whose provider is unknown is an error of the configuration, at the start', async () => {
    const config = { context: { agentic: { small_model: 'nobody/x' } } }
    const { models } = behaving(() => 'Done.')
    const { runner } = driven(worldWith({ tools: all, config }).world, { models, tools: all })
    await expect(runner.start()).rejects.toMatchObject({
      code: 'config-invalid',
      details: { path: 'context.agentic.small_model' },
      message: expect.stringContaining("context.agentic.small_model 'nobody/x', and there is no provider 'nobody'"),
    })
    const off = { context: { agentic: { ...config.context.agentic, tools: false } } }
    await settled(worldWith({ tools: all, config: off }).world, { models, tools: all })
  })
})
