import { describe, expect, it } from 'vitest'
import { SubagentConfig } from '../../../components/sessions/subagent-registry.ts'
import { freeFormConfig } from '../../../src/rules/delegation/plan-child.ts'

describe('a subagent that stands in no registry', () => {
  it('has the name that was asked for in the built-in template, and is a whole config', () => {
    const config = freeFormConfig('poet', { enabled: true })
    expect(config.name).toBe('poet')
    expect(config.systemPrompt).toContain('"poet"')
    expect(config.systemPrompt).not.toContain('{name}')
    expect(config.model).toBeUndefined()
    expect(SubagentConfig().safeParse(config).success).toBe(true)
  })

  it('has its name wherever a template of ones own says so, and all other text as it is', () => {
    const systemPromptTemplate = '{name} {name}: $1 {Name} {{name}} ${HOME}'
    expect(freeFormConfig('poet', { systemPromptTemplate }).systemPrompt).toBe('poet poet: $1 {Name} {poet} ${HOME}')
  })

  it.each(['$&', '$1', '$$', "$'", '$`', '{name}', '${name}'])('may be called %s', (name) => {
    expect(freeFormConfig(name, { systemPromptTemplate: 'a {name} b' }).systemPrompt).toBe(`a ${name} b`)
  })

  it('takes skills, steps and inheritance over', () => {
    const rest = { skills: ['git'], maxSteps: 3, inheritancePolicy: { inheritTools: ['bash'] } }
    expect(freeFormConfig('poet', { enabled: true, systemPromptTemplate: '', ...rest })).toEqual({
      name: 'poet',
      systemPrompt: '',
      ...rest,
    })
  })
})
