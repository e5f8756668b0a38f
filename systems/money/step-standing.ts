import { Boundary } from '../../components/boundary.ts'
import { Ceilings } from '../../components/ceilings.ts'
import { CostCeiling } from '../../components/cost-ceiling.ts'
import type { Failure } from '../../components/failure.ts'
import { Llm } from '../../components/llm.ts'
import { Turn } from '../../components/turn.ts'
import { leastLeft } from '../../src/context/ceiling-decision.ts'
import { mostReservedForStep } from '../../src/context/reservation.ts'
import { mostReservedNanoUsd, spendingOf } from '../../src/context/spending.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn } from '../end-turn.ts'
import { openTurn } from '../open-turn.ts'
import { tell } from '../tell.ts'
import { callProblem } from './begin-call.ts'
import { awaitRates } from './model-rates.ts'

/**
 * How an agent's next step stands to its ceilings. `held`: it may not begin. `near`: it may, and has to be set against them
 * once it has. `far`: it may, and does not pass one, whatever it comes to.
 */
export type StepStanding = 'held' | 'near' | 'far'

/**
 * May an agent begin its next step, which answers so many messages? Not when a ceiling is reached, nor before it is known
 * what its model costs; and if that is not to be known, its turn ends.
 */
export function stepStanding(world: World, agent: Entity, messages: number): StepStanding {
  const ceilings = world.get(agent, Ceilings)
  if (ceilings === undefined) return 'far'
  const { model } = world.read(agent, Llm)
  const spent = spendingOf(world, agent)
  const left = leastLeft(ceilings, spent)
  const isClear = left > 0 && ceilings.onUnpriced !== 'refuse' && !world.has(agent, CostCeiling)
  const failure = isClear ? undefined : callProblem(world, agent, model)
  if (failure !== undefined) {
    if (failure.kind === 'cost-unknown') endUnpriced(world, agent, failure)
    return 'held'
  }
  const rates = awaitRates(world, agent, model)
  if (rates === undefined) return 'held'
  const most = mostReservedForStep(world, agent, messages, rates)
  if (most === undefined) return 'near'
  // Behind a boundary the model is told of the turn, which is yet to be opened.
  const isOpen = spent.turnNanoUsd !== undefined
  if (!isOpen && world.has(agent, Boundary)) return 'near'
  const leftOfTurn = isOpen ? left : leastLeft(ceilings, { ...spent, turnNanoUsd: 0 })
  return most + mostReservedNanoUsd(world, agent) <= leftOfTurn ? 'far' : 'near'
}

function endUnpriced(world: World, agent: Entity, failure: Failure): void {
  const { message } = failure
  tell(world, 'turn-error', { agent, kind: 'cost_unknown', retryable: false, message, failure })
  if (!world.has(agent, Turn)) openTurn(world, agent, 0)
  endTurn(world, agent, { stop: 'failed', failure })
}
