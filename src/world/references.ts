import type { Entity, Value } from './component.ts'

/** The reverse index of components with `ref`: who points at whom. */
export class References {
  readonly #referrers = new Map<Value, Map<Entity, Set<Entity>>>()

  add(token: Value, from: Entity, to: Entity): void {
    let byTarget = this.#referrers.get(token)
    if (byTarget === undefined) this.#referrers.set(token, (byTarget = new Map()))
    const known = byTarget.get(to)
    if (known === undefined) byTarget.set(to, new Set([from]))
    else known.add(from)
  }

  remove(token: Value, from: Entity, to: Entity): void {
    const byTarget = this.#referrers.get(token)
    const known = byTarget?.get(to)
    known?.delete(from)
    if (known?.size === 0) byTarget?.delete(to)
  }

  /** Who points at an entity by this component, ascending. */
  to(token: Value, entity: Entity): Entity[] {
    const known = this.#referrers.get(token)?.get(entity)
    return known === undefined ? [] : [...known].sort((a, b) => a - b)
  }

  /** Does anybody point at an entity by this component? */
  any(token: Value, entity: Entity): boolean {
    return this.#referrers.get(token)?.has(entity) === true
  }

  /** Who points at an entity by any component, ascending. */
  all(entity: Entity): [Value, Entity][] {
    const found: [Value, Entity][] = []
    for (const token of this.#referrers.keys()) {
      for (const referrer of this.to(token, entity)) found.push([token, referrer])
    }
    return found.sort((a, b) => a[1] - b[1])
  }
}
