import { defineTool, EntiaError, type ToolContext, type ToolOptions } from 'entia'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { callText, callTool, toolContext } from './calling.ts'

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  restart: 'pure',
  run: ({ a, b }) => a + b,
})

/** Defines a tool of the given options over right ones, and returns what it is refused with. */
function refusal(changes: Record<string, unknown>): EntiaError {
  const options = { name: 'add', description: 'Adds.', input: z.object({}), restart: 'pure', run: () => '', ...changes }
  try {
    defineTool(options as ToolOptions<z.ZodObject>)
  } catch (error) {
    if (error instanceof EntiaError) return error
    throw error
  }
  throw new Error('it was not refused')
}

describe('a tool', () => {
  it('declares name, description, restart class and the JSON Schema of its arguments', () => {
    expect(add.declaration).toEqual({
      name: 'add',
      description: 'Adds two numbers.',
      restart: 'pure',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
    })
  })

  it('declares approval and time limits only where they are set', () => {
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({}),
      restart: 'once',
      approval: true,
      approvalTimeoutMs: 60_000,
      timeoutMs: 1_000,
      run: () => 'paid',
    })
    expect(tool.declaration).toMatchObject({ approval: true, approvalTimeoutMs: 60_000, timeoutMs: 1_000 })
    expect(Object.keys(add.declaration)).not.toContain('approval')
  })

  it('has a declaration that is frozen to its depths and whose keys are sorted', () => {
    const { declaration } = defineTool({
      name: 'find',
      description: 'Finds.',
      input: z.object({ zeta: z.string(), alpha: z.string() }),
      restart: 'pure',
      run: () => '',
    })
    expect(Object.isFrozen(declaration.inputSchema)).toBe(true)
    expect(JSON.stringify(declaration.inputSchema)).toBe(
      '{"properties":{"alpha":{"type":"string"},"zeta":{"type":"string"}},"required":["zeta","alpha"],"type":"object"}',
    )
  })

  it('shows models neither `$schema` nor the bounds that every integer has', () => {
    const { declaration } = defineTool({
      name: 'page',
      description: 'Turns a page.',
      input: z.object({ to: z.int(), from: z.int().min(1) }),
      restart: 'pure',
      run: () => '',
    })
    expect(declaration.inputSchema).toEqual({
      type: 'object',
      properties: { to: { type: 'integer' }, from: { type: 'integer', minimum: 1 } },
      required: ['to', 'from'],
    })
  })

  it('gives its handler what the schema makes of the arguments, typed', async () => {
    const tool = defineTool({
      name: 'repeat',
      description: 'Repeats.',
      input: z.object({ text: z.string().trim(), times: z.int().default(2) }),
      restart: 'pure',
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ text: string; times: number }>()
        return input.text.repeat(input.times)
      },
    })
    expect(tool.declaration.inputSchema['required']).toEqual(['text'])
    expect(await callText(tool, { text: ' ab ' })).toBe('abab')
  })

  it('hands the context on to its handler', async () => {
    let seen: ToolContext | undefined
    const tool = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({}),
      restart: 'keyed',
      run: (_, context) => {
        seen = context
      },
    })
    const context = toolContext({ key: 'key-7', attempt: 3 })
    await tool.call({}, context)
    expect(seen).toBe(context)
  })

  it.each([
    ['an Error', new TypeError('no')],
    ['a text', 'x'],
    ['nothing at all', undefined],
  ])('whose handler throws %s rejects with just that', async (_, thrown) => {
    const tool = defineTool({
      name: 'fail',
      description: 'Fails.',
      input: z.object({}),
      restart: 'pure',
      run: () => {
        // oxlint-disable-next-line typescript/only-throw-error -- handlers are not ours: they throw what they like
        throw thrown
      },
    })
    await expect(callTool(tool, {})).rejects.toBe(thrown)
  })

  it('takes any schema of an object, those of zod mini included', async () => {
    const tool = defineTool({
      name: 'sum',
      description: 'Sums.',
      input: mini.record(mini.string(), mini.number()),
      restart: 'pure',
      run: (prices) => Object.values(prices).reduce((sum, price) => sum + price, 0),
    })
    expect(await callText(tool, { tea: 2, milk: 1 })).toBe('3')
    expect(await callText(tool, { tea: 'two' })).toMatch(/^Error: Invalid arguments for 'sum': tea: /)
  })
})

