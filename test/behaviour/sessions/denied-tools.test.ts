import { fail, memoryStore, Permissions, type SkillDefinition, type SubagentConfig, type Tool } from 'entia'
import { Skills, ToolRegistry } from 'entia/components'
import { spawnSubagentDeclaration } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { tool } from '../turns/tools.ts'
import { program } from './program.ts'
import {
  type Behaviour,
  call,
  calls,
  delegate,
  resultsIn,
  stepwise,
  taskOf,
  type Team,
  team,
  type TeamOptions,
} from './team.ts'

const refused = "Error: tool 'danger' is not permitted."
const absent = 'Error: there is no tool named danger.'

/** A tool that counts its runs, and a skill of the Host that has it. */
function dangerous() {
  const ran = { count: 0 }
  const danger = tool('danger', () => `run ${++ran.count}`)
  const sharp: SkillDefinition = { name: 'sharp', prompt: 'Mind your fingers.', tools: [danger] }
  return { ran, danger, sharp }
}

/** Calls `danger` and says what came of it. */
const tries: Behaviour = stepwise(calls(call('x', 'danger')), ({ messages }) => resultsIn(messages)['x'] ?? '')

/** Passes its task on to the subagent that it names, and says what came of it; `try` tries itself. */
const passesOn: Behaviour = (request, context) => {
  const [next, ...rest] = taskOf(request).split(' ')
  if (next === undefined || next === 'try') return tries(request, context)
  return stepwise(
    calls(delegate('down', { category: next, prompt: rest.join(' ') })),
    ({ messages }) => resultsIn(messages)['down'] ?? '',
  )(request, context)
}

interface Case extends TeamOptions {
  readonly config?: Partial<SubagentConfig>
  readonly input?: Parameters<typeof delegate>[1]
  /** Of the lead. @default `danger` is denied */
  readonly permissions?: Parameters<typeof Permissions>[0] | undefined
  /** The lead has the tool itself. @default true */
  readonly hasDanger?: boolean
}

/** What a subagent answers that tries the tool, and how often the tool ran. */
async function tried(options: Case = {}): Promise<Team & { readonly answer: string; readonly runs: number }> {
  const { config = {}, hasDanger = true, input = {}, parts = [], permissions = { denied: ['danger'] } } = options
  const { ran, danger, sharp } = dangerous()
  const made = team({
    subagents: { researcher: config },
    lead: stepwise(calls(delegate('a', input))),
    worker: tries,
    ...options,
    agent: { ...(hasDanger && { tools: [danger] }), ...options.agent },
    parts: [Permissions(permissions), ...parts],
    runner: { tools: [danger] as Tool[], skills: [sharp], ...options.runner },
  })
  await made.run()
  return { ...made, answer: made.results()['a'] ?? '', runs: ran.count }
}

function systemOf(made: Team): string {
  return made.asked('worker')[0]?.request.system ?? ''
}

function warningsOf(made: Team): string[] {
  return made.told('warning').map(({ message }) => message)
}

