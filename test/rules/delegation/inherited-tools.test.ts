import { describe, expect, it } from 'vitest'
import type { InheritancePolicy } from '../../../src/protocol/delegation.ts'
import { blueprintOf, hostWith, planned, tool, toolsOf, warningsOf } from './blueprints.ts'

const [search, read, write, calculate] = ['search', 'read', 'write', 'calculate'].map((name) => tool(name)) as [
  ReturnType<typeof tool>,
  ReturnType<typeof tool>,
  ReturnType<typeof tool>,
  ReturnType<typeof tool>,
]
const otherSearch = tool('search', 'Searches elsewhere.')

function inheriting(inheritTools: readonly string[], rest: Omit<InheritancePolicy, 'inheritTools'> = {}) {
  return { inheritancePolicy: { ...rest, inheritTools } }
}

describe('a tool of the parent', () => {
  it('is inherited where it is listed, once, and no other', () => {
    const parent = { tools: [search, read, write, calculate] }
    const { tools, hostTools } = blueprintOf(parent, inheriting(['search', 'read', 'search']))
    expect(tools).toEqual([search, read])
    expect(hostTools).toEqual([])
    expect(blueprintOf(parent).tools).toEqual([])
  })

  it('is the same object, so that it is not stored and hashed anew', () => {
    expect(blueprintOf({ tools: [search] }, inheriting(['search'])).tools[0]).toBe(search)
  })

  it('that is listed but is not there is left out with a warning', () => {
    const request = [{ tools: [read] }, inheriting(['read', 'search', 'constructor'])] as const
    expect(toolsOf(...request).tools).toEqual([read])
    expect(warningsOf(...request)).toEqual([
      "Subagent 'researcher' does not inherit the tool 'search': the parent lacks it",
      "Subagent 'researcher' does not inherit the tool 'constructor': the parent lacks it",
    ])
  })

  it('that is the same as the subagent’s own stands once, without a conflict', () => {
    const config = { tools: ['search'], ...inheriting(['search'], { toolConflictPolicy: 'error' }) }
    expect(toolsOf({ tools: [search] }, config, hostWith([tool('search')]))).toMatchObject({
      hostTools: ['search'],
      tools: [],
    })
  })

  it('takes the place of one that the Host does not have', () => {
    const config = { tools: ['search', 'read'], ...inheriting(['search'], { toolConflictPolicy: 'error' }) }
    const odd = { tools: ['constructor'], ...inheriting(['constructor']) }
    expect(toolsOf({ tools: [tool('constructor')] }, odd, hostWith([]))).toMatchObject({ hostTools: [] })
    for (const facts of [hostWith([read]), undefined]) {
      expect(toolsOf({ tools: [search] }, config, facts)).toMatchObject({ hostTools: ['read'], tools: [search] })
    }
  })
})

describe('two different tools of one name', () => {
  const parent = { tools: [search, read] }
  const facts = hostWith([otherSearch, write])
  const own = { tools: ['search', 'write'] }

  it('leave the subagent its own, if nothing is said', () => {
    const expected = { hostTools: ['search', 'write'], tools: [read] }
    expect(toolsOf(parent, { ...own, ...inheriting(['search', 'read']) }, facts)).toMatchObject(expected)
    const skip = inheriting(['search', 'read'], { toolConflictPolicy: 'skip' })
    expect(toolsOf(parent, { ...own, ...skip }, facts)).toMatchObject(expected)
  })

  it('give it the parent’s under override', () => {
    const override = inheriting(['search', 'read'], { toolConflictPolicy: 'override' })
    const expected = { hostTools: ['write'], tools: [search, read] }
    expect(toolsOf(parent, { ...own, ...override }, facts)).toMatchObject(expected)
  })

  it('are a refusal under error, and only they', () => {
    const error = (...names: string[]) => inheriting(names, { toolConflictPolicy: 'error' })
    const message = "Tool inheritance conflict for 'search'"
    const refusal = { ok: false, code: 'tool-conflict', message }
    expect(planned(parent, { ...own, ...error('read', 'search') }, facts)).toEqual(refusal)
    expect(planned(parent, { ...own, ...error('read') }, facts)).toMatchObject({ ok: true })
    expect(planned(parent, error('read', 'search'), facts)).toMatchObject({ ok: true })
  })

  it('count as such where a skill of the Host brings one of them', () => {
    const withSkill = hostWith([write], { web: [otherSearch] })
    const config = (toolConflictPolicy: 'skip' | 'override' | 'error') => ({
      skills: ['web'],
      ...inheriting(['search'], { toolConflictPolicy }),
    })
    const made = (policy: 'skip' | 'override') => toolsOf(parent, config(policy), withSkill)
    expect(made('skip')).toMatchObject({ tools: [], hostSkills: ['web'] })
    expect(made('override')).toMatchObject({ tools: [search], hostSkills: ['web'] })
    expect(planned(parent, config('error'), withSkill)).toMatchObject({ ok: false, code: 'tool-conflict' })
    const same = hostWith([], { web: [search] })
    expect(toolsOf(parent, config('error'), same)).toMatchObject({ tools: [], hostSkills: ['web'] })
  })
})

describe('delegation', () => {
  const registry = { subagents: { poet: { name: 'poet' } }, freeForm: { enabled: true } }
  const names = ['subagent', 'subagent_status', 'subagent_wait']
  const tools = [read, ...names.map((name) => tool(name, 'World.', { world: true }))]

  it('is inherited whole where `subagent` is listed: the registry goes down, the declarations do not', () => {
    for (const listed of [['subagent'], ['subagent_status', 'subagent', 'subagent_resume']]) {
      const blueprint = blueprintOf({ tools, registry }, inheriting(['read', ...listed]))
      expect(blueprint.registry).toBe(registry)
      expect(blueprint.tools).toEqual([read])
    }
  })

  it('is not inherited otherwise', () => {
    expect(blueprintOf({ tools, registry }, inheriting(['read'])).registry).toBeUndefined()
  })

  it('cannot be had in parts: its other tools are left out with a warning', () => {
    const request = [{ tools, registry }, inheriting(['subagent_status'])] as const
    expect(planned(...request)).toMatchObject({ blueprint: { tools: [], registry: undefined } })
    const warning =
      "Subagent 'researcher' does not inherit the tool 'subagent_status': it comes only together with 'subagent'"
    expect(warningsOf(...request)).toEqual([warning])
  })

  it('of a parent that has none is missing with a warning', () => {
    const request = [{ tools: [read] }, inheriting(['subagent'])] as const
    const reason = 'the parent has no SubagentRegistry'
    expect(warningsOf(...request)).toEqual([`Subagent 'researcher' does not inherit the tool 'subagent': ${reason}`])
  })

  it('does not take other tools along that change the world', () => {
    const parent = { tools: [...tools, tool('mark_task_done', 'World.', { world: true })], registry }
    const request = [parent, inheriting(['subagent', 'mark_task_done'])] as const
    expect(toolsOf(...request).tools).toEqual([])
    expect(warningsOf(...request)).toEqual([
      "Subagent 'researcher' does not inherit the tool 'mark_task_done': it cannot be copied",
    ])
  })
})
