import type { Json, JsonObject } from '../base/json.ts'

/** One line of a trace. */
export interface TraceEntry {
  /** World time of the simulation in milliseconds, across restarts. */
  readonly atMs: number
  /** A world's label, or `-` outside of all worlds. */
  readonly label: string
  /** The world's tick; absent outside of worlds. */
  readonly tick?: number
  readonly type: string
  readonly facts: JsonObject
}

export function isRoot({ label }: TraceEntry): boolean {
  return !label.includes('/')
}

/** A fact of an entry as text; empty where there is none. */
export function factText(fact: Json | undefined): string {
  if (typeof fact === 'string') return fact
  return fact === undefined ? '' : JSON.stringify(fact)
}
