import type { Json, JsonObject } from '../world/json.ts'

/** One line of a trace as data: what happened, when, and in which world. */
export interface TraceEntry {
  /** World time of the simulation in milliseconds, over all restarts. */
  readonly atMs: number
  /** A world's label, or `-` for what happens outside of all worlds. */
  readonly label: string
  /** The tick of that world; absent outside of worlds. */
  readonly tick?: number
  readonly type: string
  readonly facts: JsonObject
}

/** A fact of an entry as a text; empty where there is none. */
export function factText(fact: Json | undefined): string {
  if (typeof fact === 'string') return fact
  return fact === undefined ? '' : JSON.stringify(fact)
}
