import type { SubtaskResult } from '../../../components/subtask.ts'
import type { SummaryResult } from '../../../components/summary-result.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { Entity } from '../../world/component.ts'
import type { EventsByType } from '../events.ts'
import type { Listeners } from '../listeners.ts'

/** A session that was launched. */
export interface Launched {
  readonly session: Entity
  readonly sessionId: string
  readonly sequence: number
}

/** Lets programs wait until what they have asked of a world is done: sessions, questions, subtasks, summaries. */
export class Completions {
  /** Questions that programs are about to ask, by session. */
  readonly asking = new Map<string, string>()
  /** Sessions and questions whose results programs are about to collect. */
  readonly collecting = new Set<string>()
  readonly #waiting = new Map<string, PromiseWithResolvers<unknown>>()
  #launches = 0

  constructor(listeners: Listeners) {
    listeners.on('session-queued', ({ path, correlationId, ...facts }: Of<'session-queued'>) => {
      if (path === undefined) this.#complete(`launch ${correlationId}`, facts)
    })
    listeners.on('session-ended', ({ path, session }: Of<'session-ended'>) => {
      if (path === undefined) this.#complete(`end ${session}`, true)
    })
    listeners.on('query-answered', ({ path, query }: Of<'query-answered'>) => {
      if (path === undefined) this.#complete(`query ${query}`, true)
    })
    listeners.on('summary-answered', ({ path, requests, result }: Of<'summary-answered'>) => {
      if (path === undefined) for (const request of requests) this.#complete(`summary ${request}`, result)
    })
    listeners.on('subtask-ended', ({ path, request, result }: Of<'subtask-ended'>) => {
      if (path === undefined) this.#complete(`subtask ${request}`, result)
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

  /** This request was refused: it is never completed. */
  forget(requestId: string): void {
    for (const what of ['launch', 'query', 'subtask', 'summary']) this.#waiting.delete(`${what} ${requestId}`)
  }

  /** Nothing is completed any more. */
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
      // A program that does not wait any more need not hear of it.
      waiting.promise.catch(() => undefined)
    }
    return waiting.promise as Promise<T>
  }

  #complete(what: string, value: unknown): void {
    this.#waiting.get(what)?.resolve(value)
    this.#waiting.delete(what)
  }
}

type Of<K extends keyof EventsByType> = { readonly type: K } & EventsByType[K]
