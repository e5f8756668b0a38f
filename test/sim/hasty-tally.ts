import {
  agent,
  defineComponent,
  defineTool,
  type Input,
  scripted,
  standardSystems,
  SubagentRegistry,
  type System,
  World,
} from 'entia'
import { SubagentSession, ToolCall } from 'entia/components'
import { z } from 'zod'
import { law, type SimulateOptions, standardLaws } from '../../src/sim/index.ts'

/** How much arrived, and what a hasty system has counted of it. */
const Tally = defineComponent('Tally', z.strictObject({ arrived: z.int(), counted: z.int() }))

/** Reads the tally once for all that arrives in a tick, so of two arrivals it counts one. */
function hastyTally(isMeant: (world: World, input: Input) => boolean): System {
  return {
    name: 'hasty-tally',
    // Ahead of those that take what arrives.
    priority: -110,
    wakes: ['message', 'outcome'],
    run(world) {
      for (const tally of world.query(Tally)) {
        const { counted } = world.read(tally, Tally)
        for (const input of world.inputs) {
          if (!isMeant(world, input)) continue
          world.patch(tally, Tally, { arrived: world.read(tally, Tally).arrived + 1, counted: counted + 1 })
        }
      }
    },
  }
}

const allCounted = law('all that arrives is counted', {
  ticked: ({ world }) =>
    world.query(Tally).every((tally) => {
      const { arrived, counted } = world.read(tally, Tally)
      return arrived === counted
    }),
})

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'Seen.',
})
const scout = { name: 'scout', model: 'scout/x' }

function isOutcomeOf(token: typeof SubagentSession | typeof ToolCall) {
  return (world: World, input: Input): boolean => {
    const { effect, kind } = input as Input & { readonly effect?: number }
    return kind === 'outcome' && effect !== undefined && world.has(effect, token)
  }
}

function story(
  isMeant: (world: World, input: Input) => boolean,
  toolCalls: readonly { readonly name: string; readonly arguments: object }[],
  message: string | undefined,
): SimulateOptions {
  return {
    world: (seed, name = 'office') => {
      const world = new World({ name, seed, systems: [...standardSystems(), hastyTally(isMeant)] })
      world.spawn(Tally({ arrived: 0, counted: 0 }))
      const one = agent({ model: 'lead/x', tools: [look], ...(message !== undefined && { messages: message }) })
      world.spawn(...one, SubagentRegistry({ subagents: { scout } }))
      return world
    },
    components: [Tally],
    tools: [look],
    models: {
      lead: scripted(({ messages }) =>
        toolCalls.length > 0 && messages.length === 1 ? { toolCalls: toolCalls as never } : 'Done.',
      ),
      scout: scripted(() => 'Seen.'),
    },
    laws: [...standardLaws, allCounted],
  }
}

const launch = { name: 'subagent', arguments: { category: 'scout', prompt: 'Look', background: true } }
const call = { name: 'look', arguments: {} }

/** Two of each arrive close to one another, and each is counted by a system that is wrong where they arrive in one tick. */
export const hastyTallies: Readonly<Record<string, SimulateOptions>> = {
  'results of tools': story(isOutcomeOf(ToolCall), [call, call], 'Go'),
  'ends of sessions': story(isOutcomeOf(SubagentSession), [launch, launch], 'Go'),
  letters: {
    ...story((_, { kind }) => kind === 'message', [], undefined),
    processes: 3,
    letters: ['One.', 'Two.'].map((say) => ({ to: 'office', say })),
  },
}
