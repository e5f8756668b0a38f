import {
  agent,
  Conversation,
  type DeepReadonly,
  defineTool,
  type Entity,
  type Initial,
  type Message,
  type ModelRequest,
  type RunnerOptions,
  type ScriptedOptions,
  type System,
  textOf,
  World,
  standardSystems,
} from 'entia'
import { Archival, Archive, SubagentSession } from 'entia/components'
import type { ArchivalData } from '../../../components/context/archival.ts'
import { z } from 'zod'
import { type Asked, type Behaviour, provider, type SessionRecord } from '../sessions/team.ts'
import { type Driven, driven, mortal } from '../turns/driving.ts'

/** What an agent is archived by: nothing but calls, unless a test says so. */
type Settings = {
  readonly enabled?: boolean
  readonly maxListed?: number
  readonly placement?: 'tail' | 'system'
  readonly summary?: Partial<ArchivalData['summary']>
  readonly trigger?: Partial<ArchivalData['trigger']>
}

export interface ArchivingOptions {
  readonly archival?: Settings | false
  /** What the model does in a turn. @default calls `look` five times and says what it was asked */
  readonly work?: Behaviour
  /** @default a valid object */
  readonly summary?: Behaviour
  /** What a holder answers. @default `Held: <question>` */
  readonly held?: Behaviour
  readonly model?: ScriptedOptions
  readonly parts?: readonly Initial[]
  readonly agent?: Partial<Parameters<typeof agent>[0]>
  readonly runner?: RunnerOptions
  readonly isMortal?: boolean
  /** There is a provider `ollama` too. */
  readonly isOllama?: boolean
  /** Of the world. @default left out */
  readonly seed?: number
  readonly systems?: (all: readonly System[]) => readonly System[]
}

export interface Archiving extends Driven {
  readonly agent: Entity
  readonly options: RunnerOptions
  readonly asked: (kind?: 'work' | 'summary' | 'held') => Asked[]
  readonly messages: () => readonly DeepReadonly<Message>[]
  readonly texts: () => string[]
  readonly archive: () => ReturnType<typeof archiveOf>
  readonly holders: () => SessionRecord[]
  /** Says something, and waits until nothing is in flight. */
  readonly say: (text: string) => Promise<void>
}

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string().default('it') }),
  restart: 'pure',
  run: ({ at }) => `Seen: ${at}`,
})

export const validSummary = JSON.stringify({
  outcome: 'Looked.',
  key_findings: ['a'],
  files_touched: [],
  tools_used: ['look'],
  open_questions: [],
})

/** An agent whose turns of five calls are archived, in a world under a Runner on a clock that jumps; not started. */
export function archiving(options: ArchivingOptions = {}): Archiving {
  const { work = looking(5), summary = () => validSummary, held = (request) => `Held: ${lastUser(request)}` } = options
  const noted: Asked[] = []
  const model = provider(
    'scripted',
    (request, context) => (isSummary(request) ? summary : isHeld(request) ? held : work)(request, context),
    options.model,
    noted,
  )
  const world = new World({
    name: 'world',
    systems: options.systems?.(standardSystems()) ?? standardSystems(),
    ...(options.seed !== undefined && { seed: options.seed }),
  })
  const entity = world.spawn(
    ...agent({ model: 'scripted/x', tools: [look], ...options.agent }),
    ...(options.archival === false ? [] : [settings(options.archival)]),
    ...(options.parts ?? []),
  )
  const runner = {
    tools: [look],
    ...options.runner,
    models: { scripted: model, ...(options.isOllama === true && { ollama: model }), ...options.runner?.models },
  }
  const made = options.isMortal === true ? mortal(world, runner) : driven(world, runner)
  return {
    ...made,
    agent: entity,
    options: runner,
    asked: (kind) => noted.filter(({ request }) => kind === undefined || kindOf(request) === kind),
    messages: () => world.read(entity, Conversation),
    texts: () => world.read(entity, Conversation).map((message) => textOf(message)),
    archive: () => archiveOf(world, entity),
    holders: () => holdersOf(world, entity),
    say: async (text) => {
      await made.runner.message(entity, text)
      await made.runner.idle()
    },
  }
}

export function settings({ trigger, summary, ...rest }: Settings = {}) {
  return Archival({
    enabled: true,
    ...rest,
    trigger: { tokenThreshold: null, ...trigger },
    summary: { ...summary },
  })
}

export function archiveOf(world: World, entity: Entity) {
  return [...(world.get(entity, Archive) ?? [])]
}

function holdersOf(world: World, entity: Entity): SessionRecord[] {
  const all = world.referrers(SubagentSession, entity).map((session) => world.read(session, SubagentSession))
  return all.filter(({ kind }) => kind === 'holder')
}

/** Calls `look` so many times, one in each step, and then says what it was asked. */
export function looking(count: number): Behaviour {
  return (request) => {
    const done = callsInTurn(request)
    return done < count
      ? {
          toolCalls: [{ id: `call-${[...request.messages].length}`, name: 'look', arguments: { at: `place ${done}` } }],
        }
      : `Did: ${lastUser(request)}`
  }
}

/** Results since the last thing that was said. */
export function callsInTurn({ messages }: ModelRequest): number {
  const all = [...messages]
  const from = all.findLastIndex(({ role }) => role === 'user')
  return all.slice(from).filter(({ role }) => role === 'tool').length
}

export function lastUser({ messages }: ModelRequest): string {
  return textOf([...messages].findLast(({ role }) => role === 'user'))
}

function isSummary({ messages }: ModelRequest): boolean {
  return textOf([...messages][0]).startsWith('Summarize the following completed agent turn:')
}

function isHeld({ system }: ModelRequest): boolean {
  return system.startsWith('You hold one finished turn')
}

function kindOf(request: ModelRequest): 'work' | 'summary' | 'held' {
  return isSummary(request) ? 'summary' : isHeld(request) ? 'held' : 'work'
}
