import { EntiaError, Llm, SubagentRegistry } from 'entia'
import { describe, expect, it } from 'vitest'
import { rejection } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { call, calls, delegate, stepwise, taskOf, type Team, team, type TeamOptions } from './team.ts'

const researcherAndAnalyst = { researcher: {}, analyst: {} }

/** A team whose lead has delegated like this, and the result of that. */
async function delegated(
  input: Parameters<typeof delegate>[1],
  options: TeamOptions = {},
): Promise<Team & { readonly result: string }> {
  const made = team({ lead: stepwise(calls(delegate('a', input))), ...options })
  await made.run()
  return { ...made, result: made.results()['a'] ?? '' }
}

/** What is told of sessions, and of what sessions lack. */
function newsOf({ events }: Team): string[] {
  return events.map(({ type }) => type).filter((type) => /^(session-|delegation-|warning)/.test(type))
}

describe('a subagent that is not registered', () => {
  it('is unknown: the answer names those that are, by code point, and there is no session and no event', async () => {
    const made = await delegated({ category: 'ghost' }, { subagents: researcherAndAnalyst })
    expect(made.result).toBe("Error: Unknown subagent 'ghost'. Available subagents: analyst, researcher")
    expect(made.sessions()).toEqual([])
    expect(newsOf(made)).toEqual([])
    expect(made.asked('lead')).toHaveLength(2)
  })

  it('is unknown where nobody is registered', async () => {
    const { result } = await delegated({ category: ' ghost ' }, { subagents: {} })
    expect(result).toBe("Error: Unknown subagent 'ghost'. Available subagents: none")
  })

  it.each(['constructor', 'toString', '__proto__'])(
    'is not found among what every object has: %s',
    async (category) => {
      const { result } = await delegated({ category })
      expect(result).toBe(`Error: Unknown subagent '${category}'. Available subagents: researcher`)
    },
  )

  it('is found under __proto__ if a config stands there, over a save as well', async () => {
    const subagents = { researcher: {}, ['__proto__']: { systemPrompt: 'Proto.' } }
    const made = team({ subagents, lead: stepwise(calls(delegate('a', { category: '__proto__' }))) })
    await made.run()
    expect(made.results()).toEqual({ a: 'Done: Look' })
    expect(made.asked('worker')[0]?.request.system).toContain('Proto.')
    expect([...made.world.snapshot()].join('')).toContain(
      '"__proto__":{"model":"worker/x","name":"__proto__","systemPrompt":"Proto."}',
    )
  })

  it.each([7, { name: 'x' }, { name: '__proto__', maxSteps: 0 }])(
    'under __proto__ is refused where its config is wrong: %j',
    (config) => {
      const subagents = { ['__proto__']: config } as unknown as Record<string, never>
      expect(() => SubagentRegistry({ subagents })).toThrow(/'__proto__' is not valid/)
    },
  )

  it('is an invalid argument to a program', async () => {
    const made = team({ subagents: researcherAndAnalyst })
    await made.run()
    const error = await rejection(made.runner.subagents(made.lead).spawn({ category: 'ghost', prompt: 'Look' }))
    expect(error).toBeInstanceOf(EntiaError)
    expect(error).toMatchObject({
      code: 'invalid-argument',
      message: "Unknown subagent 'ghost'. Available subagents: analyst, researcher",
    })
    expect(made.sessions()).toEqual([])
    expect(newsOf(made)).toEqual([])
  })
})

describe('a category', () => {
  it('of blanks is an invalid argument, to a model and to a program', async () => {
    const made = await delegated({ category: '  ' }, { registry: { defaultCategory: 'researcher' } })
    expect(made.result).toMatch(/^Error: Invalid arguments for 'subagent': category: /)
    const spawned = made.runner.subagents(made.lead).spawn({ category: '  ', prompt: 'Look' })
    expect(await rejection(spawned)).toMatchObject({ code: 'invalid-argument' })
    expect(made.sessions()).toEqual([])
    expect(newsOf(made)).toEqual([])
  })

  it('is trimmed before it is looked up', async () => {
    const made = await delegated({ category: ' researcher\n' })
    expect(made.result).toBe('Done: Look')
    expect(made.sessions()).toMatchObject([{ category: 'researcher' }])
  })

  it.each([[{ category: null }], [{}]])('that is left out is the default: %o', async (input) => {
    const made = team({
      subagents: researcherAndAnalyst,
      registry: { defaultCategory: 'analyst' },
      lead: stepwise(calls(call('a', 'subagent', { prompt: 'Look', ...input }))),
    })
    await made.run()
    expect(made.results()).toEqual({ a: 'Done: Look' })
    expect(made.sessions()).toMatchObject([{ category: 'analyst', kind: 'named' }])
  })

  it('that is left out where the default is not registered is a fork', async () => {
    const made = await delegated({ category: null }, { registry: { defaultCategory: 'ghost' } })
    expect(made.sessions()).toMatchObject([{ category: 'fork', kind: 'fork' }])
  })

  it('that is left out is an invalid argument where there is no default and no fork', async () => {
    const made = await delegated({ category: null }, { registry: { fork: { enabled: false } } })
    expect(made.result).toMatch(/^Error: Invalid arguments for 'subagent': category: /)
    const spawned = made.runner.subagents(made.lead).spawn({ prompt: 'Look' })
    expect(await rejection(spawned)).toMatchObject({ code: 'invalid-argument' })
    expect(made.sessions()).toEqual([])
  })
})

