import { ArchiveJob, type ArchiveJobData, type TurnSummary } from '../../../components/context/archive-job.ts'
import { Archive } from '../../../components/context/archive.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { DraftOf } from '../../../components/context/holder.ts'
import { LastWords } from '../../../components/context/last-words.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/owned-by.ts'
import { Unread } from '../../../components/agent/unread.ts'
import { lastWords } from '../../../src/rules/context/last-words.ts'
import { countUpTo } from '../../../src/rules/projection/places.ts'
import { recordHolder } from '../../../src/rules/delegation/record-holder.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import { noteRewrite } from '../summaries/note-rewrite.ts'
import { emit } from '../../kit/emit.ts'
import { keepNewestCall } from '../watchdog/run-of-calls.ts'

/**
 * Replaces an archived turn, its opening message aside, by one message that names its holder; from this tick on the holder
 * is a session of the agent.
 */
export function collapse(world: World, job: Entity, summary: TurnSummary): void {
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
  // The holder stays: it is no draft any more.
  for (const draft of world.referrers(DraftOf, job)) world.despawn(draft)
  world.despawn(job)
  emit(world, 'turn-archived', { agent, fromSeq, reason, subagentId, summary: summary.status, toSeq })
}

/** The newest turn's last words stay to be read. Turns may collapse in any order. */
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
  // What stands behind the turn, and is being answered, is none the newer for it.
  if (!isUnread) world.remove(agent, Unread)
  noteRewrite(world, agent, { kind: 'archival', costNanoUsd, toSeq })
  for (const call of world.referrers(OwnedBy, agent)) {
    if (!world.has(call, ModelCall)) continue
    const { messages } = world.read(call, ModelCall)
    world.patch(call, ModelCall, { messages: messages - (to - from - 1) })
  }
}
