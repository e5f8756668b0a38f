import { agent, defineTool, LastTurn, scripted, standardSystems, textOf, World } from 'entia'
import { law, simulatedUser, service, type SimulateOptions, standardLaws } from 'entia/sim'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'
import { calls } from './spoken.ts'

/** An inbox in which each letter is to be filed once. */
const archive = service(
  () => ({ filed: [] as string[] }),
  ({ request }: { readonly request: string }, state) => state.filed.push(request),
)

const shape = { name: 'file', description: 'Files a letter.', input: z.object({ letter: z.string() }) }

const filedOnce = law<{ archive: { readonly filed: readonly string[] } }>('no letter is filed twice', {
  ticked: ({ services }) => new Set(services.archive.filed).size === services.archive.filed.length,
})

const everyTurnEnds = law('every turn comes to an end', {
  finished: ({ worlds }) => [...worlds.values()].every(({ world }) => world.get(1, LastTurn) !== undefined),
})

/** One agent, to whom somebody hands letter after letter, also while it is at work. */
export default {
  services: { archive },
  tools: ({ archive: own }) => [
    defineTool({
      ...shape,
      restart: 'once',
      run: async ({ letter }, context) => `filed as number ${await own.call(letter, context)}`,
    }),
  ],
  models: {
    clerk: scripted(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'user') return 'Next, please.'
      return calls(['file', { letter: `${messages.length}: ${textOf(last)}` }])
    }),
  },
  world(seed) {
    const world = new World({ name: 'office', seed, systems: standardSystems() })
    const file = defineTool({ ...shape, restart: 'once', run: () => '' })
    world.spawn(...agent({ model: 'clerk/x', system: 'You file letters.', tools: [file], messages: 'Letter 0' }))
    return world
  },
  users: {
    ann: simulatedUser((seen) =>
      seen.type === 'tool-called' && seen.tick < 30 ? { say: `Letter ${seen.tick}` } : undefined,
    ),
  },
  faults: everyFault,
  laws: [...standardLaws, filedOnce, everyTurnEnds],
} satisfies SimulateOptions<{ archive: typeof archive }>
