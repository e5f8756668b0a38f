import { Due } from '../components/due.ts'
import { Effect } from '../components/effect.ts'
import type { Failure } from '../components/failure.ts'
import { ModelCall } from '../components/model-call.ts'
import { Outcome } from '../components/outcome.ts'
import { Pending } from '../components/pending.ts'
import { SideCall } from '../components/side-call.ts'
import { callerOf, modelCalledBy } from '../src/models/model-request.ts'
import { maxRetryAfterMsOf, retryPolicyOf } from '../src/models/retry-policy-of.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { chargeTry } from './money/charge-call.ts'
import { inputsOf } from './inputs-of.ts'
import { latchOf } from './latched.ts'
import { settled } from './settled.ts'
import { tell } from './tell.ts'

/** Largest share by which a wait is stretched, so that calls that failed together do not come back together. */
const maxJitter = 0.25

/**
 * Gives model calls that failed for a passing reason another try: their outcome is put aside, and they are pending again
 * when their wait is over.
 *
 * Query: Outcome. Writes: Effect, Outcome, Due, Pending.
 */
export const retry = {
  name: 'retry',
  priority: -85,
  run(world: World): void {
    for (const { attempt, effect } of inputsOf(world, 'due')) {
      // A deadline of the try before it may have passed while that was settled.
      if (!world.has(effect, Due) || world.read(effect, Effect).attempt !== attempt) continue
      world.remove(effect, Due)
      const failure = whyNot(world, effect)
      if (failure === undefined) world.add(effect, Pending)
      else world.add(effect, Outcome({ ok: false, failure }))
    }
    for (const call of [...settled(world, ModelCall), ...settled(world, SideCall)]) {
      const outcome = world.read(call, Outcome)
      if (outcome.ok) continue
      tryAgain(world, call, outcome.failure)
      // Whoever takes the last of them enters it.
      if (world.has(call, Due)) chargeTry(world, call, outcome.failure)
    }
  },
}

/** Whoever has reached a ceiling makes no other try. */
function whyNot(world: World, effect: Entity): Failure | undefined {
  if (!world.has(effect, ModelCall) && !world.has(effect, SideCall)) return undefined
  const latched = latchOf(world, callerOf(world, effect))
  return latched?.kind === 'cost_ceiling' ? latched.failure : undefined
}

function tryAgain(world: World, call: Entity, failure: Failure): void {
  const agent = callerOf(world, call)
  // It would end the same way, whatever the policy says.
  if (failure.isFinal === true) return
  const policy = retryPolicyOf(world, agent, modelCalledBy(world, call))
  const { retryAfterMs = 0 } = failure
  const { attempt, deadlineMs = Infinity } = world.read(call, Effect)
  if (policy === false || attempt >= policy.maxAttempts || !policy.kinds.includes(failure.kind)) return
  if (retryAfterMs > maxRetryAfterMsOf(policy)) return
  const doubled = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1))
  const waitMs = Math.max(retryAfterMs, doubled) * (1 + maxJitter * world.random())
  const atMs = world.nowMs + Math.ceil(waitMs)
  // A try that could only begin when its time is over is none.
  if (atMs >= deadlineMs) return
  world.remove(call, Outcome)
  world.patch(call, Effect, { attempt: attempt + 1 })
  world.add(call, Due({ atMs }))
  tell(world, 'retry-scheduled', { agent, effect: call, attempt: attempt + 1, atMs, failure })
}
