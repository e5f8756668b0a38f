import type { JsonObject } from '../../world/json.ts'
import { factText, type TraceEntry } from '../trace-entry.ts'
import {
  agentsOf,
  inTreeOrder,
  layOut,
  rootOf,
  type SpanKind,
  type SpanState,
  type Timeline,
  type TimelineMark,
  type TimelineRow,
  type TimelineSpan,
  waitsIn,
} from './timeline.ts'

export function readTrace(entries: readonly TraceEntry[], endMs: number): Timeline {
  const reader = new TraceReader(entries)
  for (const entry of entries) reader.read(entry)
  return reader.timeline(Math.max(endMs, entries.at(-1)?.atMs ?? 0))
}

/** A call of a model or a tool without an answer. */
interface OpenCall {
  readonly row: number
  readonly kind: 'model' | 'tool'
  readonly what: string
  readonly calledMs: number
  span: TimelineSpan | undefined
  pause: TimelineSpan | undefined
  tries: number
}

class TraceReader {
  readonly #rows: TimelineRow[] = []
  readonly #rowOf = new Map<string, number>()
  readonly #spans: TimelineSpan[] = []
  readonly #marks: TimelineMark[] = []
  readonly #calls = new Map<string, OpenCall>()
  /** Keys of tool calls by `<label> <call id>`. */
  readonly #callIds = new Map<string, string>()
  /** Open turns, queues and approvals. */
  readonly #open = new Map<string, TimelineSpan>()
  readonly #labels = new Map<string, string>()
  readonly #root: string

  constructor(entries: readonly TraceEntry[]) {
    const agents = agentsOf(entries)
    this.#root = rootOf(agents) ?? ''
    if (entries.some(isByUsers)) this.#addRow('Users', 0, ['users'])
    if (entries.some(isOfProcess)) this.#addRow('Process', 0, ['process'])
    for (const label of inTreeOrder([...agents.keys()])) {
      const depth = label.split('/').length - 1
      const all = agents.get(label) ?? []
      for (const agent of all.length === 0 ? [1] : all) {
        const name = depth === 0 ? label : (label.split('/').at(-1) ?? label)
        this.#addRow(all.length > 1 ? `${name} · agent ${agent}` : name, depth, [`${label}#${agent}`, label])
      }
    }
  }

