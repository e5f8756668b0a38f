import { agent, defineTool, type EffectKind, LastTurn, scripted, standardSystems, textOf, World } from 'entia'
import { law, service, simulatedUser, type SimulateOptions, standardLaws } from 'entia/sim'
import { Policy } from 'entia/runtime'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'
import { calls } from './spoken.ts'

/** An inbox in which each letter is to be filed once at most, and none that is denied. */
const archive = service(
  () => ({ filed: [] as string[] }),
  ({ request }: { readonly request: string }, state) => state.filed.push(request),
)

const file = {
  name: 'file',
  description: 'Files a letter.',
  input: z.object({ path: z.string() }),
  restart: 'once',
} as const
const look = {
  name: 'look',
  description: 'Reads a letter.',
  input: z.object({ path: z.string() }),
  restart: 'pure',
} as const

const filedOnce = law<{ archive: { readonly filed: readonly string[] } }>('no letter is filed twice', {
  ticked: ({ services }) => new Set(services.archive.filed).size === services.archive.filed.length,
})

const noneDenied = law<{ archive: { readonly filed: readonly string[] } }>(
  'no letter is filed that the policy denies',
  {
    ticked: ({ services }) => services.archive.filed.every((letter) => !letter.includes('secret')),
  },
)

const everyTurnEnds = law('every turn comes to an end', {
  finished: ({ worlds }) => [...worlds.values()].every(({ world }) => world.get(1, LastTurn) !== undefined),
})

/** Looks nothing up: the disk is no part of a simulation. */
const inspect: EffectKind = {
  prepare:
    () =>
    async ({ sleep }) => {
      await sleep(20)
      return { ok: true, value: { facts: { real: {} }, pathStyle: 'posix' } }
    },
}

/** One agent whose calls are judged: it reads and files a letter in each step, and its user is asked about the filing. */
export default {
  services: { archive },
  effects: { inspect },
  tools: ({ archive: own }) => [
    defineTool({
      ...file,
      operation: 'write',
      paths: ['path'],
      run: async ({ path }, context) => `filed as number ${await own.call(path, context)}`,
    }),
    defineTool({
      ...look,
      operation: 'read',
      paths: ['path'],
      run: async ({ path }, { sleep }) => sleep(5).then(() => path),
    }),
  ],
  models: {
    clerk: scripted(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'user') return 'Next, please.'
      const path = `${messages.length} ${textOf(last)}`
      return calls(['look', { path }], ['file', { path }], ['file', { path: `~/secret/${path}` }])
    }),
  },
  world(seed) {
    const world = new World({ name: 'office', seed, systems: standardSystems() })
    const tools = [
      defineTool({ ...look, operation: 'read', paths: ['path'], run: () => '' }),
      defineTool({ ...file, operation: 'write', paths: ['path'], run: () => '' }),
    ]
    const spawned = world.spawn(...agent({ model: 'clerk/x', tools, messages: 'Letter 0' }))
    world.add(
      spawned,
      Policy({ channel: 'cli', cwd: '/home/ann/office', home: '/home/ann', config: { deniedPaths: ['~/secret'] } }),
    )
    return world
  },
  users: {
    ann: simulatedUser((seen) => {
      if (seen.type === 'approval-requested') return { approve: true }
      return seen.type === 'turn-ended' && seen.tick < 30 ? { say: `Letter ${seen.tick}` } : undefined
    }),
  },
  faults: everyFault,
  laws: [...standardLaws, filedOnce, noneDenied, everyTurnEnds],
} satisfies SimulateOptions<{ archive: typeof archive }>
