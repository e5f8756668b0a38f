import type { SubtaskResult } from '../../components/subtask.ts'
import type { SummaryResult } from '../../components/summary-result.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Entity } from '../world/component.ts'
import type { EventsByType } from './events.ts'
import type { Listeners } from './listeners.ts'

/** A session that was launched. */
export interface Launched {
  readonly session: Entity
  readonly sessionId: string
  readonly sequence: number
}

/** Lets programs wait for what happens to the sessions and subtasks of a world, however many, and for what they asked. */
export class SessionNews {
  readonly #waiting = new Map<string, PromiseWithResolvers<unknown>>()
  #launches = 0

  constructor(listeners: Listeners) {
    listeners.on('session-queued', ({ path, correlationId, ...facts }: Told<'session-queued'>) => {
      if (path === undefined) this.#tell(`launch ${correlationId}`, facts)
    })
    listeners.on('session-ended', ({ path, session }: Told<'session-ended'>) => {
      if (path === undefined) this.#tell(`end ${session}`, true)
    })
    listeners.on('query-answered', ({ path, query }: Told<'query-answered'>) => {
      if (path === undefined) this.#tell(`query ${query}`, true)
    })
    listeners.on('summary-answered', ({ path, requests, result }: Told<'summary-answered'>) => {
      if (path === undefined) for (const request of requests) this.#tell(`summary ${request}`, result)
    })
    listeners.on('subtask-ended', ({ path, request, result }: Told<'subtask-ended'>) => {
      if (path === undefined) this.#tell(`subtask ${request}`, result)
    })
  }

  /** An id that no other request of this world has, as long as the tick is committed with it. */
  requestId(tick: number): string {
    return `program-${tick}-${++this.#launches}`
  }

  launched(correlationId: string): Promise<Launched> {
    return this.#next(`launch ${correlationId}`)
  }

  ended(session: Entity): Promise<true> {
    return this.#next(`end ${session}`)
  }

  answered(query: string): Promise<true> {
    return this.#next(`query ${query}`)
  }

  summarized(request: string): Promise<SummaryResult> {
    return this.#next(`summary ${request}`)
  }

  subtaskEnded(request: string): Promise<SubtaskResult> {
    return this.#next(`subtask ${request}`)
  }

  /** Nothing will be told of this request: it was refused. */
  forget(requestId: string): void {
    for (const what of ['launch', 'query', 'subtask', 'summary']) this.#waiting.delete(`${what} ${requestId}`)
  }

  /** Nothing is told any more. */
  close(world: string): void {
    const error = new EntiaError('world-driven', `The Runner of world '${world}' ended before this was known.`)
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }

  /** All who wait for the same thing share a promise, however often they ask. */
  #next<T>(what: string): Promise<T> {
    let waiting = this.#waiting.get(what)
    if (waiting === undefined) {
      this.#waiting.set(what, (waiting = Promise.withResolvers<unknown>()))
      // Who does not wait any more need not hear of it.
      waiting.promise.catch(() => undefined)
    }
    return waiting.promise as Promise<T>
  }

  #tell(what: string, value: unknown): void {
    this.#waiting.get(what)?.resolve(value)
    this.#waiting.delete(what)
  }
}

type Told<K extends keyof EventsByType> = { readonly type: K } & EventsByType[K]
