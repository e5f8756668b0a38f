import { openSnapshot } from '../engine/loop/stored-ticks.ts'
import { knownComponents, valueOf } from '../world/inspection.ts'
import { RawWorld } from '../world/raw-world.ts'
import type { World } from '../world/world.ts'
import { rawComponents, type RawView } from './reading/raw-view.ts'
import type { Source } from './source.ts'

/** Values that are kept; the one that was made first goes first. */
const maxKept = 20_000

/** What is derived from worlds as of their newest ticks, and kept until they move. */
export class Newest<T> {
  readonly #source: Source
  readonly #derive: (view: RawView) => T
  readonly #kept = new Map<string, { readonly tick: number; readonly value: T }>()

  constructor(source: Source, derive: (view: RawView) => T) {
    this.#source = source
    this.#derive = derive
  }

  /** @param tick its newest, where that is known already */
  async of(name: string, tick?: number): Promise<T | undefined> {
    const driven = this.#source.driven?.(name)
    const newest = driven?.world.tick ?? tick ?? (await this.#source.entry(name))?.tick
    const kept = this.#kept.get(name)
    if (kept !== undefined && kept.tick === newest) return kept.value
    const view = driven === undefined ? await storedView(this.#source, name) : livingView(driven.world)
    if (view === undefined) return undefined
    const value = this.#derive(view)
    this.#kept.delete(name)
    this.#kept.set(name, { tick: view.tick, value })
    for (const [first] of this.#kept) if (this.#kept.size > maxKept) this.#kept.delete(first)
    return value
  }
}

async function storedView(source: Source, name: string): Promise<RawView | undefined> {
  const stored = await source.read(name)
  if (stored === undefined) return undefined
  const { codec, lines } = openSnapshot(stored)
  const world = RawWorld.restore(lines, rawComponents(source.components))
  for (const row of stored.rows) {
    world.forward(codec.decode(row.line, `journal of world '${name}', tick ${row.tick}`).delta)
  }
  return world
}

/** A living world by the names of its components. */
function livingView(world: World): RawView {
  const tokens = new Map(Array.from(knownComponents(world), (token) => [token.name, token]))
  return {
    name: world.name,
    tick: world.tick,
    nowMs: world.nowMs,
    dateMs: world.dateMs,
    has: (entity) => world.exists(entity),
    value: (entity, name) => (world.exists(entity) ? valueOf(world, entity, name) : undefined),
    entitiesWith: (name) => {
      const token = tokens.get(name)
      return token === undefined ? [] : world.entitiesWith(token)
    },
    referrers: (name, entity) => {
      const token = tokens.get(name)
      return token?.kind === 'value' ? world.referrers(token, entity) : []
    },
  }
}
