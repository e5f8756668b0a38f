import type { Entity } from '../src/world/component.ts'
import type { QueryTerm } from '../src/world/entities.ts'
import type { World } from '../src/world/world.ts'

/** What was found last in a world, and after which write. */
interface Found {
  revision: number
  count: number
  entities: readonly Entity[]
}

/**
 * The first so many of what a query gives, for several systems of a tick that ask for the same: mostly nothing changes
 * meanwhile, and then they are found once.
 */
export function foundOnce(...terms: readonly QueryTerm[]): (world: World, count: number) => readonly Entity[] {
  const lastFound = new WeakMap<World, Found>()
  return (world, count) => {
    const { revision } = world.core.state
    const last = lastFound.get(world)
    if (last !== undefined && last.revision === revision && last.count === count) return last.entities
    const entities = world.first(count, ...terms)
    if (last === undefined) lastFound.set(world, { revision, count, entities })
    else {
      last.revision = revision
      last.count = count
      last.entities = entities
    }
    return entities
  }
}
