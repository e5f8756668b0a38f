import { Busy } from '../components/busy.ts'
import {
  CompactionAsked,
  CompactionPending,
  CompactionState,
  Overflowed,
  Unweighed,
} from '../components/compaction-state.ts'
import { Boundary } from '../components/boundary.ts'
import { Context } from '../components/context.ts'
import { SideCall } from '../components/side-call.ts'
import type { Compactor } from '../src/context/compactor.ts'
import type { Entity } from '../src/world/component.ts'
import { not } from '../src/world/entities.ts'
import type { World } from '../src/world/world.ts'
import { anybodyHas } from './anybody-has.ts'
import { inputsOf } from './inputs-of.ts'
import { marked } from './marked.ts'
import { readyAgents } from './ready-agents.ts'
import { answerRequests } from './summaries/answer-requests.ts'
import { askForCompaction, compactAsAsked } from './summaries/compact-as-asked.ts'
import { compactIfDue } from './summaries/compact-if-due.ts'
import { judgeCompactions, noteFailure, noteSuccess, weighTurn } from './summaries/compaction-worth.ts'
import { tellRewrites } from './summaries/note-rewrite.ts'
import { endOverflowed } from './summaries/overflow.ts'
import { settledSummaries, settleSummary } from './summaries/settle-summary.ts'
import { tell } from './tell.ts'

export interface CompactionOptions {
  readonly compactor: Compactor
  readonly maxStartsPerTick: number
}

/**
 * Keeps conversations within the context window: has a handover written of what was said, at a quiet point, and lets it
 * stand for that. Of its own accord where a window is full, and whenever a program asks.
 *
 * Query: Unweighed; CompactionAsked; the agents that reasoning will start; Outcome. Writes: Boundary, CompactionPending,
 * CompactionState, Summarizing, and what goes with a rewrite. Starts: model.
 */
export function compaction({ compactor, maxStartsPerTick }: CompactionOptions) {
  return {
    name: 'compaction',
    priority: -2.6,
    run(world: World): void {
      for (const input of inputsOf(world, 'compact')) askForCompaction(world, input)
      if (!anybodyHas(world, Context, SideCall, CompactionAsked)) return
      for (const effect of settledSummaries(world, 'compaction')) takeSummary(world, effect)
      tellRewrites(world)
      judgeCompactions(world, compactor)
      for (const agent of marked(world, Unweighed)) weighTurn(world, agent, compactor)
      if (anybodyHas(world, CompactionAsked)) {
        for (const agent of world.query(CompactionAsked, not(Busy))) compactAsAsked(world, agent, compactor)
      }
      for (const agent of readyAgents(world, maxStartsPerTick, Context)) compactIfDue(world, agent, compactor)
    },
  }
}

function takeSummary(world: World, effect: Entity): void {
  const { agent, failure, task } = settleSummary(world, effect)
  const { by, requests } = task
  if (failure === undefined) {
    noteSuccess(world, agent, by === 'manual' ? 'manual' : 'auto')
    const boundary = world.read(agent, Boundary).at(-1)
    if (boundary !== undefined) answerRequests(world, agent, requests, { skipped: false, boundary })
    return
  }
  const failures = by === 'manual' ? (world.get(agent, CompactionState)?.failures ?? 0) : noteFailure(world, agent)
  tell(world, 'compaction-failed', { agent, by, failure, failures })
  answerRequests(world, agent, requests, { skipped: false, failure })
  if (by === 'manual') return
  world.remove(agent, CompactionPending)
  const overflowed = world.get(agent, Overflowed)
  if (overflowed !== undefined) endOverflowed(world, agent, overflowed.failure)
}
