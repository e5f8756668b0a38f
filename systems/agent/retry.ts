import { Due, Effect, Outcome, Pending } from '../../components/effects/effect.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import { ModelCall, SideCall } from '../../components/effects/model-call.ts'
import { callerOf, modelCalledBy, transcriptOf } from '../../src/rules/projection/project.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, inputsOf, latchOf, settled } from '../kit.ts'
import { SummaryOf } from '../../components/context/archive.ts'
import { maxRetryAfterMsOf, retryPolicyOf } from '../../src/rules/projection/host-facts.ts'
import { spentGrant } from '../sessions/delegation.ts'

/**
 * Retries failed model calls if the policy allows: the outcome is removed, and the call is pending again after a delay,
 * or at once with a shorter transcript.
 * Writes: Effect, Outcome, Due, Pending, SideCall.
 */
export const retry = {
  name: 'retry',
  priority: -85,
  wakes: ['due', [ModelCall, Outcome], [SideCall, Outcome]],
  run(world: World): void {
    for (const { attempt, effect } of inputsOf(world, 'due')) {
      // The last try's deadline may have passed while it was being settled.
      if (!world.has(effect, Due) || world.read(effect, Effect).attempt !== attempt) continue
      world.remove(effect, Due)
      const failure = whyNot(world, effect)
      if (failure === undefined) world.add(effect, Pending)
      else world.add(effect, Outcome({ ok: false, failure }))
    }
    for (const call of settled(world, ModelCall, SideCall)) tryAgain(world, call)
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

/** An agent that has reached a ceiling does not retry. */
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

/** Largest share by which a delay is stretched, so that calls that failed together do not retry together. */
const maxJitter = 0.25

/** A side call's transcript is cut to a half, a quarter, then an eighth. */
const leastShare = 8

/** A retry: the same call after a delay, or at once with fewer characters of its transcript. */
export type NextTry =
  | { readonly kind: 'later'; readonly waitMs: number }
  | { readonly kind: 'shorter'; readonly chars: number; readonly maxChars: number }

/** The retry of a failed model call; `undefined` if it failed for good. */
export function nextTry(world: World, call: Entity, failure: Failure): NextTry | undefined {
  return laterTry(world, call, failure) ?? (world.has(call, SideCall) ? shorterTry(world, call, failure) : undefined)
}

function laterTry(world: World, call: Entity, failure: Failure): NextTry | undefined {
  if (failure.isFinal === true) return undefined
  const policy = retryPolicyOf(world, callerOf(world, call), modelCalledBy(world, call))
  const { retryAfterMs = 0 } = failure
  const { attempt, deadlineMs = Infinity } = world.read(call, Effect)
  if (policy === false || attempt >= policy.maxAttempts || !policy.kinds.includes(failure.kind)) return undefined
  if (retryAfterMs > maxRetryAfterMsOf(policy)) return undefined
  const doubled = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1))
  const waitMs = Math.max(retryAfterMs, doubled)
  // No retry that could only start after the deadline.
  return world.nowMs + Math.ceil(waitMs * (1 + maxJitter)) >= deadlineMs ? undefined : { kind: 'later', waitMs }
}

/** A summary of a part is better than none when the transcript does not fit the model's window. */
function shorterTry(world: World, call: Entity, { kind }: Failure): NextTry | undefined {
  if (kind !== 'context-overflow' || !mayGoOn(world, call)) return undefined
  const chars = transcriptOf(world, call).length
  const maxChars = Math.floor((world.read(call, SideCall).maxChars ?? chars) / 2)
  return maxChars * leastShare < chars - leastShare ? undefined : { kind: 'shorter', chars, maxChars }
}

/** No retry under a reached ceiling, with a spent grant, or after a summary's deadline. */
function mayGoOn(world: World, call: Entity): boolean {
  const { agent } = world.read(call, SideCall)
  const job = world.get(call, SummaryOf)?.job
  if (job !== undefined && world.has(job, Outcome)) return false
  return latchOf(world, agent)?.kind !== 'cost_ceiling' && spentGrant(world, agent) === undefined
}
