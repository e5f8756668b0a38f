import { agent, defineTool, scripted, standardSystems, textOf, World } from 'entia'
import { standardRetry } from 'entia/models'
import { law, service, type SimulateOptions, standardLaws, sweep } from 'entia/sim'
import { z } from 'zod'

// A shop assistant orders what it is asked for, and is tested as databases are: many runs under seeds, each with other
// latencies, failures and crashes. There is a bug in here that no run without a crash would ever show.

/** The warehouse stands outside of all worlds: what was ordered stays ordered, whoever crashes. */
const warehouse = service(
  () => ({ orders: [] as string[], keys: new Set<string>() }),
  ({ request: { item, once }, key }: { request: { item: string; once: boolean }; key: string }, state) => {
    if (once && state.keys.has(key)) return 'ordered before'
    state.keys.add(key)
    state.orders.push(item)
    return `order ${state.orders.length}`
  },
)
type Warehouse = ReturnType<typeof warehouse.start>

/** `pure` says: a restart may simply run it again. Ordering is nothing of the kind. `keyed` would be right. */
function orderTool(restart: 'pure' | 'keyed', shelf?: Warehouse) {
  return defineTool({
    name: 'order',
    description: 'Orders an item.',
    input: z.object({ item: z.string() }),
    restart,
    run: ({ item }, context) => shelf?.call({ item, once: restart === 'keyed' }, context) ?? 'closed',
  })
}

const nothingTwice = law<{ warehouse: { orders: readonly string[] } }>('nothing is ordered twice', ({ services }) => {
  const { orders } = services.warehouse
  return new Set(orders).size === orders.length || `ordered: ${orders.join(', ')}`
})

const assistant = scripted(
  ({ messages }) => {
    const answered = messages.filter(({ role }) => role === 'tool').length
    const item = textOf(messages.at(0)).split(', ')[answered]
    return item === undefined ? 'All is ordered.' : { toolCalls: [{ name: 'order', arguments: { item } }] }
  },
  { retry: standardRetry },
)

function shop(restart: 'pure' | 'keyed') {
  return {
    services: { warehouse },
    tools: (outside) => [orderTool(restart, outside.warehouse)],
    models: { script: assistant },
    world(seed) {
      const world = new World({ name: 'shop', seed, systems: standardSystems() })
      world.spawn(...agent({ model: 'script/x', tools: [orderTool(restart)], messages: 'tea, milk, honey' }))
      return world
    },
    faults: {
      model: { overloaded: 0.2, truncated: 0.1 },
      tool: { throwsLate: 0.1, slow: 0.2 },
      delivery: { duplicated: 0.2, late: 0.1 },
      crash: { perTick: 0.02 },
    },
    laws: [nothingTwice, ...standardLaws],
  } satisfies SimulateOptions<{ warehouse: typeof warehouse }>
}

const planted = await sweep({ ...shop('pure'), seeds: 500 })
console.log(planted.failure?.report)

const mended = await sweep({ ...shop('keyed'), seeds: 500 })
console.log(
  `\nWith restart: 'keyed', ${mended.runs} runs with ${mended.crashes > 50 ? 'many' : 'few'} crashes: all laws kept.`,
)
if (planted.ok || !mended.ok) throw new Error(mended.failure?.report ?? 'The bug was not found.')

/*
Prints:
A law was broken: nothing is ordered twice
  seed   28
  where  world shop, tick 8, at 71,693 ms of world time
  found  ordered: tea, milk, honey, honey

Last messages in world shop
  agent 1, after 1 other messages
    assistant  calls order({"item":"tea"})
    tool       order: order 1
    assistant  calls order({"item":"milk"})
    tool       order: order 2
    assistant  calls order({"item":"honey"})
    tool       order: order 4

Faults that struck, in order
  1. tool.slow                at shop tool 1, 40,797 ms
  2. delivery.late            at shop outcome 2, 20,756 ms
  3. delivery.late            at shop outcome 4, 5,206 ms
  4. crash.beforeCommit       at store commit 8
  5. model.overloaded         at shop model 4

1 of 5 is enough, with shorter latencies: found in 12 runs, the last of which confirms it
  1. crash.beforeCommit       at store commit 4
  It is broken in world shop at tick 4: ordered: tea, tea

A test to paste

import { simulate } from 'entia/sim'
import { expect, it } from 'vitest'

it('keeps "nothing is ordered twice" under seed 28', async () => {
  const result = await simulate({
    // Here go your own options: services, tools, models, world, laws.
    seed: 28,
    latencyMs: { model: [0, 0], tool: [0, 0] },
    faults: [
      { what: 'crash.beforeCommit', at: 'store commit 4' },
    ],
  })
  expect(result.violation).toBeUndefined()
  expect(result.ok).toBe(true)
})

With restart: 'keyed', 500 runs with many crashes: all laws kept.
*/
