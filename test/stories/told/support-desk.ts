import { agent, defineTool, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { law, service, type SimulateOptions, standardLaws } from 'entia/sim'
import { z } from 'zod'
import { calls } from './spoken.ts'
import { everyFleetFault } from './every-fault.ts'

const customers = [1, 2, 3, 4].map((number) => `desk/${number}`)

/** Where parcels are looked for, and what is paid back. */
const shop = service(
  () => ({ paid: [] as string[] }),
  ({ request }: { readonly request: string }, state) => state.paid.push(request),
)

const track = defineTool({
  name: 'track',
  description: 'Looks where a parcel is.',
  input: z.object({ parcel: z.string() }),
  restart: 'pure',
  run: ({ parcel }) => `${parcel} left the house`,
})
const payBack = {
  name: 'pay_back',
  description: 'Pays a customer back.',
  input: z.object({ parcel: z.string() }),
  restart: 'once',
} as const

const paidOnce = law<{ shop: { readonly paid: readonly string[] } }>('no parcel is paid back twice', {
  ticked: ({ services }) => new Set(services.shop.paid).size === services.shop.paid.length,
})

/** A desk with a world for each customer, who write from outside at any time while processes come and go. */
export default {
  processes: 3,
  maxSessions: 3,
  letters: customers.flatMap((to, index) =>
    ['Where is it?', 'It is broken.', 'Thanks.'].map((say) => ({ to, say: `${say} (parcel ${index})` })),
  ),
  services: { shop },
  tools: ({ shop: own }) => [
    track,
    defineTool({ ...payBack, run: async ({ parcel }, context) => `paid ${await own.call(parcel, context)}` }),
  ],
  models: {
    desk: scripted(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'user') return `Done: ${last === undefined ? '' : textOf(last).slice(0, 40)}`
      const said = textOf(last)
      if (said.includes('Where')) return calls(['track', { parcel: said }])
      if (said.includes('broken')) {
        return calls(['subagent', { category: 'payer', prompt: `Pay back ${messages.length} ${said}` }])
      }
      return 'You are welcome.'
    }),
    payer: scripted(({ messages }) => {
      // After an empty reply, the last message is a note of the runtime, which may come again.
      const task = textOf(messages.find(({ role }) => role === 'user'))
      const isAsked = messages.at(-1)?.role === 'user'
      return isAsked ? calls(['pay_back', { parcel: `${messages.length} ${task}` }]) : 'It is paid.'
    }),
  },
  world(seed: number, name = 'desk') {
    const world = new World({ name, seed, systems: standardSystems() })
    const tools = [track, defineTool({ ...payBack, run: () => '' })]
    const payer = { name: 'payer', model: 'payer/x', tools: ['pay_back'] }
    world.spawn(...agent({ model: 'desk/x', tools }), SubagentRegistry({ subagents: { payer } }))
    return world
  },
  faults: everyFleetFault,
  laws: [...standardLaws, paidOnce],
} satisfies SimulateOptions<{ shop: typeof shop }>