describe('a call with wrong arguments', () => {
  const order = defineTool({
    name: 'order',
    description: 'Orders.',
    input: z.strictObject({
      item: z.string(),
      size: z.enum(['small', 'large']),
      rows: z.array(z.object({ count: z.int().min(1) })).max(2),
      when: z.union([z.string(), z.boolean()]).optional(),
    }),
    restart: 'once',
    run: () => {
      throw new Error('the handler ran')
    },
  })

  it('never reaches the handler, and names each field and the reason', async () => {
    const output = await callTool(order, { size: 'huge', rows: [{ count: 1 }, { count: 0.5 }] })
    expect(output).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text:
            "Error: Invalid arguments for 'order': item: expected string, received undefined; " +
            'size: Invalid option: expected one of "small"|"large"; rows[1].count: expected int, received number',
        },
      ],
    })
  })

  it('names fields that the tool does not know', async () => {
    const text = await callText(order, { item: 'tea', size: 'small', rows: [], color: 'red', 'a b': 1 })
    expect(text).toBe(
      `Error: Invalid arguments for 'order': color: no such field is known; ["a b"]: no such field is known`,
    )
  })

  it('gives all reasons why a value fits no branch of a union', async () => {
    const text = await callText(order, { item: 'tea', size: 'small', rows: [], when: 3 })
    expect(text).toBe(
      "Error: Invalid arguments for 'order': when: expected string, received number, or expected boolean, received number",
    )
  })

  it('that are no object at all says so', async () => {
    expect(await callText(order, 'tea')).toBe("Error: Invalid arguments for 'order': expected object, received string")
  })

  it('that are wrong in many places tells the first ten', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`field${index}`, 1]))
    const text = await callText(order, { item: 'tea', size: 'small', rows: [], ...many })
    expect(text).toContain('field9: no such field is known; and 20 more')
    expect(text).not.toContain('field10')
  })

  it('is capped like any result', async () => {
    const tool = defineTool({
      name: 'small',
      description: 'Says little.',
      input: z.strictObject({}),
      restart: 'pure',
      maxResultChars: 20,
      run: () => '',
    })
    expect(await callText(tool, { ['x'.repeat(1_000)]: 1 })).toMatch(
      /^Error: Invalid argum\n\[\d+ characters left out\]$/,
    )
  })
})

describe('a definition', () => {
  const args = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  it.each([
    ['a reference', { $ref: '#/$defs/args', $defs: { args } }],
    ['one of several objects', { oneOf: [args, { anyOf: [args, args] }] }],
    ['all of several', { allOf: [args, { required: ['a'] }] }],
  ])('with JSON Schema that is an object by %s is one of an object', (_, input) => {
    const { declaration } = defineTool({ name: 'add', description: 'Adds.', input, restart: 'pure', run: () => 'ok' })
    expect(declaration.inputSchema).toEqual({ ...input, type: 'object' })
  })

  it.each([
    ['a reference to itself', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }],
    ['one of an object and a text', { oneOf: [args, { type: 'string' }] }],
    ['nothing', {}],
  ])('with JSON Schema that is %s is refused', (_, input) => {
    expect(refusal({ input }).message).toContain('cannot be defined: input: ')
  })

  it.each([
    ['a name with blanks', { name: 'add two' }, "Tool 'add two' cannot be defined: name: "],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, 'name: '],
    ['no name', { name: undefined }, 'name: expected string, received undefined'],
    ['an empty description', { description: ' ' }, 'description: expected a text that says what the tool does'],
    ['no restart class', { restart: undefined }, 'restart: Invalid option: expected one of "pure"|"keyed"|"once"'],
    ['the restart class of sessions', { restart: 'resumable' }, 'restart: '],
    ['an option that is not known', { timeout: 5 }, 'timeout: no such field is known'],
    ['a time limit of 0', { timeoutMs: 0 }, 'timeoutMs: '],
    ['a cap that is no whole number', { maxResultChars: 1.5 }, 'maxResultChars: '],
    ['no handler', { run: 'add' }, 'run: expected a function'],
    ['something else than a schema', { input: 'object' }, 'input: expected a zod schema or JSON Schema'],
    [
      'a schema of a text',
      { input: z.string() },
      'input: expected an object schema, got {"type":"string"}; wrap it in z.object',
    ],
    [
      'a schema of one of two objects',
      { input: z.union([z.object({}), z.object({ a: z.string() })]) },
      'expected an object',
    ],
    ['a schema that JSON cannot express', { input: z.object({ at: z.date() }) }, 'input: Date cannot be represented'],
    ['a default that JSON cannot express', { input: z.object({ a: z.any().default(1n) }) }, 'input: '],
  ])('with %s is refused', (_, changes, message) => {
    const error = refusal(changes)
    expect(error.code).toBe('invalid-argument')
    expect(error.message).toContain(message)
  })

  it('that is no object is refused', () => {
    expect(() => defineTool(undefined as unknown as ToolOptions<z.ZodObject>)).toThrow('A tool cannot be defined')
  })
})
