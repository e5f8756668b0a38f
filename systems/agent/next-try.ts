import { SummaryOf } from '../../components/context/archive-job.ts'
import { Effect } from '../../components/effects/effect.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { SideCall } from '../../components/effects/side-call.ts'
import { transcriptOf } from '../../src/rules/projection/side-request.ts'
import { callerOf, modelCalledBy } from '../../src/rules/projection/model-request.ts'
import { maxRetryAfterMsOf, retryPolicyOf } from '../../src/rules/projection/retry-policy-of.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { latchOf } from '../kit/latched.ts'
import { spentGrant } from '../sessions/delegation.ts'

/** Largest share by which a wait is stretched, so that calls that failed together do not come back together. */
export const maxJitter = 0.25

/** The transcript of a side call is cut to a half, then to a quarter, then to an eighth. */
const leastShare = 8

/** A call of a model that is made again: the same after a wait, or at once about fewer characters of its transcript. */
export type NextTry =
  | { readonly kind: 'later'; readonly waitMs: number }
  | { readonly kind: 'shorter'; readonly chars: number; readonly maxChars: number }

/** The next try of a model call that has failed. `undefined`: it has failed for good. */
export function nextTry(world: World, call: Entity, failure: Failure): NextTry | undefined {
  return laterTry(world, call, failure) ?? (world.has(call, SideCall) ? shorterTry(world, call, failure) : undefined)
}

function laterTry(world: World, call: Entity, failure: Failure): NextTry | undefined {
  // It would end the same way, whatever the policy says.
  if (failure.isFinal === true) return undefined
  const policy = retryPolicyOf(world, callerOf(world, call), modelCalledBy(world, call))
  const { retryAfterMs = 0 } = failure
  const { attempt, deadlineMs = Infinity } = world.read(call, Effect)
  if (policy === false || attempt >= policy.maxAttempts || !policy.kinds.includes(failure.kind)) return undefined
  if (retryAfterMs > maxRetryAfterMsOf(policy)) return undefined
  const doubled = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1))
  const waitMs = Math.max(retryAfterMs, doubled)
  // A try that could only begin when its time is over is none.
  return world.nowMs + Math.ceil(waitMs * (1 + maxJitter)) >= deadlineMs ? undefined : { kind: 'later', waitMs }
}

/** A text about a part that its model has no room for is best written about some of that part, and not at all otherwise. */
function shorterTry(world: World, call: Entity, { kind }: Failure): NextTry | undefined {
  if (kind !== 'context-overflow' || !mayGoOn(world, call)) return undefined
  const chars = transcriptOf(world, call).length
  const maxChars = Math.floor((world.read(call, SideCall).maxChars ?? chars) / 2)
  return maxChars * leastShare < chars - leastShare ? undefined : { kind: 'shorter', chars, maxChars }
}

/** Under a ceiling that was reached, with a grant that is spent, or when the time for a summary is up, nothing more is asked. */
function mayGoOn(world: World, call: Entity): boolean {
  const { agent } = world.read(call, SideCall)
  const job = world.get(call, SummaryOf)?.job
  if (job !== undefined && world.has(job, Outcome)) return false
  return latchOf(world, agent)?.kind !== 'cost_ceiling' && spentGrant(world, agent) === undefined
}
