import * as standardComponents from '../../components/index.ts'
import { standardSystems } from '../../systems/index.ts'
import type { SavedWorld } from '../engine/recording/recording.ts'
import type { JournalRow, StoredWorld } from '../stores/port.ts'
import type { Component } from '../world/component.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { System } from '../world/world.ts'
import type { RunFacts, WorldEntry } from './reading/wire.ts'
import type { Source } from './source.ts'

/** Options of `runSource`. */
export interface RunSourceOptions {
  readonly title: string
  /** The root first. */
  readonly worlds: readonly SavedWorld[]
  /** What a simulation found. @default it is a recording */
  readonly run?: RunFacts | undefined
  /** Texts by key, as a store would keep them beside the root. @default none */
  readonly texts?: Readonly<Record<string, string>> | undefined
  readonly components?: Iterable<Component> | undefined
  readonly systems?: readonly System[] | undefined
}

/** The worlds of a saved run: a recording, or a seed of a simulation. */
export class RunSource implements Source {
  readonly kind = 'run'
  readonly title: string
  readonly run: RunFacts | undefined
  readonly components: readonly Component[]
  readonly systems: readonly System[]
  readonly #worlds: ReadonlyMap<string, SavedWorld>
  readonly #texts: Readonly<Record<string, string>>

  constructor({ components = [], run, systems = standardSystems(), texts = {}, title, worlds }: RunSourceOptions) {
    this.title = title
    this.run = run
    this.components = [...Object.values(standardComponents), ...components]
    this.systems = systems
    this.#worlds = new Map(worlds.map((world) => [world.name, world]))
    this.#texts = texts
  }

  async worlds(): Promise<readonly WorldEntry[]> {
    return [...this.#worlds.values()].map((saved) => this.#entryOf(saved))
  }

  async entry(world: string): Promise<WorldEntry | undefined> {
    const saved = this.#worlds.get(world)
    return saved && this.#entryOf(saved)
  }

  #entryOf({ name, rows, snapshot }: SavedWorld): WorldEntry {
    const [root] = this.#worlds.keys()
    const tick = rows.at(-1)?.tick ?? snapshot.tick
    return { name, tick, ...(name !== root && root !== undefined && { root }) }
  }

  async read(
    world: string,
    { from, to }: { readonly from?: number; readonly to?: number } = {},
  ): Promise<StoredWorld | undefined> {
    const saved = this.#worlds.get(world)
    if (saved === undefined) return undefined
    const { rows, snapshot } = saved
    const first = from ?? to ?? rows.at(-1)?.tick ?? snapshot.tick
    if (first < snapshot.tick) {
      const what = `Tick ${first} of world '${world}' is not in this run, which begins at tick ${snapshot.tick}`
      throw new EntiaError('invalid-argument', `${what}. Ask for a later tick.`, { world, tick: first })
    }
    return { snapshot, rows: part(saved, snapshot.tick, to) }
  }

  async rows(world: string, after: number, to?: number): Promise<readonly JournalRow[] | undefined> {
    const saved = this.#worlds.get(world)
    return saved && (after < saved.snapshot.tick ? undefined : part(saved, after, to))
  }

  async text(_: string, key: string): Promise<string | undefined> {
    return Object.hasOwn(this.#texts, key) ? this.#texts[key] : undefined
  }

  async transcript(): Promise<undefined> {}

  /** It is over. */
  watch(): () => void {
    return () => undefined
  }

  close(): void {}
}

/** Rows have no gaps: a late part is found without a look at those before it. */
function part({ rows, snapshot }: SavedWorld, after: number, to = Infinity): readonly JournalRow[] {
  return rows.slice(after - snapshot.tick, Math.max(0, to - snapshot.tick))
}
