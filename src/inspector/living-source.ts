import { Llm } from '../../components/agent/llm.ts'
import * as standardComponents from '../../components/index.ts'
import type { DrivenNow } from '../engine/effects/host-seams.ts'
import { treeOf } from '../engine/children/world-tree.ts'
import type { RunnerEvent } from '../engine/loop/events.ts'
import type { Runner } from '../engine/loop/runner.ts'
import type { JournalRow, Store, StoredWorld } from '../stores/port.ts'
import type { Component } from '../world/component.ts'
import { knownComponents } from '../world/inspection.ts'
import type { System } from '../world/world.ts'
import { FreshHistory } from './fresh-history.ts'
import type { StreamedDelta, StreamedText, WorldEntry } from './reading/wire.ts'
import type { News, Source } from './source.ts'
import { entryOf, rowsBehind, treeOrder } from './store-source.ts'

const heardTypes = ['model-delta', 'model-discarded', 'runner-failed', 'runner-stopped'] as const

/** The world of a Runner and those of its sessions, as they are driven; with a store also those that rest. */
export class LivingSource implements Source {
  readonly kind = 'living'
  readonly title: string
  readonly runner: Runner
  readonly systems: readonly System[]
  readonly #hearers = new Set<(news: News) => void>()
  /** Of worlds without a store that were looked at. */
  readonly #histories = new Map<string, FreshHistory>()
  /** Worlds that were driven and do not rest in a store. */
  readonly #seen = new Map<string, WorldEntry>()
  #end: (() => void) | undefined
  /** A page that is open goes on reading when the Runner has stopped. */
  #lastStore: Store | undefined

  constructor(runner: Runner) {
    this.runner = runner
    this.title = runner.world.name
    this.systems = runner.world.systems
  }

  get components(): Iterable<Component> {
    // A world knows those that it has had; what comes later is known too, and its references with it.
    return [...Object.values(standardComponents), ...knownComponents(this.runner.world)]
  }

  async worlds(): Promise<readonly WorldEntry[]> {
    const root = this.runner.world.name
    const stored = (await this.#store?.list({ root, sizes: false })) ?? []
    const entries = new Map(stored.map((info) => [info.name, entryOf(info)]))
    for (const [name, entry] of this.#seen) if (!entries.has(name)) entries.set(name, entry)
    for (const driven of this.#driven()) {
      const { name } = driven.world
      entries.set(name, { ...entries.get(name), ...drivenEntry(driven) })
    }
    return treeOrder([...entries.values()])
  }

  async entry(world: string): Promise<WorldEntry | undefined> {
    const driven = this.driven(world)
    if (driven !== undefined) return drivenEntry(driven)
    return (await this.worlds()).find(({ name }) => name === world)
  }

  driven(world: string): DrivenNow | undefined {
    const driven = this.runner.host.driven.get(world)
    return driven?.root === this.runner.world.name ? driven : undefined
  }

  streamed(): readonly StreamedText[] {
    return this.#driven().flatMap(({ path, world }) =>
      world.entitiesWith(Llm).flatMap((agent): readonly StreamedText[] => {
        const so = this.runner.textSoFar(agent, path)
        if (so === undefined) return []
        const { attempt, deltas, effect, text } = so
        return [{ world: world.name, agent, effect, attempt, text, deltas }]
      }),
    )
  }

  async read(
    world: string,
    { from, to }: { readonly from?: number; readonly to?: number } = {},
  ): Promise<StoredWorld | undefined> {
    const store = this.#store
    if (store !== undefined) return store.read(world, { from, to, root: this.#rootOf(world) })
    return this.#history(world)?.read(from, to)
  }

  async rows(world: string, after: number, to?: number): Promise<readonly JournalRow[] | undefined> {
    const store = this.#store
    if (store !== undefined) return rowsBehind(store, world, { after, to, root: this.#rootOf(world) })
    return this.#history(world)?.rows(after, to)
  }

  async text(root: string, key: string): Promise<string | undefined> {
    return this.#store?.getText(root, key)
  }

  async transcript(root: string, key: string): Promise<readonly string[] | undefined> {
    return (this.#store ?? treeOf(this.runner.world).transcripts).transcript(root, key)
  }

  watch(hear: (news: News) => void): () => void {
    this.#hearers.add(hear)
    this.#end ??= this.#listen()
    return () => {
      this.#hearers.delete(hear)
      if (this.#hearers.size === 0) this.close()
    }
  }

  /** Nothing is kept while no page is open. */
  close(): void {
    this.#hearers.clear()
    this.#end?.()
    this.#end = undefined
    this.#histories.clear()
  }

  get #store(): Store | undefined {
    return (this.#lastStore = this.driven(this.runner.world.name)?.store ?? this.#lastStore)
  }

  #rootOf(world: string): string | undefined {
    const root = this.runner.world.name
    return world === root ? undefined : root
  }

  #driven(): readonly DrivenNow[] {
    const root = this.runner.world.name
    return [...this.runner.host.driven.values()].filter((driven) => driven.root === root)
  }

  #history(world: string): FreshHistory | undefined {
    const known = this.#histories.get(world)
    const driven = this.driven(world)
    if (known !== undefined || driven === undefined) return known
    const history = new FreshHistory(driven.world)
    this.#histories.set(world, history)
    this.#seen.set(world, { ...drivenEntry(driven), isDriven: false })
    return history
  }

  #listen(): () => void {
    const { host } = this.runner
    const root = this.runner.world.name
    const endTicks = host.onTick((driven, step) => {
      if (driven.root !== root) return
      const entry = drivenEntry(driven)
      if (driven.store === undefined) {
        this.#seen.set(entry.name, { ...entry, isDriven: false })
        this.#histories.get(entry.name)?.add(step, driven.world)
      }
      this.#tell({ type: 'moved', entry })
    })
    // Of all other events none is made that no one hears.
    const ends = heardTypes.map((type) => this.runner.on(type, (event) => this.#hear(event as RunnerEvent)))
    return () => {
      endTicks()
      for (const end of ends) end()
    }
  }

  #hear(event: RunnerEvent): void {
    switch (event.type) {
      case 'model-delta':
      case 'model-discarded': {
        const { agent, attempt, effect, world } = event as Omit<StreamedDelta, 'index' | 'delta'>
        const { delta = { type: 'discarded' }, index = 0 } = event as Partial<StreamedDelta>
        return this.#tell({ type: 'delta', world, agent, effect, attempt, index, delta })
      }
      case 'runner-failed':
        if ('path' in event) return
        return this.#tell({ type: 'ended', message: (event as { readonly message: string }).message, isFailure: true })
      case 'runner-stopped':
        if ('path' in event) return
        return this.#tell({ type: 'ended', message: 'The Runner was stopped.', isFailure: false })
      default:
    }
  }

  #tell(news: News): void {
    for (const hear of this.#hearers) hear(news)
  }
}

function drivenEntry({ path, root, world }: DrivenNow): WorldEntry & { readonly tick: number } {
  return {
    name: world.name,
    tick: world.tick,
    isDriven: true,
    ...(path.length > 0 && { root, parent: path.at(-2) ?? root }),
  }
}
