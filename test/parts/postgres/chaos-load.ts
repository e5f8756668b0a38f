import { setTimeout } from 'node:timers/promises'
import type { Fleet } from 'entia/postgres'

export interface LoadOptions {
  /** Root worlds that are asked at once, each again once it has answered. */
  readonly desks: number
  /** Sessions that each question makes. */
  readonly jobs: number
}

/** What the load came to. */
export interface LoadResult {
  readonly asked: number
  readonly sessions: number
  /** What was answered otherwise than it should. */
  readonly wrong: readonly string[]
}

/** Asks desks to have jobs done, over and over, and keeps what was answered otherwise than it should. */
export class Load {
  readonly #front: Fleet
  readonly #options: LoadOptions
  readonly #wrong: string[] = []
  readonly #settled = new Map<string, number>()
  readonly #asked = new Map<string, number>()
  /** Desks that were asked and have not answered. */
  readonly #open = new Set<string>()
  readonly #desks: Promise<void>[]
  #isEnding = false

  constructor(front: Fleet, options: LoadOptions) {
    this.#front = front
    this.#options = options
    this.#desks = Array.from({ length: options.desks }, (_, desk) => this.#ask(`desk/${desk}`))
  }

  /** Questions that were answered so far. */
  get answered(): number {
    return [...this.#asked.values()].reduce((sum, each) => sum + each, 0)
  }

  /**
   * Asks no more, and resolves once all that was asked is answered and looked at.
   * @param forMs after which what is not answered counts as wrong
   */
  async end(forMs: number): Promise<LoadResult> {
    this.#isEnding = true
    const given = new AbortController()
    const late = setTimeout(forMs, undefined, { signal: given.signal }).catch(() => undefined)
    await Promise.race([Promise.all(this.#desks), late])
    given.abort()
    for (const name of this.#open) this.#wrong.push(`${name} has not answered for ${forMs / 1_000} s`)
    const sessions = await Promise.all([...this.#asked].map(([name, asked]) => this.#checkSessions(name, asked)))
    const twice = [...this.#settled].filter(([, times]) => times > 1)
    for (const [what, times] of twice) this.#wrong.push(`${what} was settled ${times} times`)
    return { asked: this.answered, sessions: sessions.reduce((sum, each) => sum + each, 0), wrong: this.#wrong }
  }

  async #ask(name: string): Promise<void> {
    const world = this.#front.agent(name)
    const events = world.events()
    const watched = this.#watch(events, name)
    for (let round = 0; !this.#isEnding; round++) {
      this.#open.add(name)
      const jobs = Array.from(
        { length: this.#options.jobs },
        (_, job) => `${name.replace('desk/', '')}.${round}.${job}`,
      )
      const expected = jobs.map((job) => `${job} done`).join('; ')
      try {
        const { text } = await world.ask(`Jobs: ${jobs.join(' ')}`)
        if (text !== expected) this.#wrong.push(`${name} answered '${text}', not '${expected}'`)
      } catch (error) {
        this.#wrong.push(`${name} did not answer: ${String(error)}`)
        break
      }
      this.#open.delete(name)
      this.#asked.set(name, round + 1)
    }
    this.#open.delete(name)
    events.end()
    await watched
  }

  /** Counts what is settled, as the world tells it. */
  async #watch(events: AsyncIterable<{ readonly type: string }>, name: string): Promise<void> {
    for await (const event of events) {
      if (event.type !== 'session-ended' || !('sessionId' in event) || 'path' in event) continue
      const key = `${name}, session ${String(event.sessionId)}`
      this.#settled.set(key, (this.#settled.get(key) ?? 0) + 1)
    }
  }

  /** Gives how many sessions a desk has had. */
  async #checkSessions(name: string, asked: number): Promise<number> {
    const sessions = await this.#front.agent(name).sessions()
    const expected = asked * this.#options.jobs
    if (sessions.length !== expected) this.#wrong.push(`${name} has ${sessions.length} sessions of ${expected}`)
    for (const { sessionId, status } of sessions)
      if (status !== 'succeeded') this.#wrong.push(`${name}, session ${sessionId} is ${status}`)
    return sessions.length
  }
}
