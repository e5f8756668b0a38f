import type { Entity, Value } from './component.ts'

interface Group {
  readonly members: Set<Entity>
  /** Cached until the members change. */
  ascending: readonly Entity[] | undefined
}

/** Mostly a single one. */
type Referrers = Entity | Group

/** The reverse index of components with `ref`. */
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

  /** Ascending. */
  to(token: Value, entity: Entity): readonly Entity[] {
    const known = this.#referrers.get(token)?.get(entity)
    if (known === undefined) return []
    if (typeof known !== 'object') return [known]
    return (known.ascending ??= Object.freeze([...known.members].sort((a, b) => a - b)))
  }

  any(token: Value, entity: Entity): boolean {
    return this.#referrers.get(token)?.has(entity) === true
  }

  /** Ascending by entity. */
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