  timeline(endMs: number): Timeline {
    for (const call of this.#calls.values()) this.#end(call, endMs, 'open')
    for (const span of this.#open.values()) close(span, endMs, 'open')
    const turns = this.#spans.filter(({ kind }) => kind === 'turn')
    const waits = turns.flatMap((turn) => waitsIn(turn, this.#spans))
    // A session admitted at once never waited.
    const spans = this.#spans.filter(({ kind, fromMs, toMs }) => kind !== 'queued' || toMs > fromMs)
    layOut(this.#rows, spans)
    return { rows: this.#rows, spans: [...spans, ...waits], marks: this.#marks, endMs }
  }

  read(entry: TraceEntry): void {
    const { type, facts, atMs, label } = entry
    const approval = `approval ${factText(facts['approval'])}`
    switch (type) {
      case 'turn-started':
        return this.#begin(this.#row(entry), `turn ${this.#row(entry)}`, atMs, 'turn', 'turn')
      case 'turn-ended':
        return this.#turnEnded(entry)
      case 'model-called':
        return this.#called(entry, 'model', `step ${factText(facts['step'])}`)
      case 'tool-called':
        this.#callIds.set(`${label} ${factText(facts['callId'])}`, `${label} ${factText(facts['effect'])}`)
        return this.#called(entry, 'tool', factText(facts['tool']))
      case 'model-began':
      case 'tool-began':
        return this.#began(entry)
      case 'retry-scheduled':
        return this.#retried(entry)
      case 'model-replied':
        return this.#answered(entry, keyOf(entry), 'well', `ends with ${factText(facts['stop'])}`)
      case 'model-failed':
        return this.#answered(entry, keyOf(entry), 'failed', failureOf(facts))
      case 'tool-answered': {
        const key = this.#callIds.get(`${label} ${factText(facts['callId'])}`) ?? keyOf(entry)
        return this.#answered(entry, key, facts['isError'] === true ? 'failed' : 'well', '')
      }
      case 'approval-requested':
        return this.#begin(this.#row(entry), approval, atMs, 'approval', `asks for ${factText(facts['tool'])}`)
      case 'approval-answered':
        return this.#finish(approval, atMs, facts['approved'] === true ? 'well' : 'failed')
      case 'session-queued':
      case 'delegation-started':
      case 'session-ended':
        return this.#session(entry)
      default:
        this.#mark(entry)
    }
  }

  #session(entry: TraceEntry): void {
    const { type, facts, atMs, label } = entry
    const id = factText(facts['sessionId'])
    if (type === 'session-queued')
      this.#labels.set(id, `${label}/${factText(facts['agent'])}.${factText(facts['sequence'])}`)
    const index = this.#rowOf.get(this.#labels.get(id) ?? id)
    const row = this.#rows[index ?? -1]
    if (index === undefined || row === undefined) return
    if (type === 'session-queued') return this.#begin(index, id, atMs, 'queued', 'queued')
    this.#finish(id, atMs, type === 'delegation-started' ? 'well' : 'cancelled')
    if (type === 'delegation-started') row.note = `${factText(facts['category'])}: ${factText(facts['task'])}`
    else row.status = factText(facts['lifecycleStatus'])
  }

  #turnEnded(entry: TraceEntry): void {
    const { facts, atMs } = entry
    const row = this.#row(entry)
    for (const [key, call] of this.#calls) {
      if (call.row !== row) continue
      this.#end(call, atMs, 'cancelled')
      this.#calls.delete(key)
    }
    const why = facts['failure'] === undefined ? '' : `: ${failureOf(facts)}`
    this.#finish(`turn ${row}`, atMs, facts['stop'] === 'done' ? 'well' : 'failed', `${factText(facts['stop'])}${why}`)
  }

  #called(entry: TraceEntry, kind: 'model' | 'tool', what: string): void {
    const row = this.#row(entry)
    this.#calls.set(keyOf(entry), {
      row,
      kind,
      what,
      calledMs: entry.atMs,
      span: undefined,
      pause: undefined,
      tries: 0,
    })
  }

  #began(entry: TraceEntry): void {
    const { facts, atMs } = entry
    const call = this.#calls.get(keyOf(entry))
    if (call === undefined) return
    if (call.pause !== undefined) close(call.pause, atMs, 'well')
    call.pause = undefined
    if (call.tries++ === 0 && atMs > call.calledMs) {
      const queue = this.#add(call.row, 'queued', call.calledMs, `${call.what} stands in line`)
      close(queue, atMs, 'well')
    }
    const title = call.kind === 'tool' ? call.what : `${factText(facts['name'])}, ${call.what}`
    call.span = this.#add(call.row, call.kind, atMs, title)
    if (call.tries > 1 || facts['attempt'] !== 1) call.span.facts.push(`try ${factText(facts['attempt'])}`)
  }

