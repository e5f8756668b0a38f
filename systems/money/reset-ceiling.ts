import { Ceilings } from '../../components/money/ceilings.ts'
import { CostCeiling } from '../../components/money/cost-ceiling.ts'
import type { InputOf } from '../../components/input.ts'
import { Llm } from '../../components/agent/llm.ts'
import { ceilingReached } from '../../src/rules/money/ceiling-decision.ts'
import { ceilingMessage } from '../../src/rules/money/ceiling-message.ts'
import { spendingOf } from '../../src/rules/money/spending.ts'
import { toNanoUsd, toUsd } from '../../src/rules/money/usd.ts'
import { noteRefused, type RefusedRequest } from '../../src/rules/delegation/refused-requests.ts'
import type { World } from '../../src/world/world.ts'
import { holdStep } from '../kit/hold-step.ts'

type Reset = InputOf<'cost-ceiling-reset'>

/** Lets an agent go on that has reached a ceiling, and raises the one of its life if asked to; or notes why not. */
export function resetCeiling(world: World, input: Reset): void {
  const { agent, addSessionUsd = 0, request } = input
  const problem = problemOf(world, input)
  if (problem !== undefined) return noteRefused(world, request, problem)
  const { maxSessionCostUsd } = world.get(agent, Ceilings) ?? {}
  if (addSessionUsd > 0) world.patch(agent, Ceilings, { maxSessionCostUsd: raised(maxSessionCostUsd, addSessionUsd) })
  if (!world.has(agent, CostCeiling)) return
  const ceilings = world.get(agent, Ceilings)
  // Its turn has spent all that a turn may, and is still to end: the next one starts at zero.
  if (ceilings !== undefined && ceilingReached(ceilings, spendingOf(world, agent)) !== undefined) {
    return world.patch(agent, CostCeiling, { isReset: true })
  }
  world.remove(agent, CostCeiling)
  holdStep(world, agent)
}

function problemOf(world: World, { agent, addSessionUsd }: Reset): RefusedRequest | undefined {
  if (!world.has(agent, Llm)) return { code: 'invalid-argument', reason: `Entity ${agent} is no agent.` }
  const { maxSessionCostUsd } = world.get(agent, Ceilings) ?? {}
  if (maxSessionCostUsd === undefined) {
    if (addSessionUsd === undefined) return undefined
    return { code: 'invalid-argument', reason: `Agent ${agent} has no ceiling maxSessionCostUsd that could be raised.` }
  }
  const limitUsd = raised(maxSessionCostUsd, addSessionUsd ?? 0)
  const { sessionNanoUsd } = spendingOf(world, agent)
  const still = ceilingReached({ maxSessionCostUsd: limitUsd, onUnpriced: 'warn' }, { sessionNanoUsd })
  if (still === undefined) return undefined
  const advice = 'Pass addSessionUsd, so that the ceiling lies above what was spent.'
  return { code: 'limit-reached', reason: `${ceilingMessage(still)} ${advice}` }
}

function raised(limitUsd = 0, addUsd: number): number {
  return toUsd(toNanoUsd(limitUsd) + toNanoUsd(addUsd))
}
