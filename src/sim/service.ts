import { refuseUnknownOptions } from '../world/known-options.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Json } from '../world/json.ts'
import { type Chance, checkedRange, type Range } from './chance.ts'
import { describeValue } from './describe-value.ts'

/** What a call of a service needs of the tool that makes it: its context has it all. */
export interface ServiceCaller {
  readonly key: string
  readonly sleep: (durationMs: number) => Promise<void>
}

/** A request that a service is asked with, and what goes with it. */
export interface ServiceRequest<Request> {
  readonly request: Request
  /** The caller's idempotency key: the same when a restart calls again. */
  readonly key: string
}

export interface ServiceOptions {
  /** How long a request is on its way, and its answer: each takes a part of it. @default [5, 300] */
  readonly latencyMs?: Range
}

/** A service as a run has it: its state, and how tools call it. */
export interface RunningService<State, Request, Reply> {
  /** What it has become so far. Laws look at it; it outlives every crash. */
  readonly state: State
  /** Calls it. Rejects with what the behaviour throws. */
  readonly call: (request: Request, caller: ServiceCaller) => Promise<Reply>
}

/** Something outside the worlds that keeps a state of its own, such as a mail server or a bank. Each run has a fresh one. */
export interface Service<State = unknown, Request = never, Reply = unknown> {
  readonly start: (chance: Chance, name: string) => RunningService<State, Request, Reply>
}

/** Services by name. */
export type ServiceSet = Readonly<Record<string, Service>>

/** The same as a run has them. */
export type RunningServices<S extends ServiceSet> = { readonly [N in keyof S]: ReturnType<S[N]['start']> }

/** What the services of a run have become. */
export type ServiceStates<S extends ServiceSet> = { readonly [N in keyof S]: ReturnType<S[N]['start']>['state'] }

/**
 * A simulated service. What was done to its state stays done, even where the process that asked dies before it hears.
 *
 * @param state makes its first state
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
    throw new EntiaError(
      'invalid-argument',
      `service() takes a function that makes a state, and a behaviour, got ${pair}.`,
    )
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
