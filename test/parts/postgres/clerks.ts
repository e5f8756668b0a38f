import {
  agent,
  defineTool,
  type Message,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  type Tool,
  World,
} from 'entia'
import { DelegationLimits } from 'entia/components'
import { dbosDispatcher } from 'entia/dbos'
import { defineFleet, type Fleet, type FleetOptions } from 'entia/postgres'
import { z } from 'zod'

/** What a worker process is started with, as JSON on its command line. */
export interface ClerksOptions extends Pick<
  FleetOptions,
  | 'database'
  | 'direct'
  | 'idleMs'
  | 'leaseMs'
  | 'maxConnections'
  | 'maxSessions'
  | 'maxSessionsPerTenant'
  | 'record'
  | 'schema'
> {
  /** Steps of each session: a model call and a call of each tool. @default 3 */
  readonly steps?: number
  /** Milliseconds that a model call and a tool call take. @default 20 */
  readonly workMs?: number
  /** Milliseconds between the two notes of `tell`. @default 0 */
  readonly tellMs?: number
  /** @default that of the line */
  readonly dispatcher?: 'dbos'
  /** A tool that this process lacks. @default none */
  readonly lacks?: string
  /** What the tools of this process say of themselves. @default 1 */
  readonly version?: number
  /** How far the clock of this process is ahead. @default 0 */
  readonly clockAheadMs?: number
  /** Nothing that is said kills this process. @default false */
  readonly isHarmless?: boolean
  /** Most sessions and worlds that the worker holds. @default 20, 200 */
  readonly sessions?: number
  readonly worlds?: number
}

/** What a worker process says, a line each. */
export type Said =
  | { readonly what: 'ready'; readonly worker: number }
  | { readonly what: 'model'; readonly job: string; readonly step: number }
  | {
      readonly what: 'tool'
      readonly restart: string
      readonly job: string
      readonly step: number
      readonly key: string
    }
  | { readonly what: 'told'; readonly job: string; readonly key: string }
  | { readonly what: 'unfit'; readonly world: string; readonly code?: string; readonly message: string }

const restartClasses = ['once', 'keyed', 'pure'] as const

/**
 * Desks that give jobs to clerks. `Jobs: a b c` makes a session of each, which are awaited, and answers `done: a b c`; any
 * other message is answered with its own words. A job whose name begins with `deadly`, and the message `Die.`, kill the process.
 * One whose name begins with `telling`, and the message `Tell.`, write notes to their own agent by a tool, and end with all that it has read.
 */
export function clerks(options: ClerksOptions, say: (said: Said) => void = () => undefined): Fleet {
  const {
    clockAheadMs: _,
    dispatcher,
    isHarmless = false,
    lacks,
    sessions: __,
    steps = 3,
    tellMs = 0,
    version = 1,
    workMs = 20,
    worlds: ___,
    ...given
  } = options
  const tools = restartClasses.map((restart) =>
    defineTool({
      name: restart,
      description: `Works as of version ${version}, and is ${restart}.`,
      input: z.object({ job: z.string(), step: z.int() }),
      restart,
      run: async ({ job, step }, { key, sleep }) => {
        say({ what: 'tool', restart, job, step, key })
        await sleep(workMs)
        return 'worked'
      },
    }),
  )
  const tell = defineTool({
    name: 'tell',
    description: 'Writes two notes to its own agent.',
    input: z.object({ job: z.string() }),
    restart: 'keyed',
    run: async ({ job }, { key, message, sleep }) => {
      await message(`note 1 of ${job}`)
      say({ what: 'told', job, key })
      await sleep(tellMs)
      await message(`note 2 of ${job}`)
      return 'told'
    },
  })
  const notesIn = (messages: readonly Message[]): string =>
    messages.flatMap((message) => textOf(message).match(/^note \d of \w+/)?.[0] ?? []).join(', ')
  const telling = (messages: readonly Message[], job: string) =>
    messages.some(({ role }) => role === 'tool')
      ? `read ${notesIn(messages)}`
      : { toolCalls: [{ name: 'tell', arguments: { job } }] }
  const desk = scripted(({ messages }) => {
    if (textOf(messages.at(0)) === 'Tell.') return telling([...messages], 'desk')
    const last = messages.at(-1)
    const asked = [...messages].findLast(({ role }) => role === 'user')
    const said = asked === undefined ? '' : textOf(asked)
    const jobs = /^Jobs: (.*)$/.exec(said)?.[1]?.split(' ') ?? []
    if (said === 'Die.' && !isHarmless) process.kill(process.pid, 'SIGKILL')
    if (jobs.length === 0) return said
    if (last?.role === 'tool') {
      const results = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
      return results.flatMap((message) => (message.role === 'tool' ? textOf(message) : [])).join('; ')
    }
    say({ what: 'model', job: jobs.join(' '), step: 0 })
    return {
      toolCalls: jobs.map((job) => ({ name: 'subagent', arguments: { category: 'clerk', prompt: `Job ${job}.` } })),
    }
  })
  const clerk = scripted(
    ({ messages }) => {
      const first = messages.find(({ role }) => role === 'user')
      const job = /Job (\S+)\./.exec(first === undefined ? '' : textOf(first))?.[1] ?? ''
      const step = messages.filter(({ role }) => role === 'assistant').length
      say({ what: 'model', job, step })
      if (job.startsWith('telling')) return telling([...messages], job)
      if (job.startsWith('deadly')) process.kill(process.pid, 'SIGKILL')
      if (step === steps) return `${job} done`
      return { toolCalls: restartClasses.map((name) => ({ name, arguments: { job, step } })) }
    },
    { latencyMs: workMs },
  )
  return defineFleet({
    ...given,
    ...(dispatcher === 'dbos' && { dispatcher: dbosDispatcher() }),
    models: { desk, clerk },
    tools: [...tools, tell].filter(({ declaration }) => declaration.name !== lacks),
    worlds: { desk: (name) => deskNamed(name, tell) },
  })
}

function deskNamed(name: string, tell: Tool): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'desk/any', tools: [tell] }),
    SubagentRegistry({
      subagents: { clerk: { name: 'clerk', model: 'clerk/any', maxSteps: 100, tools: [...restartClasses, 'tell'] } },
    }),
    // As many as are asked for, however long the work goes on.
    DelegationLimits({ sessions: 1_000_000 }),
  )
  return world
}
