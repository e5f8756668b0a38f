import { agent, defineTool, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { defineFleet } from 'entia/postgres'
import { z } from 'zod'
import { Books } from './books.ts'

// The fleet: the same file in each process. `entia worker examples/fleet/support-desk.ts` is a worker of it too.

const { DATABASE_URL: database = '', DESK_SCHEMA: schema = 'support_desk' } = process.env

export const books = new Books(database, `${schema}_books`)

const findParcel = defineTool({
  name: 'find_parcel',
  description: 'Says where a parcel is.',
  input: z.object({ parcel: z.int() }),
  // It changes nothing: where a worker dies, the next one looks again.
  restart: 'pure',
  run: async ({ parcel }, { sleep }) => {
    await sleep(50)
    return parcel % 5 === 0 ? 'lost' : 'at the post office'
  },
})

const refund = defineTool({
  name: 'refund',
  description: 'Pays the price of a lost parcel back.',
  input: z.object({ parcel: z.int() }),
  // It may run again, under the same key: paid back is once.
  restart: 'keyed',
  run: async ({ parcel }, { key, sleep }) => {
    await books.payBack(parcel, key)
    await sleep(50)
    return 'paid'
  },
})

// Two scripts stand in for models. Each takes a while, as a model does.

/** Has the parcel looked for by a session of its own, and answers. */
const desk = scripted(
  ({ messages }) => {
    const said = messages.map(textOf)
    const last = messages.at(-1)
    if (last?.role === 'tool') return `Dear customer, your parcel ${said.at(-1)}.`
    const parcel = /\d+/.exec(said.at(-1) ?? '')?.[0]
    return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt: `Find parcel ${parcel}.` } }] }
  },
  { latencyMs: 50 },
)

/** Looks for the parcel, and pays back what is lost. */
const clerk = scripted(
  ({ messages }) => {
    const parcel = Number(/\d+/.exec(textOf(messages.at(0)))?.[0])
    const results = messages.filter(({ role }) => role === 'tool').map(textOf)
    if (results.length === 0) return { toolCalls: [{ name: 'find_parcel', arguments: { parcel } }] }
    if (results.at(-1) === 'lost') return { toolCalls: [{ name: 'refund', arguments: { parcel } }] }
    return results.at(-1) === 'paid' ? `${parcel} is lost, and you are paid back` : `${parcel} is ${results.at(-1)}`
  },
  { latencyMs: 50 },
)

/** A customer's own world: all that was ever said to it. */
function customer(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  const tools = ['find_parcel', 'refund']
  world.spawn(
    ...agent({ model: 'script/desk' }),
    SubagentRegistry({ subagents: { clerk: { name: 'clerk', model: 'clerk/any', tools } } }),
  )
  return world
}

export default defineFleet({
  database,
  schema,
  worlds: { customer },
  models: { script: desk, clerk },
  tools: [findParcel, refund],
  maxSessions: 30,
  idleMs: 1_000,
})
