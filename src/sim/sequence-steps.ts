import type { Json, JsonObject } from '../world/json.ts'
import { factText, type TraceEntry } from './trace-entry.ts'

/** Whoever asks or is asked in a run. */
export interface Actor {
  readonly kind: 'user' | 'agent' | 'model' | 'tool'
  readonly name: string
}

/** One line of a sequence chart: somebody turns to somebody, or something befalls somebody, or, with nobody named, everybody. */
export type SequenceStep =
  | {
      readonly kind: 'asks' | 'answers' | 'fails'
      readonly from: Actor
      readonly to: Actor
      readonly text: string
    }
  | { readonly kind: 'note'; readonly over: Actor | undefined; readonly text: string }

/** Users outside of all worlds. */
export const users: Actor = { kind: 'user', name: 'Users' }

type Reading = (entry: TraceEntry, told: Told) => SequenceStep | undefined

/** Who asks whom for what in a run, in order. */
export function sequenceSteps(entries: readonly TraceEntry[]): SequenceStep[] {
  const told = new Told(entries)
  return entries.flatMap((entry) => {
    const step = readings[entry.type]?.(entry, told)
    return step === undefined ? [] : [step]
  })
}

/** What earlier entries have told, which later ones refer to. */
class Told {
  /** The agents of a world, by its label. */
  readonly #agents = new Map<string, Set<number>>()
  /** Whom an effect belongs to, and what does it, by `<label> <effect>`. */
  readonly #effects = new Map<string, { agent?: Actor; worker?: Actor; step?: number; callId?: string }>()
  /** The effects of tool calls, by `<label> <call id>`. */
  readonly #calls = new Map<string, number>()
  /** Labels of sessions by id. */
  readonly #sessions = new Map<string, string>()
  /** The label of the root world. */
  readonly root: string

  constructor(entries: readonly TraceEntry[]) {
    this.root = entries.find((entry) => entry.label !== '-' && isRoot(entry))?.label ?? 'root'
    for (const { label, facts } of entries) {
      if (typeof facts['agent'] !== 'number' || label === '-') continue
      const agents = this.#agents.get(label) ?? new Set()
      this.#agents.set(label, agents.add(facts['agent']))
    }
  }

  agent({ label, facts }: TraceEntry): Actor {
    return this.agentOf(label, facts['agent'] ?? facts['parent'])
  }

