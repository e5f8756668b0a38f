import type { StandardInput } from '../../protocol/input.ts'
import type { SubtaskResult } from '../../protocol/delegation.ts'
import type { SummaryResult } from '../../protocol/context.ts'
import { takeRefused } from '../../rules/delegation/refused-requests.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { EventsByType } from '../loop/events.ts'
import type { Listeners } from '../loop/listeners.ts'

export interface Launched {
  readonly session: Entity
  readonly sessionId: string
  readonly sequence: number
}

/** Lets programs wait for what they have requested of a world: sessions, questions, subtasks, summaries. */
export class Completions {
  /** Questions that programs are about to ask, by session. */
  readonly asking = new Map<string, string>()
  /** Sessions and questions whose results programs are about to collect. */
  readonly collecting = new Set<string>()
  readonly #waiting = new Map<string, PromiseWithResolvers<unknown>>()
  readonly post: (input: StandardInput) => Promise<unknown>
  readonly #world: World
  #requests = 0

  constructor(world: World, listeners: Listeners, post: Completions['post']) {
    this.post = post
    this.#world = world
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

  /** An id that is unique among the requests of this world, provided that its tick is committed. */
  requestId(): string {
    return `program-${this.#world.tick}-${++this.#requests}`
  }

  launch(input: (correlationId: string) => StandardInput): Promise<Launched> {
    return this.#ask('launch', input)
  }

  summary(input: (request: string) => StandardInput): Promise<SummaryResult> {
    return this.#ask('summary', input)
  }

  subtask(input: (request: string) => StandardInput): Promise<SubtaskResult> {
    return this.#ask('subtask', input)
  }

  /** Requests what is done at once. @param details of the error @throws what it is refused with */
  async once(input: (request: string) => StandardInput, details: Record<string, unknown>): Promise<void> {
    await this.#post(this.requestId(), input, details)
  }

  ended(session: Entity): Promise<true> {
    return this.#next(`end ${session}`)
  }

  answered(query: string): Promise<true> {
    return this.#next(`query ${query}`)
  }

  forget(query: string): void {
    this.#waiting.delete(`query ${query}`)
  }

  close(world: string): void {
    const error = new EntiaError('world-driven', `The Runner of world '${world}' ended before this was known.`)
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }

  async #ask<T>(what: string, input: (request: string) => StandardInput): Promise<T> {
    const request = this.requestId()
    const completed = this.#next<T>(`${what} ${request}`)
    try {
      await this.#post(request, input)
    } catch (error) {
      this.#waiting.delete(`${what} ${request}`)
      throw error
    }
    return completed
  }

  async #post(
    request: string,
    input: (request: string) => StandardInput,
    details?: Record<string, unknown>,
  ): Promise<void> {
    await this.post(input(request))
    const refused = takeRefused(this.#world, request)
    if (refused !== undefined) throw new EntiaError(refused.code, refused.reason, details)
  }

  #next<T>(what: string): Promise<T> {
    let waiting = this.#waiting.get(what)
    if (waiting === undefined) {
      this.#waiting.set(what, (waiting = Promise.withResolvers<unknown>()))
      // A program may have stopped waiting.
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
