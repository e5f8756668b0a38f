import { EndedTurn } from '../../components/context/ended-turn.ts'
import { Effect } from '../../components/effects/effect.ts'
import { DraftOf, HolderDraft, Seed } from '../../components/context/holder.ts'
import type { Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { removeDraft } from './archival/end-job.ts'
import { judgeTurn } from './archival/judge-turn.ts'
import { wantLines } from './transcripts/write-lines.ts'

/**
 * Looks at each turn that has ended and may be heavy, once, and opens a job for those that a holder is to have; removes
 * what is left of holders that nobody makes any more.
 *
 * Query: EndedTurn, HolderDraft. Writes: ArchiveJob, HolderDraft, TranscriptDue. Starts: holder, holder-removal.
 */
export const archival = {
  name: 'archival',
  priority: 11,
  wakes: [EndedTurn, HolderDraft],
  run(world: World): void {
    for (const ended of world.query(EndedTurn)) {
      if (world.has(world.read(ended, EndedTurn).agent, Seed)) keepQuestion(world, ended)
      judgeTurn(world, ended)
      world.despawn(ended)
    }
    for (const draft of world.query(HolderDraft, not(DraftOf), not(Effect))) removeDraft(world, draft)
  },
}

/** What a holder is asked, and what it says to that, is in its transcript behind the turn that it holds. */
function keepQuestion(world: World, ended: Entity): void {
  const { agent, toSeq } = world.read(ended, EndedTurn)
  wantLines(world, agent, toSeq)
}
