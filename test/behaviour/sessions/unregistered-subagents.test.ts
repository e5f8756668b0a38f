import { SubagentRegistry } from 'entia'
import { describe, expect, it } from 'vitest'
import { tool } from '../turns/tools.ts'
import { call, calls, delegate, provider, stepwise, taskOf, team, type TeamOptions } from './team.ts'

const knock = tool('knock', () => 'Who is there?')
const system = '${_installed_subagents}'
const systems = { allowUnregisteredSubagents: true }
const six = ['subagent', 'subagent_status', 'subagent_result', 'subagent_cancel', 'subagent_wait', 'subagent_resume']

/** A lead that asks a poet, in a world that allows unregistered subagents. */
function asking(options: TeamOptions) {
  const lead = stepwise(calls(delegate('a', { category: 'poet' })))
  return team({
    systems,
    lead: (request, context) => (taskOf(request) === 'Look' ? 'A poem.' : lead(request, context)),
    runner: { tools: [knock] },
    ...options,
  })
}

describe('an agent of a world that allows unregistered subagents', () => {
  it('may delegate to any name if it has tools, from its first prompt on', async () => {
    const made = asking({ registry: false, agent: { tools: [knock], system } })
    await made.run()
    const [first] = made.asked('lead')
    expect(first?.request.tools.map(({ name }) => name)).toEqual(['knock', ...six])
    expect(first?.request.system).toBe('- any other name (free-form)')
    expect(made.results()).toEqual({ a: 'A poem.' })
    expect(made.sessions()).toMatchObject([{ category: 'poet', kind: 'free', status: 'succeeded' }])
  })

  it('may do so beside those that it has registered', async () => {
    const made = asking({ agent: { tools: [knock], system } })
    await made.run()
    expect(made.asked('lead')[0]?.request.system).toBe('- researcher\n- any other name (free-form)')
    expect(made.results()).toEqual({ a: 'A poem.' })
    expect(made.world.read(made.lead, SubagentRegistry).subagents).toHaveProperty('researcher')
  })

  it('may not if it has no tools', async () => {
    const made = asking({ registry: false, agent: { system } })
    await made.run()
    expect(made.asked('lead')[0]?.request.tools).toEqual([])
    expect(made.asked('lead')[0]?.request.system).toBe('- none')
    expect(made.world.has(made.lead, SubagentRegistry)).toBe(false)
  })

  it('gets nothing of the kind where the option is off', async () => {
    const made = asking({ systems: {}, registry: false, agent: { tools: [knock], system } })
    await made.run()
    expect(made.results()).toEqual({ a: 'Error: there is no tool named subagent.' })
  })
})

describe('a subagent in a world that allows unregistered subagents', () => {
  it('cannot delegate unless it has inherited that', async () => {
    const subagents = { researcher: { tools: ['knock'] } }
    const lead = stepwise(calls(delegate('a')))
    const worker = stepwise(calls(call('b', 'subagent', { category: 'poet', prompt: 'Rhyme' })), ({ tools }) =>
      tools.map(({ name }) => name).join(),
    )
    const made = team({ systems, subagents, lead, worker, runner: { tools: [knock] } })
    await made.run()
    expect(made.results()).toEqual({ a: 'knock' })
    expect(made.told('session-queued')).toHaveLength(1)
  })

  it('delegates to any name if it has inherited that', async () => {
    const subagents = { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } } }
    const worker = stepwise(calls(call('b', 'subagent', { category: 'poet', prompt: 'Rhyme' })), 'Asked.')
    const poet = provider('worker', (request, context) =>
      taskOf(request) === 'Rhyme' ? 'A poem.' : worker(request, context),
    )
    const made = team({
      systems,
      subagents,
      lead: stepwise(calls(delegate('a'))),
      agent: { tools: [knock] },
      runner: { tools: [knock], models: { worker: poet } },
    })
    await made.run()
    expect(made.results()).toEqual({ a: 'Asked.' })
    expect(made.told('delegation-completed')).toMatchObject([
      { category: 'poet', success: true, depth: 2 },
      { category: 'researcher', success: true, depth: 1 },
    ])
  })
})
