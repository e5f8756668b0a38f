import {
  agent,
  ask,
  defineTool,
  type EntiaError,
  outputSchema,
  Runner,
  scripted,
  type StandardSchema,
  standardSystems,
  World,
} from 'entia'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { callText } from './calling.ts'

interface Order {
  readonly count: number
}

const asJson = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { count: { type: 'string' } },
  required: ['count'],
}

/** A schema of a maker of the test: a text of digits becomes a number. Like that of some makers, it is a function. */
function orders(changes: Record<string, unknown> = {}): StandardSchema<Order> {
  const validate = (value: unknown): unknown => {
    const count = Number(Object(value).count)
    if (Number.isInteger(count)) return { value: { count } }
    return { issues: [{ message: 'must be digits', path: [{ key: 'count' }] }, { message: 'is no order' }] }
  }
  const part = { version: 1, vendor: 'acme', validate, jsonSchema: { input: () => asJson }, ...changes }
  return Object.assign(() => undefined, { '~standard': part }) as unknown as StandardSchema<Order>
}

const tool = (input: StandardSchema<Order>) =>
  defineTool({
    name: 'order',
    description: 'Orders.',
    input,
    restart: 'pure',
    run(order) {
      expectTypeOf(order).toEqualTypeOf<Order>()
      return order.count + 1
    },
  })

const refusal = (make: () => unknown): Partial<EntiaError> => {
  try {
    return { message: `it was not refused: ${String(make())}` }
  } catch (error) {
    return error as EntiaError
  }
}

describe('a schema of any maker that keeps to Standard Schema', () => {
  it('is declared as the same schema of zod is', () => {
    const zods = defineTool({
      ...{ name: 'order', description: 'Orders.', restart: 'pure' as const },
      input: z.object({ count: z.string() }),
      run: () => '',
    })
    expect(tool(orders()).declaration).toEqual(zods.declaration)
  })

  it.each<[string, StandardSchema<Order>]>([
    ['at once', orders()],
    ['after a while', orders({ validate: async (value: unknown) => orders()['~standard'].validate(value) })],
  ])('gives a tool what it makes of the arguments, or the model what is wrong with them, %s', async (_, schema) => {
    expect(await callText(tool(schema), { count: '41' })).toBe('42')
    expect(await callText(tool(schema), { count: 'many' })).toBe(
      "Error: Invalid arguments for 'order': count: must be digits; is no order",
    )
  })

  it('is asked for an older draft where its maker does not know the newest', () => {
    const input = ({ target }: { readonly target: string }): unknown => {
      if (target !== 'draft-07') throw new Error('unknown draft')
      return asJson
    }
    expect(tool(orders({ jsonSchema: { input } })).declaration.inputSchema['type']).toBe('object')
  })

  it.each([
    [
      'gives no JSON Schema',
      { jsonSchema: undefined },
      /got one of acme that does not: wrap it, as toStandardJsonSchema/,
    ],
    [
      'cannot be said in JSON Schema',
      {
        jsonSchema: {
          input: () => {
            throw new Error('no dates')
          },
        },
      },
      /input: no dates/,
    ],
    ['is of no object', { jsonSchema: { input: () => ({ type: 'string' }) } }, /expected an object schema/],
  ])('is refused where it %s', (_, changes, message) => {
    const refused = refusal(() => tool(orders(changes)))
    expect(refused).toMatchObject({ code: 'invalid-argument', message: expect.stringMatching(message) })
  })
})

describe('an answer as a schema of any maker describes it', () => {
  async function asked(replies: readonly string[], output: StandardSchema<Order>) {
    const world = new World({ systems: standardSystems() })
    const clerk = world.spawn(...agent({ model: 'clerk/x', output }))
    const script = scripted(({ messages }) => replies[messages.filter(({ role }) => role === 'assistant').length] ?? '')
    const runner = new Runner(world, { models: { clerk: script } })
    onTestFinished(() => runner.stop())
    await runner.start()
    return ask(runner, clerk, 'Order.', { output })
  }

  it.each<[string, StandardSchema<Order>]>([
    ['at once', orders()],
    ['after a while', orders({ validate: async (value: unknown) => orders()['~standard'].validate(value) })],
  ])('is what it makes of it, %s, after one repair of what is no such form', async (_, output) => {
    const { output: order, stop } = await asked(['{"count": 5}', '{"count": "5"}'], output)
    expectTypeOf(order).toEqualTypeOf<Order | undefined>()
    expect([stop, order]).toEqual(['done', { count: 5 }])
  })

  it('has failed where it does not fit', async () => {
    await expect(asked(['{"count": "many"}'], orders())).rejects.toMatchObject({
      code: 'turn-failed',
      message: expect.stringContaining('does not fit its schema: count: must be digits; is no order') as string,
    })
  })

  it('is asked for by the same component as one of zod', () => {
    expect(outputSchema(orders())).toEqual(outputSchema(z.object({ count: z.string() })))
  })
})