  agentOf(label: string, agent: Json | undefined): Actor {
    const isOnly = (this.#agents.get(label)?.size ?? 0) < 2 || typeof agent !== 'number'
    return { kind: 'agent', name: isOnly ? label : `${label} agent ${agent}` }
  }

  effect({ label, facts }: TraceEntry, effect: Json | undefined = facts['effect']) {
    const key = `${label} ${factText(effect)}`
    const known = this.#effects.get(key) ?? {}
    this.#effects.set(key, known)
    return known
  }

  /** The effect of a tool call that is told by its call id. */
  called(entry: TraceEntry) {
    const key = `${entry.label} ${factText(entry.facts['callId'])}`
    if (typeof entry.facts['effect'] === 'number') this.#calls.set(key, entry.facts['effect'])
    return this.effect(entry, this.#calls.get(key))
  }

  /** The agent of a session. */
  session({ label, facts }: TraceEntry): Actor {
    const { agent, sequence, sessionId } = facts
    const id = factText(sessionId)
    if (typeof sequence === 'number') this.#sessions.set(id, `${label}/${factText(agent)}.${sequence}`)
    return this.agentOf(this.#sessions.get(id) ?? id, undefined)
  }
}

const readings: Readonly<Record<string, Reading>> = {
  'turn-started': (entry, told) =>
    isRoot(entry) ? { kind: 'asks', from: users, to: told.agent(entry), text: 'begins a turn' } : undefined,
  'turn-ended': (entry, told) => {
    const { facts } = entry
    const from = told.agent(entry)
    const text = facts['stop'] === 'failed' ? failureOf(facts) : factText(facts['stop'])
    if (isRoot(entry)) return { kind: facts['stop'] === 'done' ? 'answers' : 'fails', from, to: users, text }
    return facts['stop'] === 'done' ? undefined : { kind: 'note', over: from, text: `ends: ${text}` }
  },
  'model-called': (entry, told) => {
    Object.assign(told.effect(entry), { agent: told.agent(entry), step: entry.facts['step'] })
    return undefined
  },
  'model-began': (entry, told) => began('model', entry, told),
  'model-replied': (entry, told) => modelEnd('answers', entry, told, factText(entry.facts['stop'])),
  'model-failed': (entry, told) => modelEnd('fails', entry, told, failureOf(entry.facts)),
  'retry-scheduled': (entry, told) => {
    const when = `${failureOf(entry.facts)}, try ${factText(entry.facts['attempt'])} comes later`
    return modelEnd('fails', entry, told, when)
  },
  'tool-called': (entry, told) => {
    Object.assign(told.called(entry), { agent: told.agent(entry) })
    return undefined
  },
  'tool-began': (entry, told) => began('tool', entry, told),
  'tool-answered': (entry, told) => {
    const to = told.agent(entry)
    const { tool, isError } = entry.facts
    const { worker } = told.called(entry)
    const kind = isError === true ? 'fails' : 'answers'
    if (worker !== undefined) return { kind, from: worker, to, text: isError === true ? 'error' : 'result' }
    // A session that is launched is told by itself.
    if (tool === 'subagent' && isError !== true) return undefined
    // What is answered in the tick itself, no tool was begun for.
    return { kind: isError === true ? 'fails' : 'asks', from: to, to, text: factText(tool) }
  },
  'approval-requested': (entry, told) => {
    return { kind: 'asks', from: told.agent(entry), to: users, text: `may I use ${factText(entry.facts['tool'])}?` }
  },
  'approval-answered': (entry, told) => {
    const { approved, tool } = entry.facts
    const text = `${approved === true ? 'yes' : 'no'}: ${factText(tool)}`
    return { kind: 'answers', from: users, to: told.agent(entry), text }
  },
  'session-queued': (entry, told) => {
    return { kind: 'asks', from: told.agent(entry), to: told.session(entry), text: 'launches a session' }
  },
  'delegation-started': (entry, told) => {
    return { kind: 'note', over: told.session(entry), text: `begins: ${factText(entry.facts['task'])}` }
  },
  'session-ended': (entry, told) => {
    const status = factText(entry.facts['lifecycleStatus'])
    const kind = status === 'succeeded' ? 'answers' : 'fails'
    return { kind, from: told.session(entry), to: told.agent(entry), text: status }
  },
  'user-acted': ({ facts }, told) => {
    const { user, kind, agent, text } = facts
    // An answer is told once it is taken.
    if (kind === 'answer') return undefined
    const act = kind === 'message' ? `: ${factText(text)}` : ' cancels'
    return { kind: 'asks', from: users, to: told.agentOf(told.root, agent), text: `${factText(user)}${act}` }
  },
  fault: ({ facts }, told) => {
    const [what, at] = [factText(facts['what']), factText(facts['at'])]
    // That the process dies is told next.
    if (what.startsWith('crash.') && what !== 'crash.child') return undefined
    const [, label = 'store'] = /^(.*) \S+ \d+$/.exec(at) ?? []
    const over = label === 'store' ? undefined : told.agentOf(label, undefined)
    return { kind: 'note', over, text: `fault ${what} at ${at}` }
  },
  crashed: ({ facts }) => ({
    kind: 'note',
    over: undefined,
    text: `the process dies (${factText(facts['why'])}) and restarts`,
  }),
  'law-broken': ({ facts }) => {
    return {
      kind: 'note',
      over: undefined,
      text: `LAW BROKEN: ${factText(facts['law'])}. ${factText(facts['message'])}`,
    }
  },
  'work-cancelled': (entry, told) => ({ kind: 'note', over: told.agent(entry), text: 'is cancelled' }),
  'output-rejected': (entry, told) => {
    return { kind: 'note', over: told.agent(entry), text: `output rejected: ${factText(entry.facts['problem'])}` }
  },
}

function began(kind: 'model' | 'tool', entry: TraceEntry, told: Told): SequenceStep {
  const effect = told.effect(entry)
  const { name, attempt } = entry.facts
  effect.worker = { kind, name: factText(name) }
  const again = typeof attempt === 'number' && attempt > 1 ? `, try ${attempt}` : ''
  const what = kind === 'tool' ? 'call' : effect.step === undefined ? 'asks' : `step ${effect.step}`
  return {
    kind: 'asks',
    from: effect.agent ?? told.agentOf(entry.label, undefined),
    to: effect.worker,
    text: what + again,
  }
}

function modelEnd(kind: 'answers' | 'fails', entry: TraceEntry, told: Told, text: string): SequenceStep {
  const { worker = { kind: 'model', name: 'model' } as const } = told.effect(entry)
  return { kind, from: worker, to: told.agent(entry), text }
}

function failureOf({ failure }: JsonObject): string {
  return factText((failure as JsonObject | undefined)?.['kind']) || 'failed'
}

function isRoot({ label }: TraceEntry): boolean {
  return !label.includes('/')
}
