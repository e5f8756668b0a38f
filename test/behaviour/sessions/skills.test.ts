import type { SkillDefinition, Tool } from 'entia'
import { Skills } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { rejection } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { call, calls, delegate, resultsIn, stepwise, type Team, team, type TeamOptions } from './team.ts'

type Config = NonNullable<TeamOptions['subagents']>[string]

const query = tool('query', () => 'rows')
const explain = tool('explain', () => 'a plan')
const sql: SkillDefinition = { name: 'sql', prompt: 'Join with care.', tools: [query, explain] }
/** The skill as a parent has it that has installed it. */
const installed = { name: 'sql', prompt: 'Join with care.', tools: ['query', 'explain'] }

function delegating(config: Config, options: TeamOptions = {}, input: Parameters<typeof delegate>[1] = {}): Team {
  return team({ subagents: { researcher: config }, lead: stepwise(calls(delegate('a', input))), ...options })
}

function firstRequest(made: Team) {
  const { system = '', tools = [] } = made.asked('worker')[0]?.request ?? {}
  return { system, tools: tools.map(({ name }) => name) }
}

function warningsOf(made: Team): string[] {
  return made.told('warning').map(({ message }) => message)
}

describe("an inherited tool that belongs to a skill of the parent's", () => {
  const parent = {
    agent: { tools: [query, explain] },
    parts: [Skills({ installed: [installed] })],
    runner: { tools: [query, explain] as Tool[] },
  }

  it('brings the skill, with its prompt, and can be called', async () => {
    const worker = stepwise(calls(call('x', 'query')), ({ messages }) => resultsIn(messages)['x'] ?? '')
    const made = delegating({ inheritancePolicy: { inheritTools: ['query'] } }, { ...parent, worker })
    await made.run()
    const { system, tools } = firstRequest(made)
    expect(system).toContain('## Available Skills\n- sql\n')
    expect(system).toContain('Join with care.')
    expect(tools).toEqual(['query'])
    expect(made.results()).toEqual({ a: 'rows' })
  })

  it('brings none of the other tools of the skill', async () => {
    const worker = stepwise(calls(call('x', 'explain')), ({ messages }) => resultsIn(messages)['x'] ?? '')
    const made = delegating({ inheritancePolicy: { inheritTools: ['query'] } }, { ...parent, worker })
    await made.run()
    expect(made.results()).toEqual({ a: 'Error: there is no tool named explain.' })
  })

  it('is left out where the parent has lost the skill, with a warning', async () => {
    const lost = { agent: { tools: [query, explain] }, runner: { skills: [sql] } }
    const made = delegating({ inheritancePolicy: { inheritTools: ['query'] } }, lost)
    await made.run()
    expect(firstRequest(made).tools).toEqual([])
    expect(firstRequest(made).system).not.toContain('Join with care.')
    expect(warningsOf(made)).toEqual(["Missing skill 'sql'"])
    expect(made.results()).toEqual({ a: 'Done: Look' })
  })

  it('is refused where the parent has lost the skill, if the policy says so', async () => {
    const lost = { agent: { tools: [query, explain] }, runner: { skills: [sql] } }
    const policy = { inheritTools: ['query'], missingSkillPolicy: 'error' as const }
    const made = delegating({ inheritancePolicy: policy }, lost)
    await made.run()
    expect(made.results()).toEqual({ a: "Error: Missing skill 'sql'" })
    expect(made.sessions()).toEqual([])
  })
})

describe('a skill that is asked for', () => {
  it('and found nowhere is left out, with a warning, and the subagent runs', async () => {
    const made = delegating({}, {}, { load_skills: ['x'] })
    await made.run()
    expect(made.results()).toEqual({ a: 'Done: Look' })
    expect(firstRequest(made).system).toContain('## Available Skills\n- none')
    expect(warningsOf(made)).toEqual(["Missing skill 'x'"])
  })

  it('and found nowhere is refused under error, and there is no session', async () => {
    const made = delegating({ inheritancePolicy: { missingSkillPolicy: 'error' } }, {}, { load_skills: ['x'] })
    await made.run()
    expect(made.results()).toEqual({ a: "Error: Missing skill 'x'" })
    expect(made.sessions()).toEqual([])
    expect(made.told('session-queued')).toEqual([])
    expect(warningsOf(made)).toEqual([])
    const spawned = made.runner
      .subagents(made.lead)
      .spawn({ category: 'researcher', prompt: 'Look', loadSkills: ['x'] })
    expect(await rejection(spawned)).toMatchObject({ code: 'missing-skill', message: "Missing skill 'x'" })
  })

  it("comes from the Host's catalogue with its tools", async () => {
    const worker = stepwise(calls(call('x', 'query')), ({ messages }) => resultsIn(messages)['x'] ?? '')
    const options = { worker, registry: { loadableSkills: ['sql'] }, runner: { skills: [sql] } }
    const made = delegating({}, options, { load_skills: ['sql'] })
    await made.run()
    expect(firstRequest(made)).toEqual({
      system: expect.stringContaining('Join with care.'),
      tools: ['query', 'explain'],
    })
    expect(made.results()).toEqual({ a: 'rows' })
    expect(made.sessions()).toMatchObject([{ loadSkills: ['sql'] }])
  })

  it("comes from the parent before the Host's catalogue, unless nothing is inherited", async () => {
    const parts = [Skills({ installed: [{ name: 'sql', prompt: "The parent's." }] })]
    const runner = { skills: [{ name: 'sql', prompt: "The Host's." }] }
    const inherited = delegating({ skills: ['sql'] }, { parts, runner })
    await inherited.run()
    expect(firstRequest(inherited).system).toContain("The parent's.")
    const bare = delegating({ skills: ['sql'], inheritancePolicy: { enabled: false } }, { parts, runner })
    await bare.run()
    expect(firstRequest(bare).system).toContain("The Host's.")
  })

  it("stands behind those of the subagent's config, each once", async () => {
    const skills = ['b', 'c', 'a'].map((name) => ({ name, prompt: `Text of ${name}.` }))
    const made = delegating({ skills: ['b', 'a'] }, { runner: { skills } }, { load_skills: ['a', 'c', 'b'] })
    await made.run()
    const { system } = firstRequest(made)
    expect(system.match(/Text of \w/g)).toEqual(['Text of b', 'Text of a', 'Text of c'])
    expect(system).toContain('## Available Skills\n- a\n- b\n- c\n')
  })
})
