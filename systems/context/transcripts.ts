import { AgentTranscript, TranscriptDue, TranscriptWrite } from '../../components/context/agent-transcript.ts'
import { ArchiveJob } from '../../components/context/archive-job.ts'
import { Boundary, BoundaryMoved } from '../../components/context/boundary.ts'
import { Due } from '../../components/effects/due.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { Pending } from '../../components/effects/pending.ts'
import type { Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { beginEffect, tryWriteAgain } from '../kit/begin-effect.ts'
import { settled } from '../kit/settled.ts'
import { emit } from '../kit/emit.ts'
import { isWriting, planWrite, takeWritten, wantLines } from './transcripts/write-lines.ts'

/**
 * Brings messages to their agents' transcripts in the store: those that no projection has any more, and what is said to a
 * holder.
 *
 * Query: Outcome; ArchiveJob; BoundaryMoved; TranscriptDue. Writes: AgentTranscript, TranscriptDue, TranscriptWrite.
 * Starts: transcript.
 */
export const transcripts = {
  name: 'transcripts',
  priority: 11.5,
  wakes: [[TranscriptWrite, Outcome], ArchiveJob, BoundaryMoved, TranscriptDue],
  run(world: World): void {
    for (const write of settled(world, TranscriptWrite)) if (!world.has(write, ArchiveJob)) take(world, write)
    for (const job of world.query(ArchiveJob, not(Pending), not(Due))) writeLines(world, job)
    for (const agent of world.query(BoundaryMoved)) followBoundary(world, agent)
    for (const agent of world.query(TranscriptDue)) begin(world, agent)
  },
}

/** Begins to write the lines of a job that has nothing under way. Others may write first. */
function writeLines(world: World, job: Entity): void {
  const { agent, fromSeq, step, subagentId, toSeq } = world.read(job, ArchiveJob)
  if (step !== 'lines' || isWriting(world, agent)) return
  planWrite(world, job, agent, { rewrite: { fromSeq, subagentId, toSeq }, toSeq })
  beginEffect(world, job, { kind: 'transcript', restart: 'keyed' })
}

function take(world: World, write: Entity): void {
  const outcome = world.read(write, Outcome)
  const { agent, toSeq, tries } = world.read(write, TranscriptWrite)
  if (outcome.ok) takeWritten(world, write)
  else if (tryWriteAgain(world, write, tries)) return world.patch(write, TranscriptWrite, { tries: tries + 1 })
  else {
    const message = `Messages up to ${toSeq} could not be written to the transcript: ${outcome.failure.message}`
    emit(world, 'warning', { agent, message })
  }
  world.despawn(write)
}

/** What a boundary covers is kept where people read it, and found by a search. */
function followBoundary(world: World, agent: Entity): void {
  world.remove(agent, BoundaryMoved)
  const seq = world.get(agent, Boundary)?.at(-1)?.seq
  if (seq !== undefined) wantLines(world, agent, seq)
}

function begin(world: World, agent: Entity): void {
  if (isWriting(world, agent)) return
  const { seq: toSeq } = world.read(agent, TranscriptDue)
  world.remove(agent, TranscriptDue)
  if (toSeq <= (world.get(agent, AgentTranscript)?.seq ?? 0)) return
  const write = world.spawn()
  planWrite(world, write, agent, { toSeq })
  beginEffect(world, write, { kind: 'transcript', restart: 'keyed' })
}
