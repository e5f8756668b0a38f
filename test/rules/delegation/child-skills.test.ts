import { describe, expect, it } from 'vitest'
import type { Skill } from '../../../components/agent/skills.ts'
import { blueprintOf, hostWith, planned, tool, toolsOf, warningsOf } from './blueprints.ts'

const [query, migrate, read] = [tool('query'), tool('migrate'), tool('read')]
const sql: Skill = { name: 'sql', prompt: 'Join.', data: { tables: 2 }, tools: ['query', 'migrate'] }
const git: Skill = { name: 'git', prompt: 'Commit.' }
const parent = { tools: [read, query, migrate], skills: [sql, git] }

describe('a skill of a subagent', () => {
  it('comes from the parent, or else from the Host, each once', () => {
    const facts = hostWith([], { git: [], web: [], pdf: [] })
    const { skills, hostSkills } = blueprintOf(parent, { skills: ['web', 'git'] }, facts, ['git', 'pdf', 'web'])
    expect(skills).toEqual([git])
    expect(hostSkills).toEqual(['web', 'pdf'])
  })

  it('stands in the order of the config and then of the call', () => {
    expect(blueprintOf(parent, { skills: ['git'] }, undefined, ['sql']).skills).toEqual([git, sql])
    expect(blueprintOf(parent, { skills: ['sql'] }, undefined, ['git']).skills).toEqual([sql, git])
  })

  it('brings its tools along from the parent', () => {
    const { skills, tools } = blueprintOf(parent, { skills: ['sql'] })
    expect(skills[0]).toBe(sql)
    expect(tools).toEqual([query, migrate])
  })

  it('comes without the tools that the parent lacks, with a warning', () => {
    const request = [{ tools: [query], skills: [sql] }, { skills: ['sql'] }] as const
    expect(toolsOf(...request)).toMatchObject({ tools: [query], skills: [{ ...sql, tools: ['query'] }] })
    expect(warningsOf(...request)).toEqual([
      "Subagent 'researcher' does not inherit the tool 'migrate': the parent lacks it",
    ])
  })

  it('comes without a tool that is another one on the subagent’s side', () => {
    const config = { skills: ['sql'], tools: ['query'] }
    const facts = hostWith([tool('query', 'Asks.')])
    expect(toolsOf(parent, config, facts)).toMatchObject({
      hostTools: ['query'],
      tools: [migrate],
      skills: [{ ...sql, tools: ['migrate'] }],
    })
  })

  it('of the parent is not looked at where nothing is inherited', () => {
    const config = { skills: ['sql'], inheritancePolicy: { enabled: false } }
    const facts = hostWith([], { sql: [query] })
    expect(toolsOf(parent, config, facts)).toMatchObject({ skills: [], hostSkills: ['sql'], tools: [] })
  })

  it.each(['x', 'constructor'])('called %s that is nowhere to be had is gone without, or refused', (name) => {
    const missingSkill = `Missing skill '${name}'`
    expect(warningsOf(parent, {}, hostWith([]), [name, name])).toEqual([missingSkill])
    expect(warningsOf(parent, { skills: [name] })).toEqual([missingSkill])
    const config = { inheritancePolicy: { missingSkillPolicy: 'error' } } as const
    const refusal = { ok: false, code: 'missing-skill', message: missingSkill }
    expect(planned(parent, config, hostWith([]), [name])).toEqual(refusal)
  })
})

describe('an inherited tool that belongs to a skill', () => {
  const inheriting = (...inheritTools: string[]) => ({ inheritancePolicy: { inheritTools } })

  it('brings the skill, but of its tools only those that are listed', () => {
    const { tools, skills } = blueprintOf(parent, inheriting('read', 'query'))
    expect(tools).toEqual([read, query])
    expect(skills).toEqual([{ ...sql, tools: ['query'] }])
  })

  it('brings it behind those that were asked for, and only once', () => {
    expect(blueprintOf(parent, { skills: ['git'], ...inheriting('query', 'migrate') }).skills).toEqual([git, sql])
    expect(blueprintOf(parent, { skills: ['sql'], ...inheriting('query') })).toMatchObject({
      skills: [sql],
      tools: [query, migrate],
    })
  })

  it('brings it where it is the subagent’s own tool as well, and not where that is another one', () => {
    const config = { tools: ['query'], ...inheriting('query') }
    expect(toolsOf(parent, config, hostWith([query]))).toMatchObject({
      hostTools: ['query'],
      skills: [{ ...sql, tools: ['query'] }],
      tools: [],
    })
    expect(toolsOf(parent, config, hostWith([tool('query', 'Asks.')])).skills).toEqual([])
  })

  it.each([
    ['with its declaration', [read]],
    ['but for its declaration', [read, query]],
  ])('that the parent has lost %s is a missing skill', (_, tools) => {
    const orphaned = { tools, skills: [git] }
    const facts = hostWith([read], { sql: [query, migrate] })
    const request = [orphaned, inheriting('query', 'read', 'migrate'), facts] as const
    expect(warningsOf(...request)).toEqual(["Missing skill 'sql'"])
    expect(toolsOf(...request)).toMatchObject({ tools: [read], skills: [] })
    const config = { inheritancePolicy: { inheritTools: ['query'], missingSkillPolicy: 'error' } } as const
    const refusal = { ok: false, code: 'missing-skill', message: "Missing skill 'sql'" }
    expect(planned(orphaned, config, facts)).toEqual(refusal)
  })

  it('is no missing skill where the Host has the same tool apart from it, or another one of that name', () => {
    const orphaned = { tools: [query], skills: [] }
    const config = { inheritancePolicy: { inheritTools: ['query'], missingSkillPolicy: 'error' } } as const
    for (const facts of [
      hostWith([query], { sql: [query] }),
      hostWith([], { sql: [tool('query', 'Asks.')] }),
      hostWith([], { sql: [] }),
      undefined,
    ]) {
      expect(blueprintOf(orphaned, config, facts)).toMatchObject({ tools: [query], skills: [] })
    }
  })

  it('is no missing skill where another skill of the parent has it', () => {
    const facts = hostWith([], { web: [query] })
    expect(blueprintOf(parent, inheriting('query'), facts)).toMatchObject({ tools: [query] })
  })

  it('is no missing skill where the subagent gets the skill from the Host', () => {
    const orphaned = { tools: [query], skills: [] }
    const config = { skills: ['sql'], ...inheriting('query') }
    const facts = hostWith([], { sql: [query] })
    expect(blueprintOf(orphaned, config, facts)).toMatchObject({ hostSkills: ['sql'], tools: [] })
  })

  it('that the parent lacks, though it has the skill, is a tool that it lacks', () => {
    const facts = hostWith([], { sql: [query, migrate] })
    const narrow = { tools: [query], skills: [{ ...sql, tools: ['query'] }] }
    expect(warningsOf(narrow, inheriting('migrate'), facts)).toEqual([
      "Subagent 'researcher' does not inherit the tool 'migrate': the parent lacks it",
    ])
  })
})
