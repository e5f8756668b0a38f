import { declare, type ModelRequest, Permissions, SubagentRegistry, type Tool } from 'entia'
import { ToolRegistry } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { tool } from '../turns/tools.ts'
import {
  type Behaviour,
  call,
  calls,
  delegate,
  resultsIn,
  stepwise,
  type Team,
  team,
  type TeamOptions,
} from './team.ts'

type Policy = NonNullable<NonNullable<TeamOptions['subagents']>[string]['inheritancePolicy']>

const [search, read, write, calculate] = ['search', 'read', 'write', 'calculate'].map((name) => tool(name, () => name))
const four = [search, read, write, calculate] as Tool[]

/** A team whose lead has these four tools and asks a researcher under this policy. */
async function inheriting(inheritancePolicy: Policy, options: TeamOptions & { readonly own?: string[] } = {}) {
  const { own = [], ...rest } = options
  const made = team({
    subagents: { researcher: { inheritancePolicy, tools: own } },
    lead: stepwise(calls(delegate('a'))),
    agent: { tools: four },
    runner: { tools: four },
    ...rest,
  })
  await made.run()
  return made
}

/** The tools that the researcher was first told of. */
function toolsOf(made: Team, provider = 'worker'): string[] {
  return namesIn(made.asked(provider)[0]?.request)
}

function namesIn(request: ModelRequest | undefined): string[] {
  return (request?.tools ?? []).map(({ name }) => name).toSorted()
}

function warningsOf(made: Team): string[] {
  return made.told('warning').map(({ message }) => message)
}

describe('the inherited tools of a subagent', () => {
  it('are those that its policy lists, and no others', async () => {
    expect(toolsOf(await inheriting({ inheritTools: ['search', 'read'] }))).toEqual(['read', 'search'])
  })

  it('are none if it lists none', async () => {
    expect(toolsOf(await inheriting({}))).toEqual([])
  })

  it('stand beside its own and can be called like them', async () => {
    const worker = stepwise(calls(call('x', 'search'), call('y', 'write')), ({ messages }) =>
      JSON.stringify(resultsIn(messages)),
    )
    const made = await inheriting({ inheritTools: ['search'] }, { own: ['write'], worker })
    expect(toolsOf(made)).toEqual(['search', 'write'])
    expect(made.results()).toEqual({ a: '{"x":"search","y":"write"}' })
  })

  it('leave out one that the parent lacks, with a warning, under whatever policy for conflicts', async () => {
    for (const toolConflictPolicy of ['skip', 'override', 'error'] as const) {
      const made = await inheriting({ inheritTools: ['lathe', 'read'], toolConflictPolicy })
      expect(toolsOf(made)).toEqual(['read'])
      expect(warningsOf(made)).toEqual([expect.stringContaining("'lathe'")])
    }
  })

  it('are copies, as its registry is: what the parent loses later, the subagent still has', async () => {
    const made: Team = team({
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['search', 'subagent'] } } },
      agent: { tools: four },
      runner: { tools: four },
      lead: stepwise(calls(delegate('a'))),
      worker: stepwise(
        async () => {
          await made.runner.change((world) => {
            world.set(made.lead, ToolRegistry, { tools: [] })
            world.set(made.lead, SubagentRegistry, { subagents: {} })
          })
          return calls(call('x', 'search'), call('y', 'subagent', { category: 'ghost', prompt: 'Boo' }))
        },
        ({ messages }) => JSON.stringify(resultsIn(messages)),
      ),
    })
    await made.run()
    const unknown = "Error: Unknown subagent 'ghost'. Available subagents: researcher"
    expect(JSON.parse(made.results()['a'] ?? '')).toEqual({ x: 'search', y: unknown })
    const [first, second] = made.asked('worker')
    expect(namesIn(first?.request)).toHaveLength(7)
    expect(second?.request.tools).toEqual(first?.request.tools)
  })
})

describe('two different tools under one name', () => {
  const ofParent = declare(tool('search', () => '', { description: "The parent's." }))
  const both = { own: ['search'], parts: [ToolRegistry({ tools: ofParent })], agent: {} }
  const descriptionOf = (made: Team) => made.asked('worker')[0]?.request.tools[0]?.description

  it('leave the subagent its own under skip, which is the default', async () => {
    for (const policy of [{}, { toolConflictPolicy: 'skip' as const }]) {
      const made = await inheriting({ inheritTools: ['search'], ...policy }, both)
      expect(toolsOf(made)).toEqual(['search'])
      expect(descriptionOf(made)).toBe('Does search.')
    }
  })

  it("give it the parent's under override", async () => {
    const made = await inheriting({ inheritTools: ['search'], toolConflictPolicy: 'override' }, both)
    expect(toolsOf(made)).toEqual(['search'])
    expect(descriptionOf(made)).toBe("The parent's.")
  })

  it('are refused under error, and there is no session', async () => {
    const made = await inheriting({ inheritTools: ['search'], toolConflictPolicy: 'error' }, both)
    expect(made.results()).toEqual({ a: "Error: Tool inheritance conflict for 'search'" })
    expect(made.sessions()).toEqual([])
    expect(made.told('session-queued')).toEqual([])
    expect(made.asked('worker')).toEqual([])
    const spawned = made.runner.subagents(made.lead).spawn({ category: 'researcher', prompt: 'Look' })
    await expect(spawned).rejects.toMatchObject({ code: 'tool-conflict' })
  })

  it('are none where both sides have the same tool, under error as well', async () => {
    const made = await inheriting(
      { inheritTools: ['search', 'read'], toolConflictPolicy: 'error' },
      { own: ['search'] },
    )
    expect(made.results()).toEqual({ a: 'Done: Look' })
    expect(toolsOf(made)).toEqual(['read', 'search'])
  })

  it('are no matter unless the policy lists that name', async () => {
    const made = await inheriting({ toolConflictPolicy: 'error' }, both)
    expect(descriptionOf(made)).toBe('Does search.')
  })
})

