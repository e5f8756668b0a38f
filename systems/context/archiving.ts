import { ArchiveJob, SummaryOf } from '../../components/context/archive-job.ts'
import { HolderDraft } from '../../components/context/holder.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { takeRemoval } from './archival/end-job.ts'
import { moveJob, takeSummary } from './archival/move-job.ts'
import { takeReply } from './archival/write-summary.ts'
import { settled } from '../kit/settled.ts'

/**
 * Moves turns to their holders. A turn stays where it is until its holder, its transcript and its summary are durable; then,
 * in one tick and before anybody thinks in it, all of it but the message that opened it is replaced by a summary that names
 * the holder.
 *
 * Query: Outcome. Writes: ArchiveJob, Archive, Conversation, SubagentSession. Starts: transcript, model, timer; holder and
 * holder-removal once more.
 */
export const archiving = {
  name: 'archiving',
  priority: -29,
  wakes: [
    [HolderDraft, Outcome],
    [SummaryOf, Outcome],
    [ArchiveJob, Outcome],
  ],
  run(world: World): void {
    for (const effect of world.query(Outcome)) take(world, effect)
    for (const job of settled(world, ArchiveJob)) moveJob(world, job)
  },
}

/** Replies count before the job's own time: what comes at its end has come. */
function take(world: World, effect: Entity): void {
  if (world.has(effect, HolderDraft)) return takeRemoval(world, effect)
  const job = world.get(effect, SummaryOf)?.job
  if (job === undefined) return
  const summary = takeReply(world, effect, job)
  world.despawn(effect)
  if (summary !== undefined) takeSummary(world, job, summary)
}
