import {
  agent,
  type AgentOptions,
  Conversation,
  type DeepReadonly,
  type Entity,
  type Initial,
  type Message,
  type ModelContext,
  type ModelProvider,
  type ModelRequest,
  type RunnerOptions,
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedReply,
  scripted,
  SessionPool,
  standardSystems,
  type StandardSystemsOptions,
  SubagentRegistry,
  type SubagentConfig,
  type System,
  type TagComponent,
  textOf,
  World,
} from 'entia'
import { SubagentSession } from 'entia/components'
import { type Driven, driven, mortal } from '../turns/driving.ts'

/** What a model of a team does: a function of the request alone. It may take its time with `context.sleep`. */
export type Behaviour = (request: ModelRequest, context: ModelContext) => ScriptedReply | Promise<ScriptedReply>

export interface TeamOptions {
  /** By name; on the model `worker/x` if they name none. @default a `researcher` */
  readonly subagents?: Readonly<Record<string, Partial<SubagentConfig>>>
  /** What the registry says besides; `false`: the lead has no registry. */
  readonly registry?: Omit<Parameters<typeof SubagentRegistry>[0], 'subagents'> | false
  /** The model `lead/x`. @default says `Done.` */
  readonly lead?: Behaviour
  /** The model `worker/x`. @default says `Done: <task>` */
  readonly worker?: Behaviour
  readonly leadOptions?: ScriptedOptions
  readonly workerOptions?: ScriptedOptions
  readonly agent?: Partial<AgentOptions>
  /** Further components of the lead. */
  readonly parts?: readonly (Initial | TagComponent)[]
  readonly systems?: StandardSystemsOptions
  /** Behind the standard ones, in sessions' worlds too. */
  readonly furtherSystems?: readonly System[]
  /** Has a session pool of its own unless it names one, or `maxSessions`. */
  readonly runner?: RunnerOptions
  /** Its process may end before it is stopped. @default false */
  readonly isMortal?: boolean
}

/** A model call, as it was made. */
export interface Asked {
  readonly provider: string
  readonly request: ModelRequest
  readonly context: ModelContext
}

/** An agent that may delegate, in a world under a Runner on a clock that jumps; not started. */
export interface Team extends Driven {
  readonly lead: Entity
  /** With the models, for another Runner on the same store. */
  readonly options: RunnerOptions
  /** All model calls so far, or those of a provider. */
  readonly asked: (provider?: string) => Asked[]
  /** Records of the lead's sessions, by sequence. */
  readonly sessions: () => SessionRecord[]
  /** Results of the lead's tool calls by call id, as its model sees them. */
  readonly results: () => Record<string, string>
  /** Starts the Runner, and resolves once nothing is in flight and nothing is due. */
  readonly run: () => Promise<void>
}

export type SessionRecord = DeepReadonly<(typeof SubagentSession)['schema']['_output']>

export function team(options: TeamOptions = {}): Team {
  const { lead = () => 'Done.', worker = (request: ModelRequest) => `Done: ${taskOf(request)}` } = options
  const noted: Asked[] = []
  const models = {
    lead: provider('lead', lead, options.leadOptions, noted),
    worker: provider('worker', worker, options.workerOptions, noted),
  }
  const world = new World({
    name: 'world',
    systems: [...standardSystems(options.systems), ...(options.furtherSystems ?? [])],
  })
  const entity = world.spawn(
    ...agent({ model: 'lead/x', messages: 'Go', ...options.agent }),
    ...registryOf(options),
    ...(options.parts ?? []),
  )
  const given = options.runner ?? {}
  const isPooled = given.sessionPool !== undefined || given.maxSessions !== undefined || given.host !== undefined
  const runner = {
    ...(!isPooled && { sessionPool: new SessionPool() }),
    ...given,
    models: { ...models, ...given.models },
  }
  const made = options.isMortal === true ? mortal(world, runner) : driven(world, runner)
  return {
    ...made,
    lead: entity,
    options: runner,
    asked: (name) => noted.filter((one) => name === undefined || one.provider === name),
    sessions: () => sessionsOf(world, entity),
    results: () => resultsIn(world.read(entity, Conversation)),
    run: async () => {
      await made.runner.start()
      await made.runner.idle()
    },
  }
}

/** A scripted provider that notes its calls. */
export function provider(
  name: string,
  behaviour: Behaviour,
  options: ScriptedOptions = {},
  noted: Asked[] = [],
): ModelProvider {
  const called: ModelProvider['call'] = (request, context) => {
    noted.push({ provider: name, request, context })
    return scripted((asked) => behaviour(asked, context), options).call(request, context)
  }
  return { ...scripted(() => '', options), call: called }
}

/** The records of an agent's sessions, by sequence. */
export function sessionsOf(world: World, parent: Entity): SessionRecord[] {
  return world.referrers(SubagentSession, parent).map((session) => world.read(session, SubagentSession))
}

/** Answers its first request with the first reply, the next with the second …, then with `Done.`: it counts its answers in the request. */
export function stepwise(...replies: readonly (ScriptedReply | Behaviour)[]): Behaviour {
  return (request, context) => {
    const reply = replies[[...request.messages].filter(({ role }) => role === 'assistant').length] ?? 'Done.'
    return typeof reply === 'function' ? reply(request, context) : reply
  }
}

/** An answer that calls tools. */
export function calls(...toolCalls: readonly ScriptedCall[]): ScriptedReply {
  return { toolCalls }
}

/** A call of a tool, under an id that its result is found by. */
export function call(id: string, name: string, input: ScriptedCall['arguments'] = {}): ScriptedCall {
  return { id, name, arguments: input }
}

/** A call of `subagent`. @default asks `researcher` to `Look` */
export function delegate(id: string, input: Exclude<ScriptedCall['arguments'], string> = {}): ScriptedCall {
  return call(id, 'subagent', { category: 'researcher', prompt: 'Look', ...input })
}

/** What a model was first told by its user: of a session, its prompt. */
export function taskOf({ messages }: ModelRequest): string {
  return textOf([...messages].find(({ role }) => role === 'user'))
}

/** Texts of the tools' results in a conversation, by call id. */
export function resultsIn(messages: Iterable<DeepReadonly<Message>>): Record<string, string> {
  const results = [...messages].filter((message) => message.role === 'tool')
  return Object.fromEntries(results.map((message) => [message.callId, textOf(message)]))
}

/** The result of a call that is one JSON object, in a conversation. */
export function answerIn(messages: Iterable<DeepReadonly<Message>>, callId: string): Record<string, unknown> {
  return JSON.parse(resultsIn(messages)[callId] ?? '{}') as Record<string, unknown>
}

/** The id of the session that a call of `subagent` in the background has launched. */
export function launchedBy(messages: Iterable<DeepReadonly<Message>>, callId: string): string {
  return String(answerIn(messages, callId)['session_id'])
}

/** Texts of the `system` messages of a conversation. */
export function notesIn(messages: Iterable<DeepReadonly<Message>>): string[] {
  return [...messages].filter(({ role }) => role === 'system').map((message) => textOf(message))
}

function registryOf({ subagents = { researcher: {} }, registry = {} }: TeamOptions): Initial[] {
  if (registry === false) return []
  const named = Object.entries(subagents).map(([name, config]) => [name, { name, model: 'worker/x', ...config }])
  return [SubagentRegistry({ ...registry, subagents: Object.fromEntries(named) as Record<string, SubagentConfig> })]
}