  #retried(entry: TraceEntry): void {
    const call = this.#calls.get(keyOf(entry))
    if (call === undefined) return
    const why = failureOf(entry.facts)
    if (call.span !== undefined) close(call.span, entry.atMs, 'failed', why)
    call.span = undefined
    const title = `${call.what} pauses before try ${factText(entry.facts['attempt'])}`
    call.pause = this.#add(call.row, 'retry', entry.atMs, title)
    call.pause.facts.push(why)
  }

  #answered(entry: TraceEntry, key: string, state: SpanState, fact: string): void {
    const call = this.#calls.get(key)
    this.#calls.delete(key)
    if (call !== undefined) return this.#end(call, entry.atMs, state, fact)
    // Answered in the tick that called it, or never called.
    if (entry.type === 'tool-answered') {
      close(this.#add(this.#row(entry), 'tool', entry.atMs, factText(entry.facts['tool'])), entry.atMs, state)
    }
  }

  #end(call: OpenCall, atMs: number, state: SpanState, fact = ''): void {
    const { row, kind, what, calledMs } = call
    if (call.pause !== undefined) close(call.pause, atMs, state)
    const span = call.span ?? (call.tries === 0 ? this.#add(row, kind, calledMs, what) : undefined)
    if (span !== undefined) close(span, atMs, state, fact)
  }

  #mark(entry: TraceEntry): void {
    const { type, facts, atMs, label } = entry
    const lines = Object.entries(facts).map(([name, value]) => `${name}: ${factText(value)}`)
    const add = (row: number | undefined, kind: TimelineMark['kind'], title: string): void => {
      this.#marks.push({ row, kind, atMs, title, facts: lines })
    }
    if (type === 'fault') {
      const [, place = ''] = /^(.*) \S+ \d+$/.exec(factText(facts['at'])) ?? []
      const row = factText(facts['what']).startsWith('users.') ? 'users' : place
      add(this.#rowOf.get(row) ?? this.#rowOf.get('process'), 'fault', factText(facts['what']))
    } else if (type === 'crashed') {
      // Work in flight is lost; it may start again.
      for (const call of this.#calls.values()) {
        if (call.span !== undefined) close(call.span, atMs, 'lost')
        call.span = undefined
      }
      add(undefined, 'crash', 'the process dies, and restarts')
    } else if (type === 'law-broken') {
      add(this.#rowOf.get(label), 'law', `law broken: ${factText(facts['law'])}`)
    } else if (type === 'user-acted') {
      const act = facts['kind'] === 'message' ? facts['text'] : facts['kind']
      add(this.#rowOf.get('users'), 'user', `${factText(facts['user'])}: ${factText(act)}`)
    }
  }

  #begin(row: number, name: string, atMs: number, kind: SpanKind, title: string): void {
    this.#open.set(name, this.#add(row, kind, atMs, title))
  }

  #finish(name: string, atMs: number, state: SpanState, fact = ''): void {
    const span = this.#open.get(name)
    this.#open.delete(name)
    if (span !== undefined) close(span, atMs, state, fact)
  }

  #add(row: number, kind: SpanKind, fromMs: number, title: string): TimelineSpan {
    const span: TimelineSpan = { row, kind, fromMs, toMs: fromMs, state: 'open', title, facts: [], lane: 0 }
    this.#spans.push(span)
    return span
  }

  #addRow(name: string, depth: number, keys: readonly string[]): void {
    for (const key of keys) if (!this.#rowOf.has(key)) this.#rowOf.set(key, this.#rows.length)
    this.#rows.push({ name, depth, note: '', status: '', lanes: 1 })
  }

  #row({ label, facts }: TraceEntry): number {
    const agent = facts['agent']
    return this.#rowOf.get(`${label}#${factText(agent)}`) ?? this.#rowOf.get(label) ?? this.#rowOf.get(this.#root) ?? 0
  }
}

function close(span: TimelineSpan, atMs: number, state: SpanState, fact = ''): void {
  span.toMs = Math.max(atMs, span.fromMs)
  span.state = state
  if (fact !== '') span.facts.push(fact)
}

function keyOf({ label, facts }: TraceEntry): string {
  return `${label} ${factText(facts['effect'])}`
}

function failureOf({ failure }: JsonObject): string {
  const { kind, message } = (failure ?? {}) as { readonly kind?: string; readonly message?: string }
  return [kind, message].filter((part) => part !== undefined).join(': ')
}

function isByUsers({ type, facts }: TraceEntry): boolean {
  return type === 'user-acted' || (type === 'fault' && factText(facts['what']).startsWith('users.'))
}

function isOfProcess({ type, facts }: TraceEntry): boolean {
  return type === 'fault' && factText(facts['at']).startsWith('store ')
}
