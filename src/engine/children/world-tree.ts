import { memoryStore } from '../../stores/memory.ts'
import type { Store } from '../../stores/port.ts'
import type { World } from '../../world/world.ts'

/** What a root world and all below it have in common while they are driven, and what of them no store keeps. */
export class WorldTree {
  /** Without a store: holders' Worlds by name, as long as the tree lives. */
  readonly holders = new Map<string, World>()
  #transcripts: Store | undefined
  /** Of each World that is locked: resolves once all who have locked it, or wait for that, have unlocked it. */
  readonly #locks = new Map<string, Promise<void>>()

  /** Without a store: where transcripts are. */
  get transcripts(): Store {
    return (this.#transcripts ??= memoryStore())
  }

  /** Locks a World, in order of the calls; the returned function unlocks it. */
  async lock(name: string): Promise<() => void> {
    const before = this.#locks.get(name)
    const held = Promise.withResolvers<void>()
    const all = before === undefined ? held.promise : before.then(() => held.promise)
    this.#locks.set(name, all)
    await before
    return () => {
      if (this.#locks.get(name) === all) this.#locks.delete(name)
      held.resolve()
    }
  }

  /** Resolves once a World is unlocked; `undefined`: it is not locked. */
  unlocked(name: string): Promise<void> | undefined {
    return this.#locks.get(name)
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
