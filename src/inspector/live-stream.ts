import type { LiveEvents, LiveQuery, StreamedDelta, WorldEntry } from './reading/wire.ts'
import type { News, Source } from './source.ts'

/** What waits for a page that reads slowly. What is more is left out, and read again from where it is kept. */
const maxWaitingDeltas = 2_000
const maxWaitingWorlds = 20_000
/** News of worlds are put together this long. */
const gatherMs = 80
const pingEachMs = 15_000
const maxRowsPerEvent = 500

/**
 * The news of a source as server-sent events. It reads as fast as the page takes it: what a page has not taken is not kept here, but
 * read when it goes on.
 */
export class LiveStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #source: Source
  readonly #world: string | undefined
  /** The newest tick that the page has of the followed world; `undefined`: it follows none. */
  #after: number
  #newest = -1
  readonly #moved = new Map<string, WorldEntry>()
  readonly #gone = new Set<string>()
  #deltas: StreamedDelta[] = []
  /** The texts so far are due: of a page that begins, or has not taken all pieces of them. */
  #wantsTexts = true
  #ended: Extract<News, { type: 'ended' }> | undefined
  #wake = Promise.withResolvers<void>()
  #end: () => void = () => undefined
  #isClosed = false
  #sentMs = -Infinity
  readonly #encoder = new TextEncoder()

  constructor(source: Source, { after = -1, world }: LiveQuery) {
    this.#source = source
    this.#world = world
    this.#after = after
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#end = source.watch((news) => this.#hear(news))
          this.#moved.clear()
          controller.enqueue(this.#encoder.encode(': entia\n\n'))
          if (world !== undefined) this.#newest = Infinity
        },
        pull: (controller) => this.#pull(controller),
        cancel: () => this.close(),
      },
      { highWaterMark: 1 },
    )
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#end()
    this.#wake.resolve()
  }

  #hear(news: News): void {
    if (news.type === 'moved') {
      const { entry } = news
      if (entry.name === this.#world) this.#newest = Math.max(this.#newest === Infinity ? -1 : this.#newest, entry.tick)
      this.#gone.delete(entry.name)
      if (this.#moved.size < maxWaitingWorlds || this.#moved.has(entry.name)) this.#moved.set(entry.name, entry)
    } else if (news.type === 'delta') {
      // What is heard now is in the texts that are due.
      if (!this.#wantsTexts) this.#deltas.push(news)
      if (this.#deltas.length > maxWaitingDeltas) {
        this.#deltas = []
        this.#wantsTexts = true
      }
    } else if (news.type === 'gone') {
      this.#moved.delete(news.world)
      if (this.#gone.size < maxWaitingWorlds) this.#gone.add(news.world)
    } else this.#ended = news
    this.#wake.resolve()
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      if (this.#isClosed) return closed(controller)
      const text = await this.#next()
      if (text !== '') {
        this.#sentMs = performance.now()
        return controller.enqueue(this.#encoder.encode(text))
      }
      this.#wake = Promise.withResolvers()
      if (this.#hasNews) continue
      let isPing = false
      const timer = setTimeout(() => {
        isPing = true
        this.#wake.resolve()
      }, pingEachMs).unref()
      await this.#wake.promise
      clearTimeout(timer)
      if (isPing) return controller.enqueue(this.#encoder.encode(': here\n\n'))
      // What comes at nearly the same time goes in one piece.
      const waitMs = this.#sentMs + gatherMs - performance.now()
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
    }
  }

  get #hasNews(): boolean {
    return (
      this.#wantsTexts ||
      this.#moved.size > 0 ||
      this.#gone.size > 0 ||
      this.#deltas.length > 0 ||
      this.#ended !== undefined ||
      this.#newest > this.#after
    )
  }

  /** Events that are due, as text; empty: none. */
  async #next(): Promise<string> {
    const parts: string[] = []
    if (this.#wantsTexts) {
      this.#wantsTexts = false
      for (const streamed of this.#source.streamed?.() ?? []) parts.push(event('streamed', streamed))
    }
    for (const delta of this.#deltas.splice(0)) parts.push(event('delta', withoutType(delta)))
    if (this.#moved.size + this.#gone.size > 0) {
      const gone = this.#gone.size > 0 ? [...this.#gone] : undefined
      parts.push(event('worlds', { changed: [...this.#moved.values()], gone }))
      this.#moved.clear()
      this.#gone.clear()
    }
    if (this.#world !== undefined && this.#newest > this.#after) parts.push(await this.#rows(this.#world))
    if (this.#ended !== undefined && this.#newest <= this.#after) {
      const { isFailure, message } = this.#ended
      parts.push(event('ended', { isFailure, message }))
      this.#ended = undefined
    }
    return parts.join('')
  }

  async #rows(world: string): Promise<string> {
    let rows
    try {
      // One more than is sent says whether there are further ones.
      rows = await this.#source.rows(world, Math.max(this.#after, 0), Math.max(this.#after, 0) + maxRowsPerEvent + 1)
    } catch {
      // It is read again with the next news.
      this.#newest = this.#after
      return ''
    }
    if (rows === undefined) {
      const newest = (await this.#source.entry(world))?.tick ?? 0
      this.#after = newest
      this.#newest = newest
      return event('reset', { world, newest })
    }
    const sent = rows.slice(0, maxRowsPerEvent)
    const last = sent.at(-1)
    const newest = rows.at(-1)?.tick ?? this.#after
    this.#after = last?.tick ?? this.#after
    this.#newest = Math.max(this.#newest === Infinity ? -1 : this.#newest, newest)
    if (last === undefined) {
      this.#newest = this.#after
      return ''
    }
    return event('rows', { world, rows: sent, newest }, String(last.tick))
  }
}

function withoutType(given: StreamedDelta): StreamedDelta {
  const { agent, attempt, delta, effect, index, world } = given
  return { world, agent, effect, attempt, index, delta }
}

function event<Name extends keyof LiveEvents>(name: Name, data: LiveEvents[Name], id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}

function closed(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close()
  } catch {
    // The page has gone.
  }
}
