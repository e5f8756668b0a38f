import { AgentTranscript, TranscriptDue, TranscriptWrite } from '../../components/context/agent-transcript.ts'
import { ArchiveJob } from '../../components/context/archive.ts'
import { Boundary, BoundaryMoved } from '../../components/context/boundary.ts'
import { Due, Outcome, Pending } from '../../components/effects/effect.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { beginEffect, emit, settled, tryWriteAgain } from '../kit.ts'
import { placedMessages } from '../../src/rules/projection/places.ts'
import { TranscriptOutcome } from '../../src/rules/delegation/session-outcome.ts'

/**
 * Writes messages to the agents' transcripts in the store: those that no projection has any more, and questions to
 * holders.
 * Writes: AgentTranscript, TranscriptDue, TranscriptWrite. Starts: transcript.
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

/** Starts writing the lines of a job, unless another write to the transcript runs. */
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

/** Messages that a boundary covers go to the transcript, where people read them and searches find them. */
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

/** What an agent's transcript should have. */
interface WantedLines {
  /** Messages up to this `seq`. */
  readonly toSeq: number
  /** Behind them: the line of a turn that a holder has. */
  readonly rewrite?: { readonly fromSeq: number; readonly subagentId: string; readonly toSeq: number }
}

/** Only one write at a time knows where its lines stand. */
function isWriting(world: World, agent: Entity): boolean {
  return world.isReferred(TranscriptWrite, agent)
}

/** Requests that an agent's messages up to `seq` are written to its transcript. */
export function wantLines(world: World, agent: Entity, seq: number): void {
  const wanted = world.get(agent, TranscriptDue)?.seq ?? 0
  if (seq > wanted) world.set(agent, TranscriptDue, { seq })
}

/** Records what an entity is to write, behind what is there. */
function planWrite(world: World, entity: Entity, agent: Entity, { rewrite, toSeq }: WantedLines): void {
  const { lines: from, seq } = world.get(agent, AgentTranscript) ?? { lines: 0, seq: 0 }
  world.set(entity, TranscriptWrite, {
    afterSeq: seq,
    agent,
    dateMs: world.dateMs,
    from,
    ...(rewrite !== undefined && { rewrite }),
    toSeq: Math.max(seq, toSeq),
    tries: 1,
  })
}

export function takeWritten(world: World, entity: Entity): void {
  const outcome = world.read(entity, Outcome)
  const { afterSeq, agent, from, toSeq } = world.read(entity, TranscriptWrite)
  const written = outcome.ok ? parsedAs(TranscriptOutcome(), outcome.value) : undefined
  const last = placedMessages(world, agent, afterSeq, toSeq).at(-1)
  const place = last === undefined ? world.get(agent, AgentTranscript)?.place : { step: last.step, turn: last.turn }
  world.set(agent, AgentTranscript, {
    lines: written?.lines ?? from,
    ...(place !== undefined && { place }),
    seq: toSeq,
  })
  world.remove(entity, TranscriptWrite)
}
