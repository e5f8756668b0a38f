import { refuseUnknownOptions } from '../base/known-options.ts'
import type { Json } from '../base/json.ts'
import { type Chance, checkedRange, type Range } from './chance.ts'
import { describeValue, misuse } from './describe-value.ts'

/** Taken from the context of the calling tool. */
export interface ServiceCaller {
  readonly key: string
  readonly sleep: (durationMs: number) => Promise<void>
}

/** A request to a simulated service. */
export interface ServiceRequest<Request> {
  readonly request: Request
  /** The caller's idempotency key: the same after a restart. */
  readonly key: string
}

/** Options of a simulated service. */
export interface ServiceOptions {
  /** Split between the request's way there and its way back. @default [5, 300] */
  readonly latencyMs?: Range
}

/** A service in a run: its state, and how tools call it. */
export interface RunningService<State, Request, Reply> {
  /** Its current state. Laws may read it; it survives crashes. */
  readonly state: State
  /** Calls the service. Rejects with what the behaviour throws. */
  readonly call: (request: Request, caller: ServiceCaller) => Promise<Reply>
}

/** Something outside the worlds with its own state, such as a mail server or a bank. Each run has a fresh one. */
export interface Service<State = unknown, Request = never, Reply = unknown> {
  readonly start: (chance: Chance, name: string) => RunningService<State, Request, Reply>
}

/** Services by name. */
export type ServiceSet = Readonly<Record<string, Service>>

/** The services of a simulated run. */
export type RunningServices<S extends ServiceSet> = { readonly [N in keyof S]: ReturnType<S[N]['start']> }

/** What the services of a run have come to, by name. */
export type ServiceStates<S extends ServiceSet> = { readonly [N in keyof S]: ReturnType<S[N]['start']>['state'] }

/**
 * A simulated service. Changes to its state persist even if the calling process dies before it gets the reply.
 * @param state makes the initial state
 * @param behaviour answers a request and changes the state; what it throws, the caller gets
 * @throws `invalid-argument`
 */
export function service<State, Request = Json, Reply = Json>(
  state: () => State,
  behaviour: (asked: ServiceRequest<Request>, state: State) => Reply,
  options: ServiceOptions = {},
): Service<State, Request, Reply> {
  if (typeof state !== 'function' || typeof behaviour !== 'function') {
    const pair = `${describeValue(state)} and ${describeValue(behaviour)}`
    throw misuse(`service() takes a function that makes a state, and a behaviour, got ${pair}.`)
  }
  refuseUnknownOptions('service()', options, ['latencyMs'])
  const latencyMs = checkedRange('service(): latencyMs', options.latencyMs ?? [5, 300])
  return {
    start(chance, name) {
      const current = state()
      let calls = 0
      return {
        state: current,
        async call(request, { key, sleep }) {
          const question = `${name} call ${++calls}`
          await sleep(chance.within(latencyMs, `${question} there`))
          const reply = behaviour({ request, key }, current)
          await sleep(chance.within(latencyMs, `${question} back`))
          return reply
        },
      }
    },
  }
}
