import { agent, defineTool, type Agent, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { defineFleet, type Fleet, type FleetOptions } from 'entia/postgres'
import { z } from 'zod'

/** Sessions that a question to a desk makes. */
export const jobsPerQuestion = 10

const work = defineTool({
  name: 'work',
  description: 'Does a job.',
  input: z.object({ job: z.int() }),
  restart: 'pure',
  run: ({ job }) => `Job ${job} is done.`,
})

/** Of a session: two model calls and a tool call, none of which takes time. */
const clerk = scripted(({ messages }) =>
  messages.length === 1 ? { toolCalls: [{ name: 'work', arguments: { job: 1 } }] } : 'Done.',
)

/** Has all jobs done by sessions, and answers once they have ended. */
const desk = scripted(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return 'All done.'
  const jobs = Number(textOf(messages.at(-1)))
  return {
    toolCalls: Array.from({ length: jobs }, (_, job) => ({
      name: 'subagent',
      arguments: { category: 'clerk', prompt: `Job ${job}.` },
    })),
  }
})

/** A model that takes its time, for sessions that hold their slots. */
const slowClerk = scripted(() => 'Done.', { latencyMs: 200 })

export const parts = { models: { desk, clerk, slow: slowClerk }, tools: [work] }

export function makeDesk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  const model = name.includes('slow') ? 'slow/any' : 'clerk/any'
  world.spawn(
    ...agent({ model: 'desk/any', maxToolCalls: 1_000 }),
    SubagentRegistry({ subagents: { clerk: { name: 'clerk', model, tools: ['work'] } } }),
  )
  return world
}

export function fleetOf(options: Pick<FleetOptions, 'database' | 'maxSessions' | 'schema'>): Fleet {
  return defineFleet({ ...options, ...parts, worlds: { desk: makeDesk }, idleMs: 1_000 })
}

/** Has so many sessions run, a few desks at once. */
export async function runSessions(world: (name: string) => Agent, desks: readonly string[]): Promise<void> {
  await Promise.all(desks.map((name) => world(name).ask(`${jobsPerQuestion}`)))
}