describe('a free-form subagent', () => {
  const subagents = { researcher: { systemPrompt: 'Registered.' } }

  it('is unknown while free-form is off', async () => {
    const made = await delegated({ category: 'poet' }, { registry: { freeForm: { enabled: false } } })
    expect(made.result).toBe("Error: Unknown subagent 'poet'. Available subagents: researcher")
    expect(made.sessions()).toEqual([])
  })

  it("runs on its parent's model under the name asked for, which stands in its prompt", async () => {
    const lead = stepwise(calls(delegate('a', { category: 'poet' })))
    const made = team({
      lead: (request, context) => (taskOf(request) === 'Look' ? 'A poem.' : lead(request, context)),
      registry: { freeForm: { enabled: true } },
    })
    await made.run()
    expect(made.results()).toEqual({ a: 'A poem.' })
    expect(made.sessions()).toMatchObject([{ category: 'poet', kind: 'free', model: 'lead/x', status: 'succeeded' }])
    expect(made.asked('lead')[1]?.request.system).toContain('"poet"')
  })

  it('has the template of the registry, with its name for every {name}, literally', async () => {
    const lead = stepwise(calls(delegate('a', { category: "$& and $'" })))
    const made = team({
      lead: (request, context) => (taskOf(request) === 'Look' ? request.system : lead(request, context)),
      registry: { freeForm: { enabled: true, systemPromptTemplate: 'I am {name}, yes {name}: $& ${HOME}.' } },
    })
    await made.run()
    expect(made.results()['a']).toMatch(/^I am \$& and \$', yes \$& and \$': \$& \$\{HOME\}\.\n/)
  })

  it('has the other fields of the registry', async () => {
    const lead = stepwise(calls(delegate('a', { category: 'poet' })))
    const knock = calls(call('k', 'knock'))
    const inheritancePolicy = { inheritSystemPrompt: false, inheritTools: ['knock'] }
    const made = team({
      lead: (request, context) => (taskOf(request) === 'Look' ? knock : lead(request, context)),
      registry: { freeForm: { enabled: true, maxSteps: 2, skills: ['verse'], inheritancePolicy } },
      agent: { system: 'The lead.', tools: [tool('knock', () => 'Who is there?')] },
      runner: { tools: [tool('knock', () => 'Who is there?')], skills: [{ name: 'verse', prompt: 'Rhyme.' }] },
    })
    await made.run()
    expect(made.results()).toEqual({ a: "Error: Subagent 'poet' failed: Step limit reached (2)" })
    const { system = '', tools = [] } = made.asked('lead')[1]?.request ?? {}
    expect(system).toContain('Rhyme.')
    expect(system).not.toContain('The lead.')
    expect(tools.map(({ name }) => name)).toEqual(['knock'])
  })

  it('may be asked for: the tool and the prompt say so', async () => {
    const system = '${_installed_subagents}'
    const on = team({ registry: { freeForm: { enabled: true } }, agent: { system } })
    await on.run()
    expect(on.asked()[0]?.request.system).toBe('- researcher\n- any other name (free-form)')
    expect(categoriesTold(on)).toContain('any other name')
    const off = team({ agent: { system } })
    await off.run()
    expect(off.asked()[0]?.request.system).toBe('- researcher')
    expect(categoriesTold(off)).not.toContain('any other name')
  })

  it('never stands in the place of one that is registered', async () => {
    const made = team({
      subagents,
      registry: { freeForm: { enabled: true, systemPromptTemplate: 'Free: {name}' } },
      lead: stepwise(calls(delegate('a'))),
      worker: ({ system }) => system,
    })
    await made.run()
    expect(made.results()['a']).toMatch(/^Registered\./)
    expect(made.sessions()).toMatchObject([{ category: 'researcher', kind: 'named', model: 'worker/x' }])
  })

  it("is never called 'fork'", async () => {
    const registry = { freeForm: { enabled: true }, fork: { enabled: false } }
    const made = await delegated({ category: 'fork' }, { registry })
    expect(made.result).toBe("Error: Unknown subagent 'fork'. Available subagents: researcher")
    expect(made.sessions()).toEqual([])
  })

  it('needs a parent with a model', async () => {
    const made = team({
      registry: { freeForm: { enabled: true } },
      lead: stepwise(calls(delegate('a', { category: 'poet' }))),
      leadOptions: { latencyMs: 10 },
    })
    made.runner.on('model-called', () => void made.runner.change((world) => world.remove(made.lead, Llm)))
    await made.run()
    expect(made.results()).toEqual({
      a: "Error: Unknown subagent 'poet' cannot be created without a parent model",
    })
    const spawned = made.runner.subagents(made.lead).spawn({ category: 'poet', prompt: 'Look' })
    expect(await rejection(spawned)).toMatchObject({
      code: 'invalid-argument',
      message: "Unknown subagent 'poet' cannot be created without a parent model",
    })
    expect(made.sessions()).toEqual([])
  })
})

/** What the tool `subagent` says of categories. */
function categoriesTold(made: Team): string {
  const declared = made.asked('lead')[0]?.request.tools.find(({ name }) => name === 'subagent')
  return JSON.stringify(declared?.inputSchema)
}
