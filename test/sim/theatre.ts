import {
  agent,
  defineComponent,
  type JsonObject,
  scripted,
  standardSystems,
  type System,
  textOf,
  type ToolDeclaration,
  World,
} from 'entia'
import { Outcome, OwnedBy, Requested, ToolCall } from 'entia/components'
import { z } from 'zod'
import { law, type SimulateOptions, standardLaws } from '../../src/sim/index.ts'

/** `given`: how many seats were given away. */
const House = defineComponent('House', z.strictObject({ owners: z.record(z.string(), z.int()), given: z.int() }))

const takeSeat: ToolDeclaration = {
  name: 'take_seat',
  description: 'Takes a seat.',
  inputSchema: z.toJSONSchema(z.object({})) as JsonObject,
  restart: 'pure',
  world: true,
}

/** Gives seats away. It looks for a free one once for all calls of a tick, so two calls of one tick get the same. */
function hastyUsher(): System {
  return {
    name: 'hasty-usher',
    // Behind those who read replies, before those who take results.
    priority: -75,
    wakes: [[Requested, House]],
    run(world) {
      for (const house of world.query(House)) {
        const { owners } = world.read(house, House)
        const free = String(Object.keys(owners).length)
        for (const call of world.query(ToolCall, Requested)) {
          if (world.read(call, ToolCall).name !== takeSeat.name) continue
          world.remove(call, Requested)
          const { given, owners: before } = world.read(house, House)
          const { agent: owner } = world.read(call, OwnedBy)
          world.patch(house, House, { owners: { ...before, [free]: owner }, given: given + 1 })
          world.add(call, Outcome({ ok: true, value: { content: [{ type: 'text', text: free }], isError: false } }))
          world.requestTick()
        }
      }
    },
  }
}

const guest = scripted(({ messages }) =>
  messages.at(-1)?.role === 'tool'
    ? `I sit on ${textOf(messages.at(-1))}.`
    : { toolCalls: [{ name: 'take_seat', arguments: {} }] },
)

/** Guests who each take a seat, and an usher who is wrong only where two of them ask in one tick. */
export function theatre(guests: number, model = guest): SimulateOptions {
  return {
    world: (seed) => {
      const world = new World({ name: 'theatre', seed, systems: [...standardSystems(), hastyUsher()] })
      world.spawn(House({ owners: {}, given: 0 }))
      const one = { model: 'guest/x', tools: [takeSeat], messages: 'Sit down.' }
      for (let count = 0; count < guests; count++) world.spawn(...agent(one))
      return world
    },
    components: [House],
    models: { guest: model },
    laws: [...standardLaws, nobodyOnAnother],
  }
}

const nobodyOnAnother = law('nobody sits on another', {
  ticked: ({ world }) => {
    const [house] = world.query(House)
    if (house === undefined) return true
    const { given, owners } = world.read(house, House)
    return Object.keys(owners).length === given || `${given} guests sit on ${Object.keys(owners).length} seats`
  },
})
