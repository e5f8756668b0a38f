import { agent, defineTool, scripted, standardRetry, standardSystems, textOf, World } from 'entia'
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
