import * as standardComponents from '../../components/index.ts'
import { standardSystems } from '../../systems/index.ts'
import type { JournalRow, RowsOptions, SharedStore, Store, StoredWorld, WorldInfo } from '../stores/port.ts'
import type { Component } from '../world/component.ts'
import type { System } from '../world/world.ts'
import type { WorldEntry } from './reading/wire.ts'
import type { News, Source } from './source.ts'

/** How often a store is asked whether its worlds have moved, while a page is open. */
const lookEachMs = 500
/** The list of worlds is read again this often: it looks into each database. */
const listEachMs = 5_000

/** Options of `storeSource`. */
export interface StoreSourceOptions {
  readonly store: Store
  readonly title: string
  /** Only this root world and those that lie in its database. @default all */
  readonly root?: string | undefined
  /** Components of the program's own. The standard ones are known. @default none */
  readonly components?: Iterable<Component> | undefined
  /** @default `standardSystems()` */
  readonly systems?: readonly System[] | undefined
}

/** The worlds of a store, read without holding them, whoever holds them, and followed as they are committed. */
export class StoreSource implements Source {
  readonly kind = 'store'
  readonly title: string
  readonly components: readonly Component[]
  readonly systems: readonly System[]
  readonly #store: Store
  readonly #root: string | undefined
  readonly #hearers = new Set<(news: News) => void>()
  #entries: ReadonlyMap<string, WorldEntry> = new Map()
  /** What those who watch know of: whoever else reads the list must not take news away from them. */
  #told: ReadonlyMap<string, WorldEntry> = new Map()
  #listedMs = -Infinity
  #listing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor({ components = [], root, store, systems = standardSystems(), title }: StoreSourceOptions) {
    this.title = title
    this.components = [...Object.values(standardComponents), ...components]
    this.systems = systems
    this.#store = store
    this.#root = root
  }

  async worlds(): Promise<readonly WorldEntry[]> {
    await this.#list()
    return [...this.#entries.values()]
  }

  async entry(world: string): Promise<WorldEntry | undefined> {
    if (!this.#entries.has(world)) await this.#list()
    return this.#entries.get(world)
  }

  async read(
    world: string,
    { from, to }: { readonly from?: number; readonly to?: number } = {},
  ): Promise<StoredWorld | undefined> {
    return this.#store.read(world, { from, to, root: (await this.entry(world))?.root })
  }

  async rows(world: string, after: number, to?: number): Promise<readonly JournalRow[] | undefined> {
    return rowsBehind(this.#store, world, { after, to, root: (await this.entry(world))?.root })
  }

  text(root: string, key: string): Promise<string | undefined> {
    return this.#store.getText(root, key)
  }

  transcript(root: string, key: string): Promise<readonly string[] | undefined> {
    return this.#store.transcript(root, key)
  }

  watch(hear: (news: News) => void): () => void {
    if (this.#hearers.size === 0) this.#told = this.#entries
    this.#hearers.add(hear)
    this.#wait()
    return () => {
      this.#hearers.delete(hear)
      if (this.#hearers.size === 0) clearTimeout(this.#timer)
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#hearers.clear()
    await this.#store.close()
  }

  #wait(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#look(), lookEachMs).unref()
  }

  async #look(): Promise<void> {
    const before = this.#told
    try {
      await this.#list()
      this.#told = this.#entries
      for (const [name, entry] of this.#entries) {
        const { tick } = entry
        if (tick !== undefined && !isSame(before.get(name), entry))
          this.#tell({ type: 'moved', entry: { ...entry, tick } })
      }
      for (const world of before.keys()) if (!this.#entries.has(world)) this.#tell({ type: 'gone', world })
    } catch {
      // A store that cannot be read now is read at the next look.
    }
    if (this.#hearers.size > 0) this.#wait()
  }

  #tell(news: News): void {
    for (const hear of this.#hearers) hear(news)
  }

  /** One list at a time serves all who ask. */
  #list(): Promise<void> {
    // Nobody looks more often than a list takes, however large the store is.
    return (this.#listing ??= this.#read().finally(() => (this.#listing = undefined)))
  }

  async #read(): Promise<void> {
    const now = performance.now()
    if (now - this.#listedMs >= listEachMs || !('ticks' in this.#store)) {
      const infos = await this.#store.list({ root: this.#root, sizes: false })
      this.#entries = new Map(treeOrder(infos.map(entryOf)).map((entry) => [entry.name, entry]))
      this.#listedMs = performance.now()
      return
    }
    const worlds = [...this.#entries.values()].filter(({ heldBy, isBusy }) => heldBy !== undefined || isBusy === true)
    const asked = worlds.map(({ name, root }) => ({ world: name, ...(root !== undefined && { root }) }))
    const ticks = await (this.#store as SharedStore).ticks(asked)
    const entries = new Map(this.#entries)
    worlds.forEach((entry, index) => entries.set(entry.name, { ...entry, tick: ticks[index] ?? entry.tick }))
    this.#entries = entries
  }
}

/** Nothing is to be told: it has no further tick, and is in the same hands. */
function isSame(before: WorldEntry | undefined, { heldBy, isBusy, tick }: WorldEntry): boolean {
  return before?.tick === tick && before?.heldBy === heldBy && before?.isBusy === isBusy
}

/** The rows of a world behind a tick, from any store. `undefined`: some are not kept any more. */
export async function rowsBehind(
  store: Store,
  world: string,
  options: RowsOptions,
): Promise<readonly JournalRow[] | undefined> {
  if ('rows' in store) return (store as SharedStore).rows(world, options)
  const { after, root, to } = options
  const stored = await store.read(world, { root, to })
  if (stored === undefined || stored.snapshot.tick > after) return undefined
  return stored.rows.filter(({ tick }) => tick > after)
}

export function entryOf({ heldBy, isBusy, name, root, sizeBytes, tick, unreadable }: WorldInfo): WorldEntry {
  return {
    name,
    root,
    tick,
    isBusy,
    sizeBytes,
    heldBy: heldBy && `${heldBy.holder} (process ${heldBy.pid})`,
    problem: unreadable && { code: unreadable.code, message: unreadable.message },
  }
}

/** Roots by name, each with its worlds behind it. */
export function treeOrder(entries: readonly WorldEntry[]): readonly WorldEntry[] {
  const below = Map.groupBy(entries, ({ root }) => root)
  const known = new Set(entries.map(({ name }) => name))
  const roots = entries.filter(({ root }) => root === undefined || !known.has(root))
  return roots.flatMap((entry) => (entry.root === undefined ? [entry, ...(below.get(entry.name) ?? [])] : [entry]))
}
