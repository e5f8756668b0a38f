import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/port.ts'
import type { World } from '../world/world.ts'

/** What a root world and all below it have in common while they are driven, and what of them no store keeps. */
export class WorldTree {
  /** Without a store: holders' Worlds by name, as long as the tree lives. */
  readonly holders = new Map<string, World>()
  #transcripts: Store | undefined
  /** Worlds that several Worlds may ask, and who waits for them. */
  readonly #claims = new Map<string, Promise<void>>()

  /** Without a store: where transcripts are. */
  get transcripts(): Store {
    return (this.#transcripts ??= memoryStore())
  }

  /** Has a world that others may ask as well, in order of the calls, until the function that this gives is called. */
  async claim(name: string): Promise<() => void> {
    const before = this.#claims.get(name)
    const held = Promise.withResolvers<void>()
    const all = (before ?? Promise.resolve()).then(() => held.promise)
    this.#claims.set(name, all)
    await before
    return () => {
      if (this.#claims.get(name) === all) this.#claims.delete(name)
      held.resolve()
    }
  }
}

const trees = new WeakMap<World, WorldTree>()

/** The tree that a world belongs to: its own, unless it has joined another one's. */
export function treeOf(world: World): WorldTree {
  let tree = trees.get(world)
  if (tree === undefined) trees.set(world, (tree = new WorldTree()))
  return tree
}

/** Makes a session's world one of its parent's tree. */
export function joinTree(world: World, parent: World): void {
  trees.set(world, treeOf(parent))
}