describe('a tool that is denied to an agent', () => {
  it.each<[string, Case]>([
    ['a skill that its model names', { input: { load_skills: ['sharp'] } }],
    [
      'such a skill where the registry lets models load it',
      { input: { load_skills: ['sharp'] }, registry: { loadableSkills: ['sharp'] } },
    ],
    ['a skill of the config', { config: { skills: ['sharp'] } }],
    ['inheritance by name', { config: { inheritancePolicy: { inheritTools: ['danger'] } } }],
    [
      'a skill that it has installed',
      { parts: [Skills({ installed: [{ name: 'sharp', tools: ['danger'] }] })], config: { skills: ['sharp'] } },
    ],
    ['a config that inherits nothing', { config: { skills: ['sharp'], inheritancePolicy: { enabled: false } } }],
    ['copied permissions', { config: { tools: ['danger'], inheritancePolicy: { inheritPermissions: true } } }],
    [
      'a free-form subagent',
      {
        input: { category: 'poet' },
        agent: { model: 'lead/x' },
        registry: { freeForm: { enabled: true, skills: ['sharp'] } },
      },
    ],
  ])('is not run below it through %s', async (_, options) => {
    const lead: Behaviour = (request, context) => {
      const isPoet = (request.system ?? '').includes('You are "poet"')
      return isPoet ? tries(request, context) : stepwise(calls(delegate('a', options.input ?? {})))(request, context)
    }
    const { answer, runs } = await tried({ lead, ...options })
    expect([refused, absent]).toContain(answer)
    expect(runs).toBe(0)
  })

  it('is not run by a fork, nor below one', async () => {
    const lead: Behaviour = (request, context) => {
      const last = [...request.messages].findLast(({ role }) => role === 'user')
      const isFork = JSON.stringify(last).includes('Try it')
      if (!isFork) return stepwise(calls(delegate('a', { category: 'fork', prompt: 'Try it' })))(request, context)
      const results = resultsIn(request.messages)
      if (results['x'] !== undefined && results['y'] !== undefined) return `${results['x']} ${results['y']}`
      return calls(call('x', 'danger'), delegate('y', { load_skills: ['sharp'] }))
    }
    const made = await tried({ lead, config: { tools: ['danger'] } })
    expect(made.runs).toBe(0)
    expect(made.sessions()[0]?.resultExcerpt).toBe(`Error: tool 'danger' is not allowed in this fork ${refused}`)
  })

  it('is not run by a worker that its model grants it', async () => {
    const made = await tried({
      lead: (request, context) => {
        if (taskOf(request) === 'Try') return tries(request, context)
        return stepwise(calls(call('a', 'spawn_subagent', { task: 'Try', tools: ['danger'] })))(request, context)
      },
      parts: [ToolRegistry({ tools: [dangerous().danger.declaration, spawnSubagentDeclaration] })],
      agent: { tools: [] },
      registry: false,
    })
    expect(made.sessions()[0]?.resultExcerpt).toBe(refused)
    expect(made.runs).toBe(0)
  })

  it('is not run by sessions of sessions, however deep', async () => {
    const inheritancePolicy = { inheritTools: ['subagent'] }
    const made = await tried({
      subagents: { middle: { inheritancePolicy }, bottom: { skills: ['sharp'] } },
      input: { category: 'middle', prompt: 'middle bottom try' },
      worker: passesOn,
    })
    expect(made.answer).toBe(refused)
    expect(made.runs).toBe(0)
  })

  it('is run by a subagent whose config names it among its tools, and by nobody below that one', async () => {
    const { answer, runs } = await tried({ config: { tools: ['danger'] } })
    expect([answer, runs]).toEqual(['run 1', 1])
    const inheritancePolicy = { inheritTools: ['subagent', 'danger'] }
    const below = await tried({
      subagents: { granted: { tools: ['danger'], inheritancePolicy }, other: { inheritancePolicy, skills: ['sharp'] } },
      input: { category: 'granted', prompt: 'other try' },
      worker: passesOn,
    })
    expect([below.answer, below.runs]).toEqual([refused, 0])
  })

  it('is not run by sessions that a program launches, whatever skills it names', async () => {
    const { ran, danger, sharp } = dangerous()
    const made = await program({
      parts: [Permissions({ denied: ['danger'] })],
      worker: tries,
      runner: { tools: [danger], skills: [sharp] },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look', loadSkills: ['sharp'] })
    await expect(made.subagents.collect(1)).resolves.toBe(refused)
    expect(ran.count).toBe(0)
  })

  it('may be run below it if it is only not among those that it is allowed', async () => {
    const { answer } = await tried({ permissions: { allowed: ['subagent'] }, config: { skills: ['sharp'] } })
    expect(answer).toBe('run 1')
  })
})

describe('a skill that a model names', () => {
  const input = { load_skills: ['sharp'] }

  it.each<[string, Case]>([
    ['lacks', { hasDanger: false, permissions: {} }],
    ['is not allowed', { permissions: { allowed: ['subagent'] } }],
    ['is denied', {}],
  ])('brings its prompt, and none of its tools that the agent %s', async (_, options) => {
    const made = await tried({ input, ...options })
    expect([made.answer, made.runs]).toEqual([absent, 0])
    expect(systemOf(made)).toContain('Mind your fingers.')
    expect(systemOf(made)).toContain('## Available Tools\n- none')
    const reason = "the parent may not run it, and the skill 'sharp' is not in loadableSkills"
    expect(warningsOf(made)).toEqual([`Subagent 'researcher' does not inherit the tool 'danger': ${reason}`])
  })

  it('brings the tools that the agent may run itself', async () => {
    expect((await tried({ input, permissions: {} })).answer).toBe('run 1')
  })

  it('brings no tool of a name that the agent has for another one', async () => {
    const other = tool('danger', () => 'other', { approval: true })
    const made = await tried({
      input,
      permissions: {},
      parts: [ToolRegistry({ tools: [other.declaration] })],
      agent: {},
      hasDanger: false,
    })
    expect(made.answer).toBe(absent)
  })

  it.each<[string, Case]>([
    ['the registry lets models load it', { registry: { loadableSkills: ['sharp'] } }],
    ['the config names it as well', { config: { skills: ['sharp'] } }],
  ])('brings all its tools where %s', async (_, options) => {
    const { answer } = await tried({ input, hasDanger: false, permissions: {}, ...options })
    expect(answer).toBe('run 1')
  })

  it('that the agent has installed brings no tool that it may not run', async () => {
    const parts = [Skills({ installed: [{ name: 'sharp', prompt: 'Mind.', tools: ['danger'] }] })]
    const made = await tried({ input, parts, permissions: { allowed: ['subagent'] } })
    expect([made.answer, made.runs]).toEqual([absent, 0])
    expect((await tried({ input, parts, permissions: {} })).answer).toBe('run 1')
  })

  it('brings all its tools where a program names it', async () => {
    const { danger, sharp } = dangerous()
    const made = await program({ worker: tries, runner: { tools: [danger], skills: [sharp] } })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look', loadSkills: ['sharp'] })
    await expect(made.subagents.collect(1)).resolves.toBe('run 1')
  })
})

describe.each(['with a store', 'without one'])('a session that is resumed %s', (kept) => {
  /** A session that failed at first and tries when it is resumed, under permissions that `later` has changed. */
  async function resumed(
    first: Parameters<typeof Permissions>[0],
    later: Parameters<typeof Permissions>[0],
    config: Partial<SubagentConfig> = { skills: ['sharp'] },
    loadSkills: string[] = [],
  ) {
    const { ran, danger, sharp } = dangerous()
    let isBroken = true
    const made = await program({
      subagents: { researcher: config },
      parts: [Permissions(first)],
      worker: (request, context) => (isBroken ? fail('refused') : tries(request, context)),
      runner: { tools: [danger], skills: [sharp], ...(kept === 'with a store' && { store: memoryStore() }) },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look', loadSkills })
    await made.runner.idle()
    isBroken = false
    await made.runner.change((world) => world.set(made.lead, Permissions, later))
    await made.subagents.resume(1)
    const answer = await made.subagents.collect(2)
    return [answer, ran.count]
  }

  it('is denied what was denied at its launch', async () => {
    expect(await resumed({ denied: ['danger'] }, {})).toEqual([refused, 0])
  })

  it('is denied what is denied by then', async () => {
    expect(await resumed({}, { denied: ['danger'] })).toEqual([refused, 0])
  })

  it('may run what its config names, denied before or by then', async () => {
    const config = { tools: ['danger'] }
    expect(await resumed({ denied: ['danger'] }, {}, config)).toEqual(['run 1', 1])
    expect(await resumed({}, { denied: ['danger'] }, config)).toEqual(['run 1', 1])
  })

  it('has the tools of the skills that a program had named', async () => {
    expect(await resumed({}, {}, {}, ['sharp'])).toEqual(['run 1', 1])
  })

  it('as a fork is denied what is denied by then', async () => {
    const { ran, danger } = dangerous()
    let isBroken = true
    const made = await program({
      agent: { tools: [danger] },
      lead: (request, context) => (isBroken ? fail('refused') : tries(request, context)),
      runner: { tools: [danger], ...(kept === 'with a store' && { store: memoryStore() }) },
    })
    await made.subagents.fork('Try')
    await made.runner.idle()
    isBroken = false
    await made.runner.change((world) => world.set(made.lead, Permissions, { denied: ['danger'] }))
    await made.subagents.resume(1)
    await expect(made.subagents.collect(2)).resolves.toBe("Error: tool 'danger' is not allowed in this fork")
    expect(ran.count).toBe(0)
  })
})
