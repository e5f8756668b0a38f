import type { Json, JsonObject } from '../../world/json.ts'
import { fingerprint } from '../../world/random.ts'

/** A tool call that a model has asked for, as a watchdog sees it: before it runs. */
export interface ObservedCall {
  readonly name: string
  readonly arguments: JsonObject
  /** What the model wrote instead of a JSON object. */
  readonly malformed?: string | undefined
}

/** What a signal has noticed. Under `enforce` a `critical` one ends the turn. */
export interface WatchdogAlert {
  readonly severity: 'warning' | 'critical'
  /** One or two sentences, which the model may be told. */
  readonly message: string
}

/**
 * A pattern in an agent's tool calls, in their order, over steps and turns. Pure: the same state and call give the same, and
 * the state is JSON that is kept in the World.
 */
export interface WatchdogSignal {
  readonly name: string
  readonly initial: Json
  observe(state: Json, call: ObservedCall): { readonly state: Json; readonly alert?: WatchdogAlert | undefined }
}

/** Is that a signal, as far as can be seen? */
export function isSignal(given: unknown): given is WatchdogSignal {
  const { name, initial, observe } = (given ?? {}) as Partial<WatchdogSignal>
  return typeof name === 'string' && name !== '' && initial !== undefined && typeof observe === 'function'
}

/** The watchdog's own signal: the same tool, so many times in a row, with the same arguments. */
export const repeatedToolCall = 'repeated-tool-call'

/** How many calls in a row were the same. */
export type CallRun = {
  /** What they have in common. */
  readonly key: string
  readonly run: number
}

/** Nothing has been called: the next call is the first of its run, whatever the conversation says. */
export const noRun: CallRun = { key: '', run: 0 }

/** Longer texts are remembered by their length and a hash of 53 bits. */
const maxKeyChars = 64

/** What identical calls have in common. A World keeps the keys of its objects sorted. */
export function keyOfCall({ name, arguments: input, malformed }: ObservedCall): string {
  const text = `${name} ${malformed ?? JSON.stringify(input)}`
  return text.length > maxKeyChars ? `${name} ${text.length} ${fingerprint(text)}` : text
}

/** Are two calls identical? Values are compared literally. Most differ early, and their arguments may be long. */
export function isSameCall(one: ObservedCall, other: ObservedCall): boolean {
  if (one.name !== other.name || one.malformed !== other.malformed) return false
  return one.malformed !== undefined || isSameJson(one.arguments, other.arguments)
}

/** What is told of so many identical calls. */
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
