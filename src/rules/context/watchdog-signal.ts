import type { JsonObject, Json } from '../../world/json.ts'

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
