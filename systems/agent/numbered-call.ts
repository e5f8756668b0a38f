import { Judgement, PolicyState } from '../../components/agent/policy.ts'
import { Outcome } from '../../components/effects/effect.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import type { StandardEvents } from '../../src/protocol/event.ts'
import { pathArguments, urlArguments } from '../../src/rules/policy/call.ts'
import { policyCallOf } from '../../src/rules/policy/inspected-call.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from '../kit.ts'

/** Numbers a call of an agent with a `Policy`, with what is known of it before it is judged. */
export function numberCall(world: World, agent: Entity, call: Entity): void {
  const state = world.get(agent, PolicyState)
  const number = (state?.calls ?? 0) + 1
  world.set(agent, PolicyState, { ...state, calls: number })
  const asked = policyCallOf(world, agent, call)
  const isSticky = state?.sticky === true
  world.set(call, Judgement, {
    number,
    requestedAtMs: world.nowMs,
    decision: { model: isSticky ? 'local' : 'cloud', approval: 'allow', reason: 'no policy applies' },
    dataClass: isSticky ? 'personal' : 'public',
    operation: asked.declared?.operation ?? 'unknown',
    paths: [...pathArguments(asked)],
    urls: [...urlArguments(asked.arguments)],
    mayRemember: false,
    onlyAPerson: false,
  })
}

type Settled = Pick<StandardEvents['call-settled'], 'isError' | 'result'>

/** Emits how a call of an agent with a `Policy` ended, while the call is still there. */
export function emitSettled(world: World, agent: Entity, call: Entity, settled: Settled): void {
  // A call that a cancel meets before it is decided has no number yet.
  if (!world.has(call, Judgement)) numberCall(world, agent, call)
  const { arguments: given, callId, name } = world.read(call, ToolCall)
  const { dataClass, decision, number, operation, paths, requestedAtMs, urls } = world.read(call, Judgement)
  emit(world, 'call-settled', {
    agent,
    callId,
    tool: name,
    arguments: given,
    paths,
    urls,
    dataClass,
    operation,
    decision,
    outcome: outcomeOf(world, call),
    ...settled,
    number,
    elapsedMs: world.nowMs - requestedAtMs,
  })
}

function outcomeOf(world: World, call: Entity): StandardEvents['call-settled']['outcome'] {
  const outcome = world.get(call, Outcome)
  if (outcome === undefined) return 'cancelled'
  if (outcome.ok || outcome.failure.kind !== 'tool-denied') return 'ran'
  return world.read(call, Judgement).decision.approval === 'deny' ? 'deny' : 'declined'
}
