import { ArchiveJob } from '../../../components/context/archive-job.ts'
import { Archive, type ArchivePhase } from '../../../components/context/archive.ts'
import type { Failure } from '../../../src/protocol/failure.ts'
import { HolderDraft } from '../../../components/context/holder.ts'
import { Outcome } from '../../../components/effects/outcome.ts'
import { HolderRemoval } from '../../../src/rules/delegation/session-outcome.ts'
import type { Entity } from '../../../src/world/component.ts'
import { parsedAs } from '../../../src/world/parsed-as.ts'
import type { World } from '../../../src/world/world.ts'
import { beginEffect, tryWriteAgain } from '../../kit/begin-effect.ts'
import { emit } from '../../kit/emit.ts'

/** Gives a turn up: it stays whole, and is not tried again. What was made of its holder is removed. */
export function failJob(world: World, job: Entity, phase: ArchivePhase, failure: Failure): void {
  const { agent, fromSeq, reason, subagentId, task, toSeq } = world.read(job, ArchiveJob)
  world.append(agent, Archive, {
    atMs: world.nowMs,
    failure,
    fromSeq,
    phase,
    reason,
    status: 'failed',
    subagentId,
    task,
    toSeq,
  })
  world.despawn(job)
  emit(world, 'archive-failed', { agent, failure, phase, subagentId })
}

/** Removes what was made of a holder whose job is gone. */
export function removeDraft(world: World, draft: Entity): void {
  world.patch(draft, HolderDraft, { tries: 1 })
  beginEffect(world, draft, { kind: 'holder-removal', restart: 'keyed' })
}

/** Takes how a removal has ended. One that failed is tried again, and then told of. */
export function takeRemoval(world: World, draft: Entity): void {
  const outcome = world.read(draft, Outcome)
  const { sessionId, tries } = world.read(draft, HolderDraft)
  const removal = outcome.ok ? parsedAs(HolderRemoval(), outcome.value) : undefined
  const left = outcome.ok ? (removal?.left ?? []) : (['world', 'transcript'] as const)
  if (left.length > 0 && tryWriteAgain(world, draft, tries))
    return world.patch(draft, HolderDraft, { tries: tries + 1 })
  if (left.length > 0) {
    const message = outcome.ok ? (removal?.message ?? '') : outcome.failure.message
    emit(world, 'archive-cleanup-failed', { left, message, subagentId: sessionId })
  }
  world.despawn(draft)
}
