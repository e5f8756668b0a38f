import type { Json, JsonObject } from '../../base/json.ts'
import { fingerprint } from '../../world/random.ts'

/** A requested tool call, before it runs. */
export interface ObservedCall {
  readonly name: string
  readonly arguments: JsonObject
  /** What the model wrote instead of a JSON object. */
  readonly malformed?: string | undefined
}

/** Under `enforce` a `critical` alert ends the turn. */
export interface WatchdogAlert {
  readonly severity: 'warning' | 'critical'
  /** One or two sentences, which the model may read. */
  readonly message: string
}

/**
 * Detects a pattern in an agent's tool calls, in order, over steps and turns. Pure: the same state and call give the
 * same. The state is JSON that the World keeps.
 */
export interface WatchdogSignal {
  readonly name: string
  readonly initial: Json
  observe(state: Json, call: ObservedCall): { readonly state: Json; readonly alert?: WatchdogAlert | undefined }
}

export function isSignal(given: unknown): given is WatchdogSignal {
  const { name, initial, observe } = (given ?? {}) as Partial<WatchdogSignal>
  return typeof name === 'string' && name !== '' && initial !== undefined && typeof observe === 'function'
}

/** The built-in signal: the same tool with the same arguments, several times in a row. */
export const repeatedToolCall = 'repeated-tool-call'

/** A run of identical calls. */
export type CallRun = {
  /** What they have in common. */
  readonly key: string
  readonly run: number
}

/** The next call is the first of its run, whatever the conversation has. */
export const noRun: CallRun = { key: '', run: 0 }

/** Longer keys are replaced by their length and a 53-bit hash. */
const maxKeyChars = 64

/** What identical calls have in common. A World keeps object keys sorted. */
export function keyOfCall({ name, arguments: input, malformed }: ObservedCall): string {
  const text = `${name} ${malformed ?? JSON.stringify(input)}`
  return text.length > maxKeyChars ? `${name} ${text.length} ${fingerprint(text)}` : text
}

/** Are two calls identical? Most differ early, and arguments may be long. */
export function isSameCall(one: ObservedCall, other: ObservedCall): boolean {
  if (one.name !== other.name || one.malformed !== other.malformed) return false
  return one.malformed !== undefined || isSameJson(one.arguments, other.arguments)
}

export function repeatedAlert(name: string, run: number): WatchdogAlert {
  const repeated = `${name} has been called ${run} times in a row with the same arguments.`
  const advice = 'Another identical call will not help: change the approach, or say what blocks you.'
  return { severity: 'critical', message: `${repeated} ${advice}` }
}

function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (isList(one) || isList(other)) {
    return (
      isList(one) && isList(other) && one.length === other.length && one.every((item, i) => isSameJson(item, other[i]))
    )
  }
  let count = 0
  for (const key in one) {
    if (!isSameJson(one[key], other[key])) return false
    count++
  }
  for (const _ in other) count--
  return count === 0
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}
