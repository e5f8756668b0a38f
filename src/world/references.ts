import type { Entity, Value } from './component.ts'

/** Several that point at an entity. */
interface Group {
  readonly members: Set<Entity>
  /** In order, as long as nobody comes or goes: a list that is asked for again and again costs nothing then. */
  ascending: readonly Entity[] | undefined
}

/** Whoever points at an entity. Mostly it is one alone, and stands for itself. */
type Referrers = Entity | Group

/** The reverse index of components with `ref`: who points at whom. */
export class References {
  readonly #referrers = new Map<Value, Map<Entity, Referrers>>()

  add(token: Value, from: Entity, to: Entity): void {
    let byTarget = this.#referrers.get(token)
    if (byTarget === undefined) this.#referrers.set(token, (byTarget = new Map()))
    const known = byTarget.get(to)
    if (known === undefined) byTarget.set(to, from)
    else if (typeof known === 'object') {
      known.members.add(from)
      known.ascending = undefined
    } else if (known !== from) byTarget.set(to, { members: new Set([known, from]), ascending: undefined })
  }

  remove(token: Value, from: Entity, to: Entity): void {
    const byTarget = this.#referrers.get(token)
    const known = byTarget?.get(to)
    if (typeof known === 'object') {
      known.members.delete(from)
      known.ascending = undefined
    }
    if (known === from || (typeof known === 'object' && known.members.size === 0)) byTarget?.delete(to)
  }

  /** Who points at an entity by this component, ascending. */
  to(token: Value, entity: Entity): readonly Entity[] {
    const known = this.#referrers.get(token)?.get(entity)
    if (known === undefined) return []
    if (typeof known !== 'object') return [known]
    return (known.ascending ??= Object.freeze([...known.members].sort((a, b) => a - b)))
  }

  /** Does anybody point at an entity by this component? */
  any(token: Value, entity: Entity): boolean {
    return this.#referrers.get(token)?.has(entity) === true
  }

  /** Who points at an entity by any component, ascending. */
  all(entity: Entity): readonly (readonly [Value, Entity])[] {
    const found: [Value, Entity][] = []
    for (const [token, byTarget] of this.#referrers) {
      const known = byTarget.get(entity)
      if (known !== undefined) for (const referrer of listOf(known)) found.push([token, referrer])
    }
    return found.length < 2 ? found : found.sort((a, b) => a[1] - b[1])
  }
}

function listOf(known: Referrers): Entity[] {
  return typeof known === 'object' ? [...known.members] : [known]
}
