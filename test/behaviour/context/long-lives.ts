import {
  agent,
  type AgentOptions,
  assistant,
  Conversation,
  type Entity,
  type ModelRequest,
  type Runner,
  type RunnerOptions,
  type ScriptedBehaviour,
  type ScriptedReply,
  standardSystems,
  type StandardSystemsOptions,
  textOf,
  type TokenUsage,
  user,
  World,
} from 'entia'
import type { ConfigInput } from 'entia/context'
import { Boundary } from 'entia/components'
import { behaving, type Driven, driven } from '../turns/driving.ts'

export const frontier = 'scripted/claude-opus-x'
const million = 1_000_000

/** How a scripted model speaks, and what it says that it reads. */
export interface Speaking {
  /** Answers of the agent's own steps. @default `Well.` */
  readonly answer?: ScriptedBehaviour
  /** Texts of summaries and records. @default one with all headings of a handover */
  readonly summary?: (request: ModelRequest, count: number) => ScriptedReply | Promise<ScriptedReply>
  /** Tokens of own steps, from 1. */
  readonly usage?: (step: number) => TokenUsage
}

export interface Life extends Driven {
  readonly agent: Entity
  /** Requests of the agent's own steps. */
  readonly steps: ModelRequest[]
  /** Requests for summaries and records. */
  readonly summaries: ModelRequest[]
  readonly say: (text: string) => Promise<void>
}

export interface LifeOptions extends Speaking {
  readonly agent?: Partial<AgentOptions>
  /** `null`: none. @default all defaults */
  readonly config?: ConfigInput | null
  /** `null`: not known. @default a million */
  readonly contextWindow?: number | null
  readonly runner?: RunnerOptions
  readonly systems?: StandardSystemsOptions
}

/** A call that reads so many tokens. */
export const at = (tokens: number): TokenUsage => ({ input: tokens, output: 10 })
/** As full as the window of a frontier model may become, most of it from the cache. */
export const full: TokenUsage = { input: 1_000, cacheRead: 800_000, cacheWrite: 49_000, output: 10 }

/** A handover that has all that it is asked for. */
export const handover = [
  '# Current state',
  'All well.',
  '# Files & changes',
  'none',
  '# Technical context',
  'none',
  '# Strategy & approach',
  'none',
  '# Exact next steps',
  '1. Go on.',
].join('\n')

/** The message that stands for what a handover covers. */
export function covering(text: string): string {
  const head = '[Conversation compacted. A handover of the earlier part follows; do not redo what it lists as done.]'
  return `${head}\n\n${text}\n\n[End of record. The conversation goes on below.]`
}

/** Calls `look` at its first step, and never again. */
export function lookingFirst(): ScriptedBehaviour {
  let hasLooked = false
  return () => {
    if (hasLooked) return 'Done.'
    hasLooked = true
    return { toolCalls: [{ name: 'look' }] }
  }
}

/** Is it asked for a text about a conversation, and not for a step of one? */
export function isSideCall({ system }: ModelRequest): boolean {
  return system.startsWith('You write handovers') || system.startsWith('You keep records')
}

export function speaking({ answer = () => 'Well.', summary = () => handover, usage }: Speaking) {
  const steps: ModelRequest[] = []
  const summaries: ModelRequest[] = []
  const { models } = behaving(
    (request, context) => {
      if (!isSideCall(request)) {
        steps.push(request)
        return answer(request, context)
      }
      summaries.push(request)
      return summary(request, summaries.length)
    },
    { usage: (request) => (isSideCall(request) ? { input: 1_000, output: 100 } : (usage?.(steps.length) ?? {})) },
  )
  return { models, steps, summaries }
}

/** An agent that has talked before, under a Runner that has started. */
export async function living(options: LifeOptions = {}): Promise<Life> {
  const { config = {}, contextWindow = million } = options
  const world = new World({ systems: standardSystems(options.systems) })
  const messages = [user('Hello'), assistant('Hi')]
  const made = world.spawn(
    ...agent({ model: frontier, messages, ...(config !== null && { config }), ...options.agent }),
  )
  const { models, steps, summaries } = speaking(options)
  const prices = contextWindow === null ? {} : { [frontier]: { contextWindow } }
  const life = driven(world, { models, prices, ...options.runner })
  await life.runner.start()
  await life.runner.idle()
  const say = (text: string): Promise<void> => saying(life.runner, made, text)
  return { ...life, agent: made, steps, summaries, say }
}

async function saying(runner: Runner, to: Entity, text: string): Promise<void> {
  await runner.message(to, text)
  await runner.idle()
}

/** Texts of a request, in order. */
export function textsOf({ messages }: ModelRequest): string[] {
  return messages.map(textOf)
}

/** A text of a request's tail. */
export function tailOf({ tail }: ModelRequest): string {
  return tail.map(textOf).join('\n')
}

export function boundaries(world: World, of: Entity) {
  return world.get(of, Boundary) ?? []
}

export function conversation(world: World, of: Entity): string[] {
  return (world.get(of, Conversation) ?? []).map(textOf)
}
