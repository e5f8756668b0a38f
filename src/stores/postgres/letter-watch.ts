import { clearTimeout, setTimeout } from 'node:timers'
import type { Connections } from './connections.ts'
import type { WorldName } from '../port.ts'
import { nameOf, placeOf } from './place.ts'
import type { Presence } from './presence.ts'

export interface LetterWatchOptions {
  readonly schema: string
  readonly channel: string
  readonly pollMs: number
}

/** Keys of worlds are hexadecimal digits in groups. */
const isKeys = (payload: string): boolean => payload.includes('-')

type Hear = (root: string, world: string) => void

/** More news than this at a time is found by the next looks. */
const maxNewsPerLook = 10_000

/** Tells those who listen which worlds have got letters: at a notification, and by looking each second, since one may be lost. */
export class LetterWatch {
  readonly #connections: Connections
  readonly #presence: Presence
  readonly #options: LetterWatchOptions
  readonly #listeners = new Set<Hear>()
  /** Those of one world, by its place. */
  readonly #ofWorlds = new Map<string, Set<() => void>>()
  readonly #notified = new Set<(places: readonly string[]) => void>()
  readonly #newsListeners = new Map<string, Set<() => void>>()
  #places = new Set<string>()
  #isLooking = false
  #timer: NodeJS.Timeout | undefined
  #isWatching = false
  #isClosed = false
  /** Ids of letters up to which earlier looks have seen. Transactions end in another order than their ids, so the last one is seen again. */
  #seen = 0
  #seenBefore = 0

  constructor(connections: Connections, presence: Presence, options: LetterWatchOptions) {
    this.#connections = connections
    this.#presence = presence
    this.#options = options
  }

  on(hear: Hear): () => void {
    // One function may listen twice.
    const listener: Hear = (root, world) => hear(root, world)
    this.#listeners.add(listener)
    this.#listen()
    if (!this.#isWatching) void this.#watch()
    return () => void this.#listeners.delete(listener)
  }

  /** The same for one world: its name need not be looked up. */
  onWorld({ root: of, world }: WorldName, hear: Hear): () => void {
    const root = of ?? world
    const { place } = placeOf(world, root)
    const listeners = this.#ofWorlds.get(place) ?? new Set()
    this.#ofWorlds.set(place, listeners)
    const listener = (): void => hear(root, world)
    listeners.add(listener)
    this.#listen()
    if (!this.#isWatching) void this.#watch()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#ofWorlds.delete(place)
    }
  }

  /** Calls a listener at notifications alone, with the places of worlds: it looks for itself whether one was lost. */
  onNotified(hear: (places: readonly string[]) => void): () => void {
    const listener = (places: readonly string[]): void => hear(places)
    this.#notified.add(listener)
    this.#listen()
    return () => void this.#notified.delete(listener)
  }

  /** Calls a listener at news that are not of letters. */
  onNews(news: string, hear: () => void): () => void {
    const listeners = this.#newsListeners.get(news) ?? new Set()
    this.#newsListeners.set(news, listeners)
    const listener = (): void => hear()
    listeners.add(listener)
    this.#listen()
    return () => void listeners.delete(listener)
  }

  /** @param payload keys of worlds, or a word, with the id of a worker behind it where it is for that one alone */
  news(payload: string): void {
    if (!isKeys(payload)) {
      const [word = '', worker] = payload.split(' ')
      if (worker !== undefined && Number(worker) !== this.#presence.worker) return
      for (const hear of this.#newsListeners.get(word) ?? []) hear()
      return
    }
    const places = payload.split(',')
    for (const hear of this.#notified) hear(places)
    for (const place of places) for (const hear of this.#ofWorlds.get(place) ?? []) hear()
    if (this.#listeners.size === 0) return
    for (const place of places) this.#places.add(place)
    if (!this.#isLooking) void this.#findNames()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #findNames(): Promise<void> {
    this.#isLooking = true
    try {
      while (this.#places.size > 0 && !this.#isClosed) {
        const places = [...this.#places]
        this.#places = new Set()
        this.#tell(
          await this.#connections.run({
            name: 'entia-letters-named',
            text: `SELECT m.root, m.name FROM unnest($1::uuid[]) AS p (place)
              CROSS JOIN LATERAL (SELECT root, name FROM ${this.#options.schema}.mail WHERE place = p.place LIMIT 1) AS m`,
            values: [places],
          }),
        )
      }
    } catch {
      // The next look finds them.
    } finally {
      this.#isLooking = false
    }
  }

  async #watch(): Promise<void> {
    this.#isWatching = true
    await this.look()
    if (!this.#hasListeners || this.#isClosed) this.#isWatching = false
    else this.#timer = setTimeout(() => void this.#watch(), this.#options.pollMs).unref()
  }

  /** Looks for letters that are new since the last look but one, and for letters of the worlds that this store holds. */
  async look(): Promise<void> {
    if (!this.#hasListeners || this.#isClosed) return
    const { schema } = this.#options
    try {
      const rows = await this.#connections.run({
        name: 'entia-letters-look',
        text: `
          SELECT DISTINCT root, name, NULL::bigint AS newest FROM (
            SELECT root, name FROM ${schema}.mail WHERE $3 AND id > $1 ORDER BY id LIMIT ${maxNewsPerLook}
          ) AS new_ones
          UNION
          SELECT w.root, w.name, NULL FROM ${schema}.worlds AS w
          WHERE w.worker = $2 AND EXISTS (SELECT FROM ${schema}.mail AS m WHERE m.place = w.place)
          UNION ALL
          SELECT NULL, NULL, (SELECT max(id) FROM ${schema}.mail)`,
        values: [this.#seenBefore, this.#presence.worker ?? null, this.#listeners.size > 0],
      })
      const newest = Number(rows.find(({ root }) => root === null)?.['newest'] ?? 0)
      this.#seenBefore = this.#seen
      this.#seen = Math.max(newest, this.#seen)
      this.#tell(rows.filter(({ root }) => root !== null))
    } catch {
      // The next look tries again.
    }
  }

  get #hasListeners(): boolean {
    return this.#listeners.size + this.#ofWorlds.size > 0
  }

  #listen(): void {
    void this.#presence.listen(this.#options.channel).catch(() => undefined)
  }

  #tell(rows: readonly Readonly<Record<string, unknown>>[]): void {
    for (const row of rows) {
      const [root, name] = [nameOf(row['root']), nameOf(row['name'])]
      for (const hear of this.#listeners) hear(root, name)
      for (const hear of this.#ofWorlds.get(placeOf(name, root).place) ?? []) hear()
    }
  }
}
