import { Due } from '../../components/effects/due.ts'
import { Effect } from '../../components/effects/effect.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { Pending } from '../../components/effects/pending.ts'
import { SideCall } from '../../components/effects/side-call.ts'
import { callerOf } from '../../src/rules/projection/model-request.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { inputsOf } from '../kit/inputs-of.ts'
import { latchOf } from '../kit/latched.ts'
import { maxJitter, nextTry, type NextTry } from './next-try.ts'
import { settled } from '../kit/settled.ts'
import { emit } from '../kit/emit.ts'

/**
 * Gives model calls that have failed another try, where there is one: their outcome is put aside, and they are pending
 * again when their wait is over, or at once with less to read.
 *
 * Query: Outcome. Writes: Effect, Outcome, Due, Pending, SideCall.
 */
export const retry = {
  name: 'retry',
  priority: -85,
  wakes: ['due', [ModelCall, Outcome], [SideCall, Outcome]],
  run(world: World): void {
    for (const { attempt, effect } of inputsOf(world, 'due')) {
      // A deadline of the try before it may have passed while that was settled.
      if (!world.has(effect, Due) || world.read(effect, Effect).attempt !== attempt) continue
      world.remove(effect, Due)
      const failure = whyNot(world, effect)
      if (failure === undefined) world.add(effect, Pending)
      else world.add(effect, Outcome({ ok: false, failure }))
    }
    for (const call of settled(world, ModelCall)) tryAgain(world, call)
    for (const call of settled(world, SideCall)) tryAgain(world, call)
  },
}

function tryAgain(world: World, call: Entity): void {
  const outcome = world.read(call, Outcome)
  const next = outcome.ok ? undefined : nextTry(world, call, outcome.failure)
  if (outcome.ok || next === undefined) return
  world.remove(call, Outcome)
  if (next.kind === 'later') tryLater(world, call, next.waitMs, outcome.failure)
  else tryShorter(world, call, next)
}

/** An agent that has reached a ceiling makes no further try. */
function whyNot(world: World, effect: Entity): Failure | undefined {
  if (!world.has(effect, ModelCall) && !world.has(effect, SideCall)) return undefined
  const latched = latchOf(world, callerOf(world, effect))
  return latched?.kind === 'cost_ceiling' ? latched.failure : undefined
}

function tryLater(world: World, call: Entity, waitMs: number, failure: Failure): void {
  const attempt = world.read(call, Effect).attempt + 1
  const atMs = world.nowMs + Math.ceil(waitMs * (1 + maxJitter * world.random()))
  world.patch(call, Effect, { attempt })
  world.add(call, Due({ atMs }))
  emit(world, 'retry-scheduled', { agent: callerOf(world, call), effect: call, attempt, atMs, failure })
}

function tryShorter(world: World, call: Entity, { chars, maxChars }: Extract<NextTry, { kind: 'shorter' }>): void {
  world.patch(call, SideCall, { maxChars })
  world.patch(call, Effect, { attempt: world.read(call, Effect).attempt + 1 })
  world.add(call, Pending)
  const message = `What is to be summed up is longer than the model's window: ${chars - maxChars} of ${chars} characters are left out.`
  emit(world, 'warning', { agent: callerOf(world, call), message })
}
