import { Due } from '../components/due.ts'
import { Effect } from '../components/effect.ts'
import type { Failure } from '../components/failure.ts'
import { Outcome } from '../components/outcome.ts'
import { Pending } from '../components/pending.ts'
import { Running } from '../components/running.ts'
import type { RestartClass } from '../components/tool-declaration.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'

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
  const attempt = (world.get(entity, Effect)?.attempt ?? 0) + 1
  clearEffect(world, entity)
  world.set(entity, Effect, { attempt, ...next })
  world.add(entity, Pending)
}

/** Calls off what an entity is at. Its number of attempts stays, so that nothing late is taken for what comes next. */
export function clearEffect(world: World, entity: Entity): void {
  for (const token of [Due, Outcome, Pending, Running]) world.remove(entity, token)
}

/**
 * Lets an effect that failed try again after a while. False: it has been tried often enough.
 *
 * @param tries so far
 */
export function tryWriteAgain(world: World, entity: Entity, tries: number): boolean {
  const waitMs = waitsMs[tries - 1]
  if (waitMs === undefined) return false
  const { attempt } = world.read(entity, Effect)
  clearEffect(world, entity)
  world.patch(entity, Effect, { attempt: attempt + 1 })
  world.add(entity, Due({ atMs: world.nowMs + waitMs }))
  return true
}

/** Why an effect has failed, where its work says so in its value or its outcome. */
export function failureOf(world: World, entity: Entity): Failure | undefined {
  const outcome = world.read(entity, Outcome)
  return outcome.ok ? undefined : outcome.failure
}
