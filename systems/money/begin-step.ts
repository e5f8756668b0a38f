import { Ceilings } from '../../components/ceilings.ts'
import { Llm } from '../../components/llm.ts'
import { Turn } from '../../components/turn.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn } from '../end-turn.ts'
import { openTurn } from '../open-turn.ts'
import { tell } from '../tell.ts'
import { callProblem } from './begin-call.ts'
import { awaitRates } from './model-rates.ts'

/**
 * May an agent begin its next step? Not when a ceiling is reached, nor before it is known what its model costs; and if that
 * is not to be known, its turn ends.
 */
export function mayStep(world: World, agent: Entity): boolean {
  if (!world.has(agent, Ceilings)) return true
  const { model } = world.read(agent, Llm)
  const failure = callProblem(world, agent, model)
  if (failure === undefined) return !awaitRates(world, agent, model)
  if (failure.kind !== 'cost-unknown') return false
  const { message } = failure
  tell(world, 'turn-error', { agent, kind: 'cost_unknown', retryable: false, message, failure })
  if (!world.has(agent, Turn)) openTurn(world, agent, 0)
  endTurn(world, agent, { stop: 'failed', failure })
  return false
}
