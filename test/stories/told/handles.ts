import { agent, Conversation, defineTool, scripted, standardSystems, textOf, type Tool, World } from 'entia'
import { Handle, Retrieval, Workspace } from 'entia/components'
import { builtinTools } from 'entia/runtime'
import { law, type SimulateOptions, standardLaws } from 'entia/sim'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'

/** A list of so many numbers, a long text, and a value that run_js alone has. */
const tools: Tool[] = [
  ...(['pure', 'keyed', 'once'] as const).map((restart) =>
    defineTool({
      name: `numbers_${restart}`,
      description: 'Gives numbers.',
      input: z.object({ count: z.number() }),
      restart,
      run: async ({ count }, { sleep }) => {
        await sleep(100)
        return Array.from({ length: count }, (_, index) => index + 1)
      },
    }),
  ),
  defineTool({
    name: 'several',
    description: 'Stores several values.',
    input: z.object({}),
    restart: 'pure',
    run: async (_, { handles, sleep }) => {
      const first = await handles?.keep('x'.repeat(1_000))
      await sleep(500)
      return [first, await handles?.keepLive('a function'), await handles?.keep({ done: true })]
    },
  }),
  ...builtinTools({ cwd: '.', tools: ['read_handle'] }),
]

/** A program's own failures are no handles. */
const named = /\.h_\d+/g

const handlesExist = law('no agent reads a handle that there is not', {
  ticked: ({ world }) =>
    world.query(Conversation).every((speaker) => {
      const numbers = new Set(world.referrers(Handle, speaker).map((handle) => world.read(handle, Handle).number))
      const results = world
        .read(speaker, Conversation)
        .filter((message) => message.role === 'tool' && message.isError !== true)
      const names = results.flatMap((message) => textOf(message).match(named) ?? [])
      return names.every((name) => numbers.has(Number(name.slice(3))))
    }),
})

const readsSucceed = law('a list of 60 numbers is read back whole', {
  finished: ({ worlds }) =>
    [...worlds.values()].every(({ world }) =>
      world.query(Conversation).every((speaker) => {
        const messages = world.read(speaker, Conversation)
        const shown = messages.filter((message) => message.role === 'tool' && message.name === 'read_handle')
        return shown.every((message) => !textOf(message).startsWith('Error: the value of'))
      }),
    ),
})

/** Two agents that store values in calls of every restart class side by side, and read them back. */
export default {
  tools: () => tools,
  models: {
    clerk: scripted((request) => {
      const round = spoken(request)
      if (round >= 6) return 'Done.'
      const known = JSON.stringify(request.messages).match(named)?.at(-1) ?? '.h_001'
      if (round % 2 === 1)
        return calls(['read_handle', { handle: known, op: 'print' }], ['read_handle', { handle: '.h_001' }])
      return calls(
        ['numbers_pure', { count: 60 }],
        ['numbers_keyed', { count: 61 }],
        ['numbers_once', { count: 62 }],
        ['several', {}],
      )
    }),
  },
  world(seed) {
    const world = new World({ name: 'clerks', seed, systems: standardSystems() })
    for (const task of ['one', 'two']) {
      world.add(world.spawn(...agent({ model: 'clerk/x', tools, messages: task }), Retrieval({})), Workspace)
    }
    return world
  },
  faults: everyFault,
  laws: [...standardLaws, handlesExist, readsSucceed],
} satisfies SimulateOptions
