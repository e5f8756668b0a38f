import type { Json, JsonObject } from '../base/json.ts'
import { agentsOf, rootOf } from './traced-worlds.ts'
import { factText, isRoot, type TraceEntry } from './trace-entry.ts'

export interface Actor {
  readonly kind: 'user' | 'agent' | 'model' | 'tool'
  readonly name: string
}

/** One line of a sequence chart. A note without an actor spans all. */
export type SequenceStep =
  | { readonly kind: 'asks' | 'answers' | 'fails'; readonly from: Actor; readonly to: Actor; readonly text: string }
  | { readonly kind: 'note'; readonly over: Actor | undefined; readonly text: string }

export const users: Actor = { kind: 'user', name: 'Users' }

/** Who asks whom for what in a run, in order. */
export function sequenceSteps(entries: readonly TraceEntry[]): SequenceStep[] {
  const actors = new Actors(entries)
  return entries.flatMap((entry) => {
    const step = readings[entry.type]?.(entry, actors)
    return step === undefined ? [] : [step]
  })
}

class Actors {
  readonly #agents: ReadonlyMap<string, readonly number[]>
  /** By `<label> <effect>`. */
  readonly #effects = new Map<string, { agent?: Actor; worker?: Actor; step?: number; callId?: string }>()
  /** Effects of tool calls, by `<label> <call id>`. */
  readonly #calls = new Map<string, number>()
  readonly #sessions = new Map<string, string>()
  readonly root: string

