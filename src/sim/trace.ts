import { misuse } from './describe-value.ts'
import { createHash, type Hash } from 'node:crypto'
import { withoutContentOf } from '../engine/loop/stored-ticks.ts'
import { cutText } from '../base/cut-text.ts'
import type { WorldEvent } from '../world/input.ts'
import type { Json } from '../base/json.ts'
import { mermaidChart } from './mermaid.ts'
import type { TraceEntry } from './trace-entry.ts'

const maxTextChars = 80

/**
 * What happened in a run, one line an event: `<ms> <world> <tick> <event> <facts as JSON>`. The same seed gives the
 * same lines on every machine.
 */
export class Trace {
  /** Most traces are never read: events become entries on the first read. */
  readonly #kept: (TraceEntry | KeptEvent)[] = []
  #entries: readonly TraceEntry[] = []
  #hash: Hash | undefined
  readonly #onLine: ((line: string, entry: TraceEntry) => void) | undefined
  readonly #isKept: boolean
  #digest: string | undefined
  #length = 0
  /** Lines that are not hashed yet. */
  #text = ''

  /** @param onLine gets each line as it is written; then none is kept, so that a long run costs no memory */
  constructor(onLine?: (line: string, entry: TraceEntry) => void) {
    this.#onLine = onLine
    this.#isKept = onLine === undefined
  }

  get length(): number {
    return this.#length
  }

  /** Empty with `onLine`. */
  get entries(): readonly TraceEntry[] {
    if (this.#entries.length < this.#kept.length) this.#entries = this.#kept.map(entryOf)
    return this.#entries
  }

  get lines(): readonly string[] {
    return this.entries.map(lineOf)
  }

  /** SHA-256 of all lines, in hex. Reading it closes the trace. */
  get hash(): string {
    if (this.#digest !== undefined) return this.#digest
    for (const entry of this.#kept) this.#add(lineOf(entryOf(entry)))
    this.#digest = this.#hashing.update(this.#text).digest('hex')
    return this.#digest
  }

  write(entry: TraceEntry): void {
    if (this.#digest !== undefined) return
    this.#length++
    if (this.#isKept) return void this.#kept.push(entry)
    this.#emitLine(entry)
  }

  writeEvents(atMs: number, label: string, tick: number, events: readonly WorldEvent[]): void {
    if (this.#digest !== undefined) return
    this.#length += events.length
    for (const event of events) {
      const kept: KeptEvent = { atMs, label, tick, event }
      if (this.#isKept) this.#kept.push(kept)
      else this.#emitLine(entryOf(kept))
    }
  }

  get #hashing(): Hash {
    return (this.#hash ??= createHash('sha256'))
  }

  #emitLine(entry: TraceEntry): void {
    const line = lineOf(entry)
    this.#add(line)
    this.#onLine?.(line, entry)
  }

  #add(line: string): void {
    this.#text += `${line}\n`
    if (this.#text.length < maxTextHeld) return
    this.#hashing.update(this.#text)
    this.#text = ''
  }

  toString(): string {
    return this.lines.join('\n')
  }

  /** A sequence chart of the run for Mermaid. @throws `invalid-argument` where no lines are kept */
  toMermaid(): string {
    if (this.#isKept) return mermaidChart(this.entries)
    const what = 'Trace.toMermaid() draws the lines that are kept; with onTrace none is'
    throw misuse(`${what}. Leave out onTrace, or draw them from there.`)
  }
}

/** An event that becomes an entry when it is read. */
interface KeptEvent {
  readonly atMs: number
  readonly label: string
  readonly tick: number
  readonly event: WorldEvent
}

function entryOf(kept: TraceEntry | KeptEvent): TraceEntry {
  if (!('event' in kept)) return kept
  const { atMs, label, tick, event } = kept
  const { type, ...facts } = withoutContentOf(event)
  return { atMs, label, tick, type, facts }
}

const maxTextHeld = 65_536

function lineOf({ atMs, label, tick, type, facts }: TraceEntry): string {
  const whole = JSON.stringify(facts)
  const isShort = whole.length <= maxTextChars
  const shown = isShort ? whole : JSON.stringify(facts, (_, value: Json) => shortened(value))
  return `${atMs} ${label} ${tick ?? '-'} ${type} ${shown}`
}

function shortened(value: Json): Json {
  return typeof value === 'string' && value.length > maxTextChars ? `${cutText(value, maxTextChars)}…` : value
}
