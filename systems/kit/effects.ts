import { Due, Effect, Outcome, Pending, Running } from '../../components/effects/effect.ts'
import type { Component, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import type { RestartClass } from '../../src/protocol/tool-declaration.ts'

/** Settled effects of one kind, ascending. One query serves all kinds, since few are settled at a time. */
export function settled(world: World, token: Component): readonly Entity[] {
  return world.query(Outcome).filter((effect) => world.has(effect, token))
}

export interface NextEffect {
  readonly kind: string
  readonly restart: RestartClass
  /** World time at which it is settled as `timed-out`. */
  readonly deadlineMs?: number
}

/** Delays before the second and third try of a write. */
const waitsMs = [50, 500]

/** Starts another effect of an entity. Inputs for the one before are dropped. */
export function beginEffect(world: World, entity: Entity, next: NextEffect): void {
  // No earlier effect of the entity has got so far: each has begun in a tick of its own.
  const attempt = world.tick + 1
  clearEffect(world, entity)
  world.set(entity, Effect, { attempt, ...next })
  world.add(entity, Pending)
}

export function clearEffect(world: World, entity: Entity): void {
  for (const token of [Due, Effect, Outcome, Pending, Running]) world.remove(entity, token)
}

/**
 * Retries a failed effect after a delay. Returns false once it was tried often enough.
 * @param tries so far
 */
export function tryWriteAgain(world: World, entity: Entity, tries: number): boolean {
  const waitMs = waitsMs[tries - 1]
  if (waitMs === undefined) return false
  const effect = world.read(entity, Effect)
  clearEffect(world, entity)
  world.set(entity, Effect, { ...effect, attempt: effect.attempt + 1 })
  world.add(entity, Due({ atMs: world.nowMs + waitMs }))
  return true
}
