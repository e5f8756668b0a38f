import { Due, Effect, Outcome, Pending, Running } from '../../components/effects/effect.ts'
import type { Component, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import type { RestartClass } from '../../src/protocol/tool-declaration.ts'

/**
 * Effects of one kind that are settled, ascending. One query serves all kinds: few are settled at a time.
 */
export function settled(world: World, token: Component): readonly Entity[] {
  return world.query(Outcome).filter((effect) => world.has(effect, token))
}

/** What an entity is to do next. */
export interface NextEffect {
  readonly kind: string
  readonly restart: RestartClass
  /** World time at which it is settled as `timed-out`. */
  readonly deadlineMs?: number
}

/** Waits before the second and the third try of what is written down. */
const waitsMs = [50, 500]

/** Lets an entity begin another effect. What comes for the one before it is dropped. */
export function beginEffect(world: World, entity: Entity, next: NextEffect): void {
  // No earlier effect of the entity has got so far: each has begun in a tick of its own.
  const attempt = world.tick + 1
  clearEffect(world, entity)
  world.set(entity, Effect, { attempt, ...next })
  world.add(entity, Pending)
}

/** Calls off what an entity is at. */
export function clearEffect(world: World, entity: Entity): void {
  for (const token of [Due, Effect, Outcome, Pending, Running]) world.remove(entity, token)
}

/**
 * Lets an effect that failed try again after a while. False: it has been tried often enough.
 *
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
