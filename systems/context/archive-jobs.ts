import {
  Archive,
  ArchiveJob,
  type ArchiveJobData,
  LastWords,
  SummaryOf,
  type TurnSummary,
} from '../../components/context/archive.ts'
import { DraftOf, HolderDraft } from '../../components/context/holder.ts'
import { Outcome } from '../../components/effects/effect.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { askForSummary, endSummary, takeReply, withoutReply } from './archive-summary.ts'
import { beginEffect, emit, settled, tryWriteAgain } from '../kit.ts'
import { TranscriptWrite } from '../../components/context/agent-transcript.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import { HolderFailure, HolderRemoval } from '../../src/rules/delegation/session-outcome.ts'
import { takeWritten } from './transcripts.ts'
import type { ArchivePhase } from '../../src/protocol/context.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { lastWords } from '../../src/rules/projection/text-of.ts'
import { countUpTo } from '../../src/rules/projection/places.ts'
import { recordHolder } from '../../src/rules/delegation/record-holder.ts'
import { noteRewrite } from './summaries/note-rewrite.ts'
import { keepNewestCall } from './call-runs.ts'

/**
 * Moves turns to their holders. A turn stays in place until its holder, transcript and summary are durable. Then, in
 * one tick and before the agent's next step, a summary that names the holder replaces all but its opening message.
 * Writes: ArchiveJob, Archive, Conversation, SubagentSession. Starts: transcript, model, timer; retries holder and
 * holder-removal.
 */
export const archiveJobs = {
  name: 'archive-jobs',
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

/** Replies come before the job's own deadline: a reply at the deadline counts. */
function take(world: World, effect: Entity): void {
  if (world.has(effect, HolderDraft)) return takeRemoval(world, effect)
  const job = world.get(effect, SummaryOf)?.job
  if (job === undefined) return
  const summary = takeReply(world, effect, job)
  world.despawn(effect)
  if (summary !== undefined) takeSummary(world, job, summary)
}

/** Takes a job to its next step after the effect of the last one. */
function moveJob(world: World, job: Entity): void {
  const { step } = world.read(job, ArchiveJob)
  if (step === 'summary') return takeSummary(world, job, withoutReply(world, job))
  const problem = problemOf(world, job)
  if (problem !== undefined) return tryAgain(world, job, problem)
  switch (step) {
    case 'holder':
      world.patch(job, ArchiveJob, { step: 'entries', tries: 1 })
      return beginEffect(world, job, { kind: 'transcript', restart: 'keyed' })
    case 'entries': {
      for (const draft of world.referrers(DraftOf, job)) world.patch(draft, HolderDraft, { isWritten: true })
      world.patch(job, ArchiveJob, { step: 'summary', tries: 1 })
      const summary = askForSummary(world, job)
      return summary && takeSummary(world, job, summary)
    }
    case 'lines': {
      takeWritten(world, job)
      const { summary } = world.read(job, ArchiveJob)
      return summary && collapse(world, job, summary)
    }
  }
}

/** The lines are written once no other write to the agent's transcript runs. */
function takeSummary(world: World, job: Entity, summary: TurnSummary): void {
  endSummary(world, job)
  world.patch(job, ArchiveJob, { step: 'lines', summary, tries: 1 })
}

type Problem = { readonly phase: 'spawn' | 'seed' | 'disk'; readonly failure: Failure }

function problemOf(world: World, job: Entity): Problem | undefined {
  const outcome = world.read(job, Outcome)
  const isHolder = world.read(job, ArchiveJob).step === 'holder'
  if (!outcome.ok) return { phase: isHolder ? 'spawn' : 'disk', failure: outcome.failure }
  return isHolder ? parsedAs(HolderFailure(), outcome.value) : undefined
}

function tryAgain(world: World, job: Entity, { phase, failure }: Problem): void {
  const { tries } = world.read(job, ArchiveJob)
  if (tryWriteAgain(world, job, tries)) return world.patch(job, ArchiveJob, { tries: tries + 1 })
  world.remove(job, TranscriptWrite)
  failJob(world, job, phase, failure)
}

/**
 * Replaces an archived turn, except its opening message, by one that names its holder. From this tick on the holder is
 * a session of the agent.
 */
function collapse(world: World, job: Entity, summary: TurnSummary): void {
  const data = world.read(job, ArchiveJob)
  const { agent, fromSeq, reason, subagentId, task, toSeq } = data
  replaceSlice(world, data, summary)
  recordHolder(world, agent, { model: data.llm.model, sessionId: subagentId, task }, summary.text)
  world.append(agent, Archive, {
    atMs: world.nowMs,
    fromSeq,
    reason,
    status: 'archived',
    subagentId,
    summary: summary.status,
    task,
    toSeq,
    ...(summary.truncated && { truncated: true as const }),
  })
  // The holder is no draft any more.
  for (const draft of world.referrers(DraftOf, job)) world.despawn(draft)
  world.despawn(job)
  emit(world, 'turn-archived', { agent, fromSeq, reason, subagentId, summary: summary.status, toSeq })
}

/** Keeps the newest turn's last words. Turns may collapse in any order. */
function keepWords(world: World, agent: Entity, count: number, seq: number): void {
  if ((world.get(agent, LastWords)?.seq ?? 0) > seq) return
  world.set(agent, LastWords, { seq, text: lastWords(world, agent, count) })
}

function replaceSlice(
  world: World,
  { agent, fromSeq, subagentId, toSeq }: ArchiveJobData,
  { costNanoUsd, text: summary }: TurnSummary,
): void {
  const from = countUpTo(world, agent, fromSeq)
  const to = countUpTo(world, agent, toSeq)
  keepNewestCall(world, agent, from, to)
  keepWords(world, agent, to, toSeq)
  const text = `[archived turn]\nsubagent_id: ${subagentId}\n\n${summary}`
  const isUnread = world.has(agent, Unread)
  world.splice(agent, Conversation, from, to - from, [{ role: 'assistant', content: [{ type: 'text', text }] }])
  // The splice marks the conversation unread, but has added nothing to answer.
  if (!isUnread) world.remove(agent, Unread)
  noteRewrite(world, agent, { kind: 'archival', costNanoUsd, removed: to - from - 1, toSeq })
}

/** Gives up on archiving a turn: it stays whole. The holder's draft is removed. */
function failJob(world: World, job: Entity, phase: ArchivePhase, failure: Failure): void {
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

/** Gives up on archiving a turn that its user took back. */
export function dropJob(world: World, job: Entity): void {
  endSummary(world, job)
  failJob(world, job, 'seed', { kind: 'cancelled', message: 'The user went back to before this turn.' })
}

/** A failed removal is retried, then reported. */
function takeRemoval(world: World, draft: Entity): void {
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
