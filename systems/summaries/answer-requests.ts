import type { SummaryResult } from '../../components/summary-result.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { tell } from '../tell.ts'

/** Tells the programs that wait for a compaction or a checkpoint what has come of it. */
export function answerRequests(
  world: World,
  agent: Entity,
  requests: readonly string[],
  result: SummaryResult,
): void {
  if (requests.length > 0) tell(world, 'summary-answered', { agent, requests, result })
}
