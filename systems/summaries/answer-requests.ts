import type { SummaryResult } from '../../components/summary-result.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { tell } from '../tell.ts'
import type { SummaryStart } from './start-summary.ts'

/** Tells the programs that wait for a compaction or a checkpoint what has come of it. */
export function answerRequests(world: World, agent: Entity, requests: readonly string[], result: SummaryResult): void {
  if (requests.length > 0) tell(world, 'summary-answered', { agent, requests, result })
}

/** The same if a text that is to be written was not even begun. */
export function answerUnstarted(world: World, agent: Entity, requests: readonly string[], start: SummaryStart): void {
  if (start === 'empty') answerRequests(world, agent, requests, { skipped: true, reason: 'empty' })
  else if (start !== 'started') answerRequests(world, agent, requests, { skipped: false, failure: start })
}