  constructor(entries: readonly TraceEntry[]) {
    this.#agents = agentsOf(entries)
    this.root = rootOf(this.#agents) ?? 'root'
  }

  agent({ label, facts }: TraceEntry): Actor {
    return this.agentOf(label, facts['agent'] ?? facts['parent'])
  }

  agentOf(label: string, agent: Json | undefined): Actor {
    const isOnly = (this.#agents.get(label)?.length ?? 0) < 2 || typeof agent !== 'number'
    return { kind: 'agent', name: isOnly ? label : `${label} agent ${agent}` }
  }

  effect({ label, facts }: TraceEntry, effect: Json | undefined = facts['effect']) {
    const key = `${label} ${factText(effect)}`
    const known = this.#effects.get(key) ?? {}
    this.#effects.set(key, known)
    return known
  }

  /** The effect of a tool call, which later entries name by its call id. */
  called(entry: TraceEntry) {
    const key = `${entry.label} ${factText(entry.facts['callId'])}`
    if (typeof entry.facts['effect'] === 'number') this.#calls.set(key, entry.facts['effect'])
    return this.effect(entry, this.#calls.get(key))
  }

  session({ label, facts }: TraceEntry): Actor {
    const { agent, sequence, sessionId } = facts
    const id = factText(sessionId)
    if (typeof sequence === 'number') this.#sessions.set(id, `${label}/${factText(agent)}.${sequence}`)
    return this.agentOf(this.#sessions.get(id) ?? id, undefined)
  }
}

const readings: Readonly<Record<string, (entry: TraceEntry, actors: Actors) => SequenceStep | undefined>> = {
  'turn-started': (entry, actors) => (isRoot(entry) ? asks(users, actors.agent(entry), 'begins a turn') : undefined),
  'turn-ended': (entry, actors) => {
    const { facts } = entry
    const from = actors.agent(entry)
    const text = facts['stop'] === 'failed' ? failureOf(facts) : factText(facts['stop'])
    if (isRoot(entry)) return { kind: facts['stop'] === 'done' ? 'answers' : 'fails', from, to: users, text }
    return facts['stop'] === 'done' ? undefined : note(from, `ends: ${text}`)
  },
  'model-called': (entry, actors) => {
    Object.assign(actors.effect(entry), { agent: actors.agent(entry), step: entry.facts['step'] })
    return undefined
  },
  'model-began': (entry, actors) => began('model', entry, actors),
  'model-replied': (entry, actors) => modelEnd('answers', entry, actors, factText(entry.facts['stop'])),
  'model-failed': (entry, actors) => modelEnd('fails', entry, actors, failureOf(entry.facts)),
  'retry-scheduled': (entry, actors) => {
    const when = `${failureOf(entry.facts)}, try ${factText(entry.facts['attempt'])} comes later`
    return modelEnd('fails', entry, actors, when)
  },
  'tool-called': (entry, actors) => {
    Object.assign(actors.called(entry), { agent: actors.agent(entry) })
    return undefined
  },
  'tool-began': (entry, actors) => began('tool', entry, actors),
  'tool-answered': (entry, actors) => {
    const to = actors.agent(entry)
    const { tool, isError } = entry.facts
    const { worker } = actors.called(entry)
    const kind = isError === true ? 'fails' : 'answers'
    if (worker !== undefined) return { kind, from: worker, to, text: isError === true ? 'error' : 'result' }
    // A launched session has lines of its own.
    if (tool === 'subagent' && isError !== true) return undefined
    // An answer within the tick started no tool.
    return { kind: isError === true ? 'fails' : 'asks', from: to, to, text: factText(tool) }
  },
  'approval-requested': (entry, actors) =>
    asks(actors.agent(entry), users, `may I use ${factText(entry.facts['tool'])}?`),
  'approval-answered': (entry, actors) => {
    const { approved, tool } = entry.facts
    const text = `${approved === true ? 'yes' : 'no'}: ${factText(tool)}`
    return { kind: 'answers', from: users, to: actors.agent(entry), text }
  },
  'session-queued': (entry, actors) => asks(actors.agent(entry), actors.session(entry), 'launches a session'),
  'delegation-started': (entry, actors) => note(actors.session(entry), `begins: ${factText(entry.facts['task'])}`),
  'session-ended': (entry, actors) => {
    const status = factText(entry.facts['lifecycleStatus'])
    const kind = status === 'succeeded' ? 'answers' : 'fails'
    return { kind, from: actors.session(entry), to: actors.agent(entry), text: status }
  },
  'user-acted': ({ facts }, actors) => {
    const { user, kind, agent, text } = facts
    // An answer is drawn once it is taken.
    if (kind === 'answer') return undefined
    const act = kind === 'message' ? `: ${factText(text)}` : ' cancels'
    return asks(users, actors.agentOf(actors.root, agent), `${factText(user)}${act}`)
  },
  fault: ({ facts }, actors) => {
    const [what, at] = [factText(facts['what']), factText(facts['at'])]
    // The crash itself is the next entry.
    if (what.startsWith('crash.') && what !== 'crash.child') return undefined
    const [, label = 'store'] = /^(.*) \S+ \d+$/.exec(at) ?? []
    return note(label === 'store' ? undefined : actors.agentOf(label, undefined), `fault ${what} at ${at}`)
  },
  crashed: ({ facts }) => note(undefined, `the process dies (${factText(facts['why'])}) and restarts`),
  'law-broken': ({ facts }) => note(undefined, `LAW BROKEN: ${factText(facts['law'])}. ${factText(facts['message'])}`),
  'work-cancelled': (entry, actors) => note(actors.agent(entry), 'is cancelled'),
  'output-rejected': (entry, actors) =>
    note(actors.agent(entry), `output rejected: ${factText(entry.facts['problem'])}`),
}

function asks(from: Actor, to: Actor, text: string): SequenceStep {
  return { kind: 'asks', from, to, text }
}

function note(over: Actor | undefined, text: string): SequenceStep {
  return { kind: 'note', over, text }
}

function began(kind: 'model' | 'tool', entry: TraceEntry, actors: Actors): SequenceStep {
  const effect = actors.effect(entry)
  const { name, attempt } = entry.facts
  effect.worker = { kind, name: factText(name) }
  const again = typeof attempt === 'number' && attempt > 1 ? `, try ${attempt}` : ''
  const what = kind === 'tool' ? 'call' : effect.step === undefined ? 'asks' : `step ${effect.step}`
  return asks(effect.agent ?? actors.agentOf(entry.label, undefined), effect.worker, what + again)
}

function modelEnd(kind: 'answers' | 'fails', entry: TraceEntry, actors: Actors, text: string): SequenceStep {
  const { worker = { kind: 'model', name: 'model' } as const } = actors.effect(entry)
  return { kind, from: worker, to: actors.agent(entry), text }
}

function failureOf({ failure }: JsonObject): string {
  return factText((failure as JsonObject | undefined)?.['kind']) || 'failed'
}
