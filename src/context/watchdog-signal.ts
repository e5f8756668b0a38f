import type { JsonObject, Json } from '../world/json.ts'
import { fingerprint } from '../world/random.ts'

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

/** Longer texts are remembered by their length and a hash of 53 bits. */
const maxKeyChars = 64

/**
 * The same tool, so many times in a row, with the same arguments: compared as JSON with sorted keys, values literally. It
 * alerts once; again only after a different call.
 */
export function repeatedToolCall(threshold: number): WatchdogSignal {
  return {
    name: 'repeated-tool-call',
    initial: { key: '', run: 0 },
    observe(state, call) {
      const { key: last, run: before } = state as { readonly key: string; readonly run: number }
      const key = keyOf(call)
      const run = key === last ? before + 1 : 1
      if (run !== threshold) return { state: { key, run } }
      const repeated = `${call.name} has been called ${run} times in a row with the same arguments.`
      const advice = 'Another identical call will not help: change the approach, or say what blocks you.'
      return { state: { key, run }, alert: { severity: 'critical', message: `${repeated} ${advice}` } }
    },
  }
}

/** A World keeps the keys of its objects sorted. */
function keyOf({ name, arguments: input, malformed }: ObservedCall): string {
  const text = `${name} ${malformed ?? JSON.stringify(input)}`
  return text.length > maxKeyChars ? `${name} ${text.length} ${fingerprint(text)}` : text
}
