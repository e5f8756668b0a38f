import type { DrivenNow } from '../../engine/effects/host-seams.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import { memoryStore } from '../../stores/memory.ts'
import type { JournalRow, Store, StoredWorld } from '../../stores/port.ts'
import type { Component } from '../../world/component.ts'
import type { System } from '../../world/world.ts'
import type { Abilities, RunFacts, SourceKind, WorldEntry, StreamedText } from '../reading/wire.ts'
import type { CopyMaker, News, Source } from '../source.ts'
import { entryOf, rowsBehind, treeOrder } from '../store-source.ts'
import { Copies, copyFacts } from './copies.ts'

/** A source with the copies that are made of its worlds. */
export class CopyingSource implements Source {
  readonly kind: SourceKind
  readonly title: string
  readonly run: RunFacts | undefined
  readonly runner: Runner | undefined
  readonly systems: readonly System[]
  readonly shrink: Source['shrink']
  readonly copies: CopyMaker
  readonly #source: Source
  readonly #copies: Copies
  readonly #hearers = new Set<(news: News) => void>()
  readonly #ends: (() => void)[] = []
  /** Roots of worlds below copies, by name. */
  readonly #roots = new Map<string, string>()

  /** @param store where copies go. @default that of the living world, else memory */
  constructor(source: Source, store?: Store) {
    const { kind, run, runner, shrink, systems, title } = source
    this.kind = kind
    this.title = title
    this.run = run
    this.runner = runner
    this.systems = systems
    this.shrink = shrink
    this.#source = source
    const place = store ?? (runner && source.driven?.(runner.world.name)?.store) ?? memoryStore()
    this.#copies = new Copies(source, place, (name) => void this.#changed(name))
    const drivers: Abilities['drivers'] = runner === undefined ? ['recording', 'none'] : ['host', 'recording', 'none']
    this.copies = {
      drivers,
      make: ({ driver, edits, name, tick, world }) => this.#copies.make({ driver, edits, name, tick, world }),
      reply: ({ how, question, text, world }) => {
        const answer =
          how === 'give' ? { how, text: text ?? '' } : how === 'refuse' ? { how, reason: text } : ({ how } as const)
        this.#copies.reply(world, question, answer)
      },
      approved: (world, approval) => {
        const driven = this.driven(world)
        if (driven !== undefined) this.#copies.noteApproval(driven.root, driven.world, approval)
      },
      has: (world) => this.#copyOf(world) !== undefined,
    }
  }

  get components(): Iterable<Component> {
    return this.#source.components
  }

  async worlds(): Promise<readonly WorldEntry[]> {
    const own = await this.#source.worlds()
    const names = new Set(this.#copies.made.keys())
    const others = own.filter(({ name, root }) => !names.has(name) && (root === undefined || !names.has(root)))
    const found: WorldEntry[] = []
    for (const name of names) found.push(...(await this.#below(name)))
    return [...others, ...found]
  }

  async entry(world: string): Promise<WorldEntry | undefined> {
    if (this.#copyOf(world) === undefined) return this.#source.entry(world)
    return (await this.#below(this.#copyOf(world) as string)).find(({ name }) => name === world)
  }

  driven(world: string): DrivenNow | undefined {
    for (const { source } of this.#copies.made.values()) {
      const driven = source?.driven?.(world)
      if (driven !== undefined) return driven
    }
    return this.#source.driven?.(world)
  }

  read(world: string, range?: { readonly from?: number; readonly to?: number }): Promise<StoredWorld | undefined> {
    const copy = this.#copyOf(world)
    if (copy === undefined) return this.#source.read(world, range)
    return this.#copies.store.read(world, { ...range, ...(world !== copy && { root: copy }) })
  }

  rows(world: string, after: number, to?: number): Promise<readonly JournalRow[] | undefined> {
    const copy = this.#copyOf(world)
    if (copy === undefined) return this.#source.rows(world, after, to)
    return rowsBehind(this.#copies.store, world, { after, to, root: world === copy ? undefined : copy })
  }

  streamed(): readonly StreamedText[] {
    const copies = [...this.#copies.made.values()].flatMap(({ source }) => source?.streamed?.() ?? [])
    return [...(this.#source.streamed?.() ?? []), ...copies]
  }

  text(root: string, key: string): Promise<string | undefined> {
    return this.#copyOf(root) === undefined ? this.#source.text(root, key) : this.#copies.store.getText(root, key)
  }

  transcript(root: string, key: string): Promise<readonly string[] | undefined> {
    return this.#copyOf(root) === undefined
      ? this.#source.transcript(root, key)
      : this.#copies.store.transcript(root, key)
  }

  watch(hear: (news: News) => void): () => void {
    if (this.#hearers.size === 0) this.#ends.push(this.#source.watch((news) => this.#tell(news)))
    this.#hearers.add(hear)
    if (this.#hearers.size === 1) for (const name of this.#copies.made.keys()) this.#follow(name)
    return () => {
      this.#hearers.delete(hear)
      if (this.#hearers.size === 0) for (const end of this.#ends.splice(0)) end()
    }
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) end()
    await this.#copies.close()
    await this.#source.close()
  }

  /** The copy that a world is, or lies below. */
  #copyOf(world: string): string | undefined {
    return this.#copies.made.has(world) ? world : this.#roots.get(world)
  }

  async #below(copy: string): Promise<readonly WorldEntry[]> {
    const made = this.#copies.made.get(copy)
    if (made === undefined) return []
    const { source } = made
    const isDriven = source?.driven(copy) !== undefined
    const listed = isDriven ? await source.worlds() : await this.#resting(copy)
    for (const { name, root } of listed) if (root === copy) this.#roots.set(name, copy)
    return listed.map((entry) => (entry.name === copy ? { ...entry, ...copyFacts(made) } : entry))
  }

  /** A copy that no one drives is read where it lies. */
  async #resting(copy: string): Promise<readonly WorldEntry[]> {
    return treeOrder((await this.#copies.store.list({ root: copy })).map(entryOf))
  }

  /** A copy was made, asks something or has ended. */
  async #changed(copy: string): Promise<void> {
    if (this.#hearers.size > 0) this.#follow(copy)
    for (const entry of await this.#below(copy).catch(() => [])) {
      if (entry.tick !== undefined) this.#tell({ type: 'moved', entry: { ...entry, tick: entry.tick } })
    }
  }

  readonly #followed = new Set<string>()

  #follow(copy: string): void {
    const source = this.#copies.made.get(copy)?.source
    if (source === undefined || this.#followed.has(copy)) return
    this.#followed.add(copy)
    const end = source.watch((news) => {
      // A copy that ends does not end the source.
      if (news.type === 'ended') return
      if (news.type === 'moved' && news.entry.root === copy) this.#roots.set(news.entry.name, copy)
      this.#tell(news)
    })
    this.#ends.push(() => {
      this.#followed.delete(copy)
      end()
    })
  }

  #tell(news: News): void {
    for (const hear of this.#hearers) hear(news)
  }
}
