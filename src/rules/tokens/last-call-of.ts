import { LastCall, type LastCallData } from '../../../components/context/last-call.ts'
import { UncountedCalls } from '../../../components/money/token-factors.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** An agent's newest own call since its projection was last rewritten, with what it has read. */
export function lastCallOf(world: World, agent: Entity): Omit<LastCallData, 'isBehind'> | undefined {
  const last = world.get(agent, LastCall)
  if (last?.isBehind !== true) return last
  const { cachePrice, contextWindow, model } = last
  return { cachePrice, contextWindow, model, promptTokens: world.get(agent, UncountedCalls)?.at(-1)?.promptTokens }
}
