import { agent, defineTool, Limits, Llm, SystemPrompt, World } from 'entia'
import { ToolRegistry } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ a: z.number() }),
  restart: 'pure',
  run: ({ a }) => String(a),
})
const options = { model: 'script/x', system: 'You are terse.', tools: [add], maxSteps: 3 }

describe('agents', () => {
  it('that are made alike share what they hold', () => {
    const world = new World()
    const [one, other] = [world.spawn(...agent(options)), world.spawn(...agent({ ...options, tools: [add] }))]
    expect(world.read(one, Llm)).toBe(world.read(other, Llm))
    expect(world.read(one, SystemPrompt)).toBe(world.read(other, SystemPrompt))
    expect(world.read(one, ToolRegistry)).toBe(world.read(other, ToolRegistry))
    expect(world.read(one, Limits)).toBe(world.read(other, Limits))
    world.patch(one, Llm, { model: 'script/y' })
    expect(world.read(other, Llm).model).toBe('script/x')
  })

  it.for<[string, Partial<typeof options> & Record<string, unknown>]>([
    ['another model', { model: 'script/y' }],
    ['one option more', { temperature: 0 }],
    ['another prompt', { system: 'You are kind.' }],
    ['no tools', { tools: [] }],
    ['another limit', { maxSteps: 4 }],
    ['one limit more', { maxToolCalls: 3 }],
  ])('of which the second has %s have each their own', ([, change]) => {
    const valuesOf = (given: Parameters<typeof agent>[0]) => agent(given).map(({ initial }) => initial)
    const before = valuesOf(options)
    const changed = valuesOf({ ...options, ...change })
    expect(changed).not.toEqual(before)
    expect(valuesOf(options)).toEqual(before)
    expect(valuesOf({ ...options, ...change })).toEqual(changed)
  })

  it('have the declaration that a tool has now, if it was changed since the agent before', () => {
    const declaration = { ...add.declaration, description: 'Adds.' }
    const described = () =>
      agent({ ...options, tools: [{ declaration }] })
        .map(({ initial }) => JSON.stringify(initial))
        .join()
    expect(described()).toContain('"Adds."')
    declaration.description = 'Adds numbers.'
    expect(described()).toContain('"Adds numbers."')
  })
})
