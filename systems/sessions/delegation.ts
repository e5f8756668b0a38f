import { Ancestry } from '../../components/sessions/ancestry.ts'
import { Ceilings, CostCeiling } from '../../components/money/ceilings.ts'
import { defaultDelegation, nearPercent } from '../../src/protocol/delegation.ts'
import { Delegated, type DelegatedData, DelegationLimits } from '../../components/sessions/delegation-limits.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import { LastQuestion } from '../../components/sessions/session-call.ts'
import { leftUnder } from '../../src/rules/money/ceiling-decision.ts'
import { reservedNanoUsd, spendingOf } from '../../src/rules/money/spending.ts'
import {
  type Allowance,
  leftOf,
  limitsWith,
  nothingDelegated,
  questionGrants,
  reserved,
  tokensOf,
  unreserved,
} from '../../src/rules/delegation/grants.ts'
import { setPlanMode } from '../../src/rules/policy/inherited-policy.ts'
import { raiseMarks } from '../../src/rules/policy/marks.ts'
import { ownUsage, subtasksSpent, usageOf } from '../../src/rules/delegation/session-usage.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from '../kit.ts'
import type { EntiaErrorCode } from '../../src/base/entia-error.ts'

export function delegatedBy(world: World, agent: Entity): DelegatedData {
  return world.get(agent, Delegated) ?? nothingDelegated
}

/** Levels of sessions that an agent may have below it. */
export function depthLeft(world: World, agent: Entity): number {
  return world.get(agent, DelegationLimits)?.depth ?? defaultDelegation.depth
}

/**
 * What an agent may still delegate. In a session its own use counts too; ceilings limit the money.
 * @param what `if-returned`: if all that is reserved came back unspent. @default 'now'
 */
export function leftToDelegate(world: World, agent: Entity, what: 'now' | 'if-returned' = 'now'): Allowance {
  const limits = world.get(agent, DelegationLimits)
  const own = world.has(agent, Ancestry) ? ownUse(world, agent) : undefined
  const known = delegatedBy(world, agent)
  const delegated = what === 'now' ? questionGrants(world, agent).reduce(reserved, known) : unreserved(known)
  const left = leftOf(limits, delegated, own)
  const underCeilings = leftByCeilings(world, agent, what)
  if (underCeilings === undefined) return left
  return { ...left, costNanoUsd: Math.min(left.costNanoUsd ?? Infinity, underCeilings) }
}

/** Emits that an agent is near its session limit. In a session the limit is its grant, which cannot be raised. */
export function emitIfNeared(world: World, agent: Entity): void {
  if (world.has(agent, Ancestry)) return
  const limits = world.get(agent, DelegationLimits)
  const delegated = delegatedBy(world, agent)
  const limit = limits?.sessions ?? defaultDelegation.sessions
  const used = limit - leftOf(limits, delegated).sessions
  if (used * 100 < limit * nearPercent || delegated.nearedSessions === limit) return
  world.set(agent, Delegated, { ...delegated, nearedSessions: limit })
  emit(world, 'session-limit-neared', { agent, limit, used })
}

function leftByCeilings(world: World, agent: Entity, what: 'now' | 'if-returned'): number | undefined {
  if (world.has(agent, CostCeiling)) return 0
  const ceilings = world.get(agent, Ceilings)
  if (ceilings === undefined) return undefined
  return leftUnder(ceilings, spendingOf(world, agent), what === 'now' ? reservedNanoUsd(world, agent) : 0)
}

/** What a session's agent has used itself, subtasks included. */
function ownUse(world: World, agent: Entity): { tokens: number; costNanoUsd: number } {
  const usage = ownUsage(world, agent)
  const { tokens = 0, costNanoUsd = 0 } = subtasksSpent(world, agent) ?? {}
  return { tokens: tokens + tokensOf(usage), costNanoUsd: costNanoUsd + (usage.costNanoUsd ?? 0) }
}

/** Why a session's agent may make no further call: its grant is spent. `undefined`: it may. */
export function spentGrant(world: World, agent: Entity): Failure | undefined {
  if (!world.has(agent, Ancestry)) return undefined
  const { tokens, costNanoUsd } = leftToDelegate(world, agent)
  const spent = tokens === 0 ? 'tokens' : costNanoUsd === 0 ? 'cost' : undefined
  return spent && { kind: 'budget-spent', message: `The grant of this session is spent: ${spent}` }
}

/** In a session's world: takes what the agent may spend, at the start or for a question after its end. */
export function takeGrant(world: World, { isPlanMode, limits, marks, question }: InputOf<'granted'>): void {
  for (const agent of world.query(Ancestry)) {
    if (isPlanMode !== undefined) setPlanMode(world, agent, isPlanMode)
    raiseMarks(world, agent, marks)
    if (question === undefined) {
      world.set(agent, DelegationLimits, limits)
      continue
    }
    const { depth } = world.get(agent, DelegationLimits) ?? {}
    const all = limitsWith(limits, delegatedBy(world, agent), ownUse(world, agent))
    world.set(agent, DelegationLimits, { ...all, ...(depth !== undefined && { depth }) })
    world.set(agent, LastQuestion, { id: question, usedBefore: usageOf(world, agent, []) })
  }
}

/** Is the agent a fork, or in a session below one? */
export function isBelowFork(world: World, agent: Entity): boolean {
  return world.get(agent, Ancestry)?.sessions.some(({ kind }) => kind === 'fork') === true
}

/** Why a request about sessions is refused: a text for models, a code for programs. */
export interface Refusal {
  readonly code: EntiaErrorCode
  readonly message: string
  /** The wrong argument, for `invalid-argument`. */
  readonly field?: string
}

/** What a model reads of a refusal, behind `Error: `. */
export function refusalText(tool: string, { field, message }: Refusal): string {
  return field === undefined ? message : `Invalid arguments for '${tool}': ${field}: ${message}`
}
