import { describe, expect, it } from 'vitest'
import { Blueprint } from '../../../components/sessions/blueprint.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { systemText } from '../../../src/rules/projection/project.ts'
import { blueprintHash } from '../../../src/rules/delegation/hashes.ts'
import { envelopeInstruction } from '../../../src/rules/delegation/envelope.ts'
import { freeFormConfig, planChild } from '../../../src/rules/delegation/plan-child.ts'
import { World } from '../../../src/world/world.ts'
import { blueprintOf, parentWith, planned, tool, warningsOf } from './blueprints.ts'

const sections = '## Available Tools\n${_installed_tools}\n\n## Available Skills\n${_installed_skills}'

describe('the plan of a subagent', () => {
  it('is a blueprint with the defaults', () => {
    const blueprint = blueprintOf({})
    expect(blueprint).toEqual({
      hostSkills: [],
      hostTools: [],
      llm: { model: 'scripted/parent' },
      maxSteps: 10,
      skills: [],
      template: sections,
      tools: [],
    })
    expect(Blueprint.schema.safeParse({ ...blueprint, hash: blueprintHash(blueprint) }).success).toBe(true)
  })

  it('takes steps, limits and own tools, each once, from the config', () => {
    const limits = { tokens: 5, sessions: 0 }
    expect(blueprintOf({}, { maxSteps: 3, limits, tools: ['b', 'a', 'b'] })).toMatchObject({
      maxSteps: 3,
      limits,
      hostTools: ['b', 'a'],
    })
  })

  it('reads nothing but what it is given: twice the same', () => {
    const parent = { template: 'P', tools: [tool('a')] }
    expect(planned(parent, { tools: ['a'] })).toEqual(planned(parent, { tools: ['a'] }))
  })
})

describe('the model of a subagent', () => {
  const llm = { model: 'scripted/parent', temperature: 0.5, timeoutMs: 5, retry: false } as const

  it("is the parent's with its options, but not with its retries", () => {
    expect(blueprintOf({ llm }).llm).toEqual({ model: 'scripted/parent', temperature: 0.5, timeoutMs: 5 })
    expect(blueprintOf({ llm }, { retry: false }).llm.retry).toBe(false)
  })

  it("is the config's where that names one, without the parent's options", () => {
    expect(blueprintOf({ llm }, { model: 'scripted/own' }).llm).toEqual({ model: 'scripted/own' })
    const own = { model: 'scripted/own', retry: false } as const
    expect(blueprintOf({ llm: undefined }, own).llm).toEqual(own)
  })

  it('is the parent’s even where nothing else is inherited', () => {
    expect(blueprintOf({ llm }, { inheritancePolicy: { enabled: false } }).llm.model).toBe('scripted/parent')
  })

  it('that is nowhere to be had is a refusal', () => {
    const message = "Unknown subagent 'poet' cannot be created without a parent model"
    const request = { config: freeFormConfig('poet', { enabled: true }), loadSkills: [], isBackground: true }
    const refusal = { ok: false, code: 'invalid-argument', message }
    expect(planChild(parentWith({ llm: undefined }), request, undefined)).toEqual(refusal)
  })
})

describe('the template of a subagent', () => {
  it.each([
    ['C', 'P', {}, `C\n\nP\n\n${sections}`],
    ['', 'P', {}, `P\n\n${sections}`],
    ['C', '', {}, `C\n\n${sections}`],
    ['C', 'P', { inheritSystemPrompt: false }, `C\n\n${sections}`],
    ['', 'P', { inheritSystemPrompt: false }, sections],
    ['C', 'P', { enabled: false, inheritSystemPrompt: true }, `C\n\n${sections}`],
  ])('made of %o and %o under %o is %o', (systemPrompt, template, inheritancePolicy, expected) => {
    expect(blueprintOf({ template }, { systemPrompt, inheritancePolicy }).template).toBe(expected)
  })

  it.each([
    ['T ${_installed_tools}', '', 'T ${_installed_tools}\n\n## Available Skills\n${_installed_skills}'],
    ['', 'S ${_installed_skills}', 'S ${_installed_skills}\n\n## Available Tools\n${_installed_tools}'],
    ['${_installed_tools}', '${_installed_skills}', '${_installed_tools}\n\n${_installed_skills}'],
  ])('that has a placeholder, as in %o and %o, gets no second section for it', (systemPrompt, template, expected) => {
    expect(blueprintOf({ template }, { systemPrompt }).template).toBe(expected)
  })

  it('keeps every other text as it is', () => {
    const text = 'It costs $5, not $$ or ${HOME}, $&'
    expect(blueprintOf({}, { systemPrompt: text }).template).toBe(`${text}\n\n${sections}`)
  })

  it('lists what the subagent has once it is rendered', () => {
    const parent = { tools: [tool('a'), tool('b')] }
    const inheritancePolicy = { inheritTools: ['b', 'a'] }
    const { template, tools } = blueprintOf(parent, { systemPrompt: 'C', inheritancePolicy })
    const world = new World()
    const child = world.spawn(
      Llm({ model: 'a/b' }),
      Conversation(),
      SystemPrompt({ template }),
      ToolRegistry({ tools }),
    )
    const expected = 'C\n\n## Available Tools\n- a\n- b\n\n## Available Skills\n- none'
    expect(systemText(world, child)).toBe(expected)
  })

  it('is followed by the form of the answer in the background only', () => {
    const config = { name: 'researcher' }
    const endingOf = (isBackground: boolean) => {
      const plan = planChild(parentWith(), { config, loadSkills: [], isBackground }, undefined)
      return plan.ok ? plan.blueprint.ending : plan.message
    }
    expect(endingOf(true)).toBe(envelopeInstruction)
    expect(envelopeInstruction).toContain('<subagent_background_result>')
    expect(endingOf(false)).toBeUndefined()
  })
})

describe('what holds for the parent', () => {
  const permissions = { denied: ['bash'] }

  it('in permissions goes down where the policy says so', () => {
    expect(blueprintOf({ permissions }, { inheritancePolicy: { inheritPermissions: true } }).permissions).toEqual(
      permissions,
    )
    expect(blueprintOf({ permissions }).permissions).toBeUndefined()
  })

  it('below a fork always goes down', () => {
    const ceiling = { allowed: ['read'] }
    for (const enabled of [true, false]) {
      const parent = { ceiling, permissions, isBelowFork: true }
      expect(blueprintOf(parent, { inheritancePolicy: { enabled } })).toMatchObject({ ceiling, permissions })
    }
  })

  it('does not go down where nothing is inherited, whatever is asked for', () => {
    const parent = {
      template: 'P',
      tools: [tool('search'), tool('subagent', '', { world: true })],
      skills: [{ name: 'sql', prompt: 'Join.' }],
      permissions,
      registry: { subagents: {} },
    }
    const inheritancePolicy = {
      enabled: false,
      inheritPermissions: true,
      inheritSystemPrompt: true,
      inheritTools: ['search', 'subagent'],
    }
    expect(blueprintOf(parent, { systemPrompt: 'C', inheritancePolicy })).toEqual({
      hostSkills: [],
      hostTools: [],
      llm: { model: 'scripted/parent' },
      maxSteps: 10,
      skills: [],
      template: `C\n\n${sections}`,
      tools: [],
    })
    expect(warningsOf(parent, { skills: ['sql'], inheritancePolicy })).toEqual(["Missing skill 'sql'"])
  })
})
