import { agent, defineTool, type ModelRequest, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { z } from 'zod'
import { service, type ServiceCaller, type SimulateOptions } from '../../src/sim/index.ts'

/** A post office: what was sent stays sent. */
const post = service(
  () => ({ letters: [] as string[] }),
  ({ request }: { readonly request: string }, state) => state.letters.push(request),
)

const look = defineTool({
  name: 'look',
  description: 'Looks somewhere.',
  input: z.object({ at: z.string() }),
  restart: 'pure',
  run: ({ at }) => `nothing at ${at}`,
})

/** @param office takes the letters */
function sendTool(office: { call(letter: string, caller: ServiceCaller): Promise<number> }) {
  return defineTool({
    name: 'send',
    description: 'Sends a letter.',
    input: z.object({ letter: z.string() }),
    restart: 'once',
    run: async ({ letter }, context) => `letter ${await office.call(letter, context)}`,
  })
}

/** What each agent does, by how often it has spoken. */
function lead({ messages }: ModelRequest) {
  const spoken = messages.filter(({ role }) => role === 'assistant').length
  const delegate = (prompt: string) => ({
    name: 'subagent',
    arguments: { category: 'scout', prompt, background: true },
  })
  if (spoken === 0) return { toolCalls: [delegate('alpha'), delegate('beta')] }
  if (spoken === 1) return { toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all' } }] }
  if (spoken === 2) return { toolCalls: [{ name: 'send', arguments: { letter: 'all is quiet' } }] }
  return 'The letter is sent.'
}

function scout({ messages }: ModelRequest) {
  const task = textOf(messages.at(0))
  if (messages.filter(({ role }) => role === 'tool').length > 0) return `Seen ${task}.`
  return { toolCalls: ['north', 'south'].map((at) => ({ name: 'look', arguments: { at } })) }
}

/** The world of the team: what it is made of needs no office. */
export function teamWorld(seed: number, systems = standardSystems()): World {
  const world = new World({ name: 'team', seed, systems })
  const scouts = { scout: { name: 'scout', model: 'scout/x', tools: ['look'] } }
  const tools = [sendTool({ call: () => Promise.reject(new Error('There is no office.')) })]
  world.spawn(...agent({ model: 'lead/x', messages: 'Go', tools }), SubagentRegistry({ subagents: scouts }))
  return world
}

/** A lead that sends two scouts, sleeps until they are back, and writes a letter, which goes out once at most. */
export const smallTeam = {
  services: { post },
  tools: ({ post: office }) => [look, sendTool(office)],
  models: {
    lead: scripted(lead, {
      retry: { maxAttempts: 4, firstDelayMs: 500, maxDelayMs: 4_000, kinds: ['rate-limited', 'overloaded'] },
    }),
    scout: scripted(scout),
  },
  world: (seed) => teamWorld(seed),
} satisfies SimulateOptions<{ post: typeof post }>