describe('the inherited permissions of a subagent', () => {
  const ran: string[] = []
  const bash = tool('bash', () => void ran.push('bash'))
  const tools = [bash, tool('read', () => 'read')]
  const tries = calls(call('x', 'bash'), call('y', 'read'))
  const tell: Behaviour = ({ messages }) => JSON.stringify(resultsIn(messages))

  /** A lead with these permissions delegates; `later` happens to it while the researcher thinks. */
  async function permitting(
    permissions: Parameters<typeof Permissions>[0],
    inheritancePolicy: Policy,
    later: (made: Team) => Promise<void> = async () => undefined,
  ): Promise<unknown> {
    ran.length = 0
    const made: Team = team({
      subagents: { researcher: { inheritancePolicy, tools: ['bash', 'read'] } },
      lead: stepwise(calls(delegate('a'))),
      worker: stepwise(() => later(made).then(() => tries), tell),
      parts: [Permissions(permissions)],
      runner: { tools },
    })
    await made.run()
    return JSON.parse(made.results()['a'] ?? '') as unknown
  }

  const refused = { x: "Error: tool 'bash' is not permitted.", y: 'read' }

  it('deny it what is denied to its parent, and the handler never runs', async () => {
    expect(await permitting({ denied: ['bash'] }, { inheritPermissions: true })).toEqual(refused)
    expect(ran).toEqual([])
  })

  it('deny it what its parent is not allowed', async () => {
    expect(await permitting({ allowed: ['subagent', 'read'] }, { inheritPermissions: true })).toEqual(refused)
    expect(ran).toEqual([])
  })

  it('stay as they were, however those of its parent change', async () => {
    const later = (made: Team) => made.runner.change((world) => world.set(made.lead, Permissions, { denied: ['read'] }))
    expect(await permitting({ denied: ['bash'] }, { inheritPermissions: true }, later)).toEqual(refused)
    expect(ran).toEqual([])
  })

  it('are none unless the policy says so', async () => {
    for (const policy of [{}, { enabled: false, inheritPermissions: true }]) {
      expect(await permitting({ denied: ['bash'] }, policy)).toEqual({ x: '[no output]', y: 'read' })
      expect(ran).toEqual(['bash'])
    }
  })
})

describe('a subagent that inherits nothing', () => {
  it('has no tools, no prompt and no permissions of its parent, whatever else its policy says', async () => {
    const made = team({
      subagents: {
        researcher: {
          systemPrompt: 'C',
          tools: ['write'],
          inheritancePolicy: {
            enabled: false,
            inheritSystemPrompt: true,
            inheritPermissions: true,
            inheritTools: ['search', 'subagent'],
          },
        },
      },
      lead: stepwise(calls(delegate('a'))),
      worker: stepwise(calls(call('x', 'write'), call('y', 'search')), ({ messages }) =>
        JSON.stringify(resultsIn(messages)),
      ),
      agent: { system: 'P', tools: four },
      parts: [Permissions({ denied: ['write'] })],
      runner: { tools: four },
    })
    await made.run()
    expect(toolsOf(made)).toEqual(['write'])
    expect(made.asked('worker')[0]?.request.system).toBe(
      'C\n\n## Available Tools\n- write\n\n## Available Skills\n- none',
    )
    expect(made.results()).toEqual({ a: '{"x":"write","y":"Error: there is no tool named search."}' })
    expect(warningsOf(made)).toEqual([])
  })
})

describe('a subagent that may delegate', () => {
  const passOn: Behaviour = stepwise(
    calls(delegate('b', { category: 'analyst', prompt: 'Deeper' })),
    ({ messages }) => `Found: ${resultsIn(messages)['b']}`,
  )
  const worker: Behaviour = (request, context) =>
    JSON.stringify([...request.messages][0]).includes('Look') ? passOn(request, context) : 'Gold.'

  it('has all six tools and a copy of the registry, if its policy lists subagent', async () => {
    const subagents = { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } }, analyst: {} }
    const made = team({ subagents, worker, lead: stepwise(calls(delegate('a'))) })
    await made.run()
    expect(made.results()).toEqual({ a: 'Found: Gold.' })
    expect(made.asked('worker')[0]?.request.tools).toEqual(made.asked('lead')[0]?.request.tools)
    expect(made.asked('worker')[1]?.request.tools).toEqual([])
    expect(made.sessions()).toHaveLength(1)
  })

  it('is the exception: without that it has none of the six', async () => {
    const inheritTools = ['subagent_status', 'subagent_wait']
    const subagents = { researcher: { inheritancePolicy: { inheritTools } }, analyst: {} }
    const made = team({ subagents, worker, lead: stepwise(calls(delegate('a'))) })
    await made.run()
    expect(toolsOf(made)).toEqual([])
    expect(made.results()).toEqual({ a: 'Found: Error: there is no tool named subagent.' })
    expect(warningsOf(made)).toHaveLength(2)
  })
})

describe('a subagent where nobody can be asked', () => {
  it('runs no tool that needs approval', async () => {
    const ran: string[] = []
    const pay = tool('pay', () => void ran.push('pay'), { approval: true })
    const made = team({
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['pay'] } } },
      lead: stepwise(calls(delegate('a'))),
      worker: stepwise(calls(call('x', 'pay')), ({ messages }) => resultsIn(messages)['x'] ?? ''),
      agent: { tools: [pay] },
      runner: { tools: [pay] },
    })
    await made.run()
    expect(ran).toEqual([])
    expect(made.results()['a']).toMatch(/^\[user declined: /)
  })
})
