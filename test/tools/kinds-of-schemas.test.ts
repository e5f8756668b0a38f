import { agent, defineComponent, defineTool, EntiaError, outputSchema } from 'entia'
import { OutputSchema } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z as z3 } from 'zod/v3'
import { callText } from './calling.ts'

const any = (value: unknown): never => value as never
const tool = (input: never) => defineTool({ name: 't', description: 'A tool.', input, restart: 'pure', run: () => '' })

describe('a tool under JSON Schema', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
    required: ['city'],
    additionalProperties: false,
  } as const
  const weather = defineTool({
    name: 'weather',
    description: 'Says the weather.',
    input: schema,
    restart: 'pure',
    run: ({ city }) => `Rain in ${JSON.stringify(city)}`,
  })

  it('declares it as it is', () => {
    expect(weather.declaration.inputSchema).toEqual(schema)
  })

  it('gets the arguments as they are, once they are right', async () => {
    const told = (input: Parameters<typeof callText>[1]) => callText(weather, input)
    expect(await told({ city: 'Oslo' })).toContain('Rain in "Oslo"')
    expect(await told({ city: 7, days: 0 })).toMatch(/Invalid arguments for 'weather'.*city.*days/)
    expect(await told({ city: 'Oslo', shoe: 1 })).toContain('shoe')
  })
})

describe('a schema', () => {
  it.for<[string, () => unknown, ...string[]]>([
    ['of zod 3 in a tool', () => tool(any(z3.object({ a: z3.string() }))), 'zod 3', 'zod 4'],
    ['of zod 3 in an output', () => outputSchema(any(z3.object({}))), 'outputSchema', 'zod 3', 'zod 4'],
    ['of zod 3 in an agent', () => agent({ model: 'script/x', output: any(z3.object({})) }), 'zod 3', 'zod 4'],
    ['of zod 3 in a component', () => defineComponent('Odd', any(z3.object({}))), 'Odd', 'zod 3', 'zod 4'],
    ['that is a text', () => tool(any('object')), "'object'", 'JSON Schema'],
    ['that is no object', () => tool(any({ type: 'string' })), 'object schema'],
    ['that cannot be read', () => tool(any({ type: 'nonsense' })), 'cannot be read'],
  ])('%s is refused with a sentence', ([, make, ...parts]) => {
    expect(make).toThrow(EntiaError)
    for (const part of parts) expect(make).toThrow(part)
  })

  it('that is JSON Schema asks for a final answer of its form', () => {
    const { initial } = outputSchema({ type: 'object', properties: { a: { type: 'string' } } })
    expect(initial).toEqual(OutputSchema({ schema: { type: 'object', properties: { a: { type: 'string' } } } }).initial)
  })
})
