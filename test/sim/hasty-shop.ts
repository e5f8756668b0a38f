import { agent, defineTool, type ModelRequest, scripted, standardSystems, World } from 'entia'
import { z } from 'zod'
import { law, service, type ServiceCaller, type SweepOptions } from '../../src/sim/index.ts'

/** A shop that takes whatever order it is sent, twice if it is sent twice. */
const shop = service(
  () => ({ orders: [] as string[] }),
  ({ request, key }: { readonly request: string; readonly key: string }, { orders }) =>
    orders.push(`${request} (${key})`),
)

interface Shop {
  readonly call: (item: string, caller: ServiceCaller) => Promise<number>
}

/** The mistake: an order is no `pure` thing, since what a restart does again is done twice. */
function orderTool(restart: 'pure' | 'once', { call }: Shop) {
  return defineTool({
    name: 'order',
    description: 'Orders something.',
    input: z.object({ item: z.string() }),
    restart,
    run: async ({ item }, context) => `order ${await call(item, context)}`,
  })
}

const items = ['tea', 'milk', 'bread', 'salt']

/** Orders one item after the other. */
function buyer({ messages }: ModelRequest) {
  const item = items[messages.filter(({ role }) => role === 'tool').length]
  return item === undefined ? 'All is ordered.' : { toolCalls: [{ name: 'order', arguments: { item } }] }
}

export const noOrderTwice = law<{ shop: { orders: string[] } }>('no order is placed twice', ({ services }) => {
  const twice = services.shop.orders.find((order, index, all) => all.indexOf(order) !== index)
  return twice === undefined || `the shop has got "${twice}" twice`
})

const closed: Shop = { call: () => Promise.reject(new Error('The shop is closed.')) }

/** A buyer whose tool is declared to be what the caller says, under crashes and a good deal of noise. */
export function hastyShop(restart: 'pure' | 'once' = 'pure') {
  return {
    services: { shop },
    tools: ({ shop: open }) => [orderTool(restart, open)],
    models: {
      buyer: scripted(buyer, {
        retry: {
          maxAttempts: 5,
          firstDelayMs: 500,
          maxDelayMs: 4_000,
          kinds: ['rate-limited', 'overloaded', 'truncated'],
        },
      }),
    },
    world: (seed) => {
      const world = new World({ name: 'shop', seed, systems: standardSystems() })
      world.spawn(
        ...agent({ model: 'buyer/x', messages: 'Order all that is missing', tools: [orderTool(restart, closed)] }),
      )
      return world
    },
    faults: {
      model: { rateLimited: 0.15, overloaded: 0.15, truncated: 0.1, malformedToolCall: 0.1, unknownTool: 0.05 },
      tool: { throws: 0.1, slow: 0.1 },
      delivery: { reordered: 0.1, late: 0.05 },
      crash: { perTick: 0.02 },
    },
    laws: [noOrderTwice],
    seeds: 2_000,
  } satisfies SweepOptions<{ shop: typeof shop }>
}
