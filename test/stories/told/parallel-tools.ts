import { agent, Conversation, defineTool, scripted, standardSystems, type Tool, World } from 'entia'
import { law, simulatedUser, service, type ServiceCaller, type SimulateOptions, standardLaws } from 'entia/sim'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'

/** Seats, each booked once a key, and letters, which cannot be taken back. */
const town = service(
  () => ({ seats: new Map<string, number>(), letters: [] as string[] }),
  ({ request, key }: { readonly request: { seat?: number; letter?: string }; readonly key: string }, state) => {
    if (request.seat !== undefined) state.seats.set(key, request.seat)
    if (request.letter !== undefined) state.letters.push(request.letter)
    return state.letters.length
  },
)
type Town = { call(request: { seat?: number; letter?: string }, caller: ServiceCaller): Promise<number> }

function tools(own: Town): Tool[] {
  return [
    defineTool({
      name: 'look_up',
      description: 'Looks a word up.',
      input: z.object({ word: z.string() }),
      restart: 'pure',
      run: ({ word }) => `${word} means ${word.toUpperCase()}`,
    }),
    defineTool({
      name: 'book',
      description: 'Books a seat, once a key.',
      input: z.object({ seat: z.number() }),
      restart: 'keyed',
      run: async ({ seat }, context) => {
        await own.call({ seat }, context)
        return `seat ${seat} is booked`
      },
    }),
    defineTool({
      name: 'send',
      description: 'Sends a letter.',
      input: z.object({ letter: z.string() }),
      restart: 'once',
      approval: true,
      approvalTimeoutMs: 60_000,
      run: async ({ letter }, context) => {
        await own.call({ letter }, context)
        return `sent ${letter}`
      },
    }),
  ]
}

const lettersOnce = law<{ town: { readonly letters: readonly string[] } }>('no letter goes out twice', {
  ticked: ({ services }) => new Set(services.town.letters).size === services.town.letters.length,
})

const resultsStand = law('every agent has an answer to every call', {
  finished: ({ worlds }) =>
    [...worlds.values()].every(({ world }) =>
      world.query(Conversation).every((speaker) => {
        const messages = world.read(speaker, Conversation)
        const asked = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool-call'))
        return asked.length === messages.filter(({ role }) => role === 'tool').length
      }),
    ),
})

/** Two agents that make calls of every restart class side by side; a user agrees to some of them. */
export default {
  services: { town },
  tools: ({ town: own }) => tools(own),
  models: {
    clerk: scripted((request) => {
      const round = spoken(request)
      const who = JSON.stringify(request.messages.at(0)?.content)
      if (round >= 3) return `Done after ${request.messages.length} messages.`
      return calls(
        ['look_up', { word: 'a'.repeat(5 - round) }],
        ['send', { letter: `${who} ${request.messages.length}` }],
        ['book', { seat: round }],
        ['no_such_tool', {}],
      )
    }),
  },
  world(seed) {
    const world = new World({ name: 'clerks', seed, systems: standardSystems() })
    const offline = tools({ call: () => Promise.reject(new Error('There is no town.')) })
    for (const task of ['one', 'two']) world.spawn(...agent({ model: 'clerk/x', tools: offline, messages: task }))
    return world
  },
  users: {
    eve: simulatedUser((seen) =>
      seen.type === 'approval-requested' ? { approve: seen.tick % 3 !== 0, reason: 'As I please.' } : undefined,
    ),
  },
  faults: everyFault,
  laws: [...standardLaws, lettersOnce, resultsStand],
} satisfies SimulateOptions<{ town: typeof town }>
