import {
  agent,
  defineTool,
  type ModelRequest,
  type RetryPolicy,
  type ScriptedReply,
  scripted,
  standardSystems,
  type SubagentConfig,
  SubagentRegistry,
  textOf,
  declare,
  World,
} from 'entia'
import { DelegationLimits, ToolRegistry } from 'entia/components'
import { Ceilings } from 'entia/context'
import { querySubagentDeclaration, spawnSubagentDeclaration } from 'entia/systems'
import { z } from 'zod'
import type { SimulateOptions } from '../../../src/sim/index.ts'

type Systems = ReturnType<typeof standardSystems>

/** What an agent does, by how often it has spoken since it was given its task. */
export type Script = (task: string) => readonly ScriptedReply[]

export interface TeamOptions {
  /** By role: `lead` is the agent of the root, the others are subagents of their names. */
  readonly scripts: Readonly<Record<string, Script>>
  readonly configs?: Readonly<Record<string, Partial<SubagentConfig>>>
  /** Of the lead. */
  readonly limits?: Parameters<typeof DelegationLimits>[0]
  /** Of the lead. */
  readonly ceilings?: Parameters<typeof Ceilings>[0]
  readonly maxSteps?: number
  readonly maxToolCalls?: number
  readonly wakeIdle?: boolean
  /** What a model call is said to use. */
  readonly outputTokens?: number
  readonly systems?: () => Systems
  /** What a program asks of the lead, agent 1, before the first tick. */
  readonly asked?: readonly Parameters<World['post']>[0][]
}

const look = defineTool({
  name: 'look',
  description: 'Looks somewhere.',
  input: z.object({ at: z.string() }),
  restart: 'pure',
  run: ({ at }) => `nothing at ${at}`,
})

const dig = defineTool({
  name: 'dig',
  description: 'Digs, which takes a while.',
  input: z.object({}),
  restart: 'once',
  run: async (_, { sleep }) => {
    await sleep(9_000)
    return 'a stone'
  },
})

const tools = [look, dig]

const retry: RetryPolicy = {
  maxAttempts: 4,
  firstDelayMs: 500,
  maxDelayMs: 4_000,
  kinds: ['rate-limited', 'overloaded'],
}

/** A reply that calls tools: each a name, or a name and its arguments. */
export function calls(...wanted: readonly (readonly [name: string, input?: object])[]): ScriptedReply {
  return { toolCalls: wanted.map(([name, input = {}]) => ({ name, arguments: JSON.parse(JSON.stringify(input)) })) }
}

export function delegate(category: string, prompt: string, more: object = { background: true }) {
  return ['subagent', { category, prompt, ...more }] as const
}

export function wait(mode: 'any' | 'all', sessions: readonly number[] = [], timeout?: number) {
  return [
    'subagent_wait',
    { mode, session_ids: sessions.map(String), ...(timeout !== undefined && { timeout }) },
  ] as const
}

export function read(session: number, more: object = {}) {
  return ['subagent_result', { session_id: `${session}`, ...more }] as const
}

/** Of the message that gave the agent its task, what the task is, and how often it has spoken since. */
function standing({ messages }: ModelRequest): { readonly task: string; readonly spoken: number } {
  const all = [...messages]
  const isDirective = (text: string): boolean => text.includes('\n\nDirective: ')
  const given = Math.max(
    0,
    all.findLastIndex((message) => message.role === 'user' && isDirective(textOf(message))),
  )
  const spoken = all.slice(given).filter(({ role }) => role === 'assistant').length
  const text = textOf(all[given])
  return { task: isDirective(text) ? `fork: ${text.slice(text.indexOf('\n\nDirective: ') + 13)}` : text, spoken }
}

/** Agents whose models follow scripts; each subagent may look, dig and delegate to all others. */
export function scriptedTeam(options: TeamOptions): SimulateOptions {
  const { scripts, configs = {}, limits, maxSteps, maxToolCalls, wakeIdle, outputTokens, asked = [] } = options
  const usage = outputTokens === undefined ? {} : { usage: { input: outputTokens, output: outputTokens } }
  const models = Object.entries(scripts).map(([role, script]) => {
    const reply = (request: ModelRequest): ScriptedReply => {
      const { task, spoken } = standing(request)
      return script(task)[spoken] ?? 'Nothing more.'
    }
    return [role, scripted(reply, { latencyMs: [5, 2_000], retry, ...usage })] as const
  })
  const roles = Object.keys(scripts).filter((role) => role !== 'lead')
  const subagents = Object.fromEntries(
    roles.map((name): [string, SubagentConfig] => [
      name,
      {
        name,
        model: `${name}/x`,
        tools: ['look', 'dig'],
        inheritancePolicy: { inheritTools: ['subagent', 'query_subagent'] },
        ...configs[name],
      },
    ]),
  )
  const world = (seed: number): World => {
    const made = new World({ name: 'team', seed, systems: (options.systems ?? standardSystems)() })
    const bounds = { ...(maxSteps !== undefined && { maxSteps }), ...(maxToolCalls !== undefined && { maxToolCalls }) }
    made.spawn(
      ...agent({ model: 'lead/x', messages: 'Go', ...bounds }),
      ToolRegistry({ tools: [...declare(...tools), querySubagentDeclaration, spawnSubagentDeclaration] }),
      SubagentRegistry({ subagents, ...(wakeIdle !== undefined && { wakeIdle }) }),
      ...(limits === undefined ? [] : [DelegationLimits(limits)]),
      ...(options.ceilings === undefined ? [] : [Ceilings(options.ceilings)]),
    )
    for (const input of asked) made.post(input)
    return made
  }
  const prices = Object.fromEntries(Object.keys(scripts).map((role) => [`${role}/x`, { input: 10, output: 10 }]))
  return { models: Object.fromEntries(models), tools, prices, world }
}
