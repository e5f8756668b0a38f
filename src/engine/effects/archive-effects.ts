import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { AgentTranscript, TranscriptWrite } from '../../../components/context/agent-transcript.ts'
import { Archival } from '../../../components/context/archival.ts'
import { Archive, ArchiveJob, type ArchiveJobData } from '../../../components/context/archive.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { HolderDraft } from '../../../components/context/holder.ts'
import { Llm } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { styleFor, summaryModel } from '../../rules/context/archival-summary.ts'
import { messageLine, messageOf, rewriteLine, sessionLine, summaryLine } from '../../rules/context/transcript-lines.ts'
import { type PlacedMessage, countUpTo, inTurns, placedMessages } from '../../rules/projection/places.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { TranscriptHit, TranscriptLine } from '../../stores/port.ts'
import type { DeepReadonly, Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import type { World } from '../../world/world.ts'
import type { EffectContext, EffectKind } from './effect-kind.ts'
import type { Children } from '../children/children.ts'
import { sessionKey, transcriptKey } from '../children/world-tree.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import { messageText } from '../../rules/context/render-transcript.ts'
import { memoryStore } from '../../stores/memory.ts'
import { cutText } from '../../base/cut-text.ts'

type WriteData = DeepReadonly<(typeof TranscriptWrite)['schema']['_output']>

const nanoUsd = 1_000_000_000

/** Writes the World of a holder to the store, where it rests. Idempotent. */
export function holderEffect(children: Children): EffectKind {
  return {
    prepare(world, effect) {
      const { agent, llm, subagentId: sessionId, task } = world.read(effect, ArchiveJob)
      const parts = { archival: world.get(agent, Archival), llm, seed: archivedTurn(world, effect), sessionId, task }
      const hold = async (): Promise<OutcomeData> => done(await children.worlds.hold(agent, parts))
      return (context) => locked(children, sessionId, context, hold)
    },
  }
}

/** Appends lines to the transcript of a holder that is being made, or of an agent. Lines that are there are not written again. */
export function transcriptEffect(children: Children): EffectKind {
  const { transcripts } = children
  return {
    prepare(world, effect) {
      const job = world.get(effect, ArchiveJob)
      const write = world.get(effect, TranscriptWrite)
      const ofHolder = job && holderPart(world, effect)
      const ofAgent = write && { ...write, head: agentHead(world, write), lines: agentLines(world, write) }
      const append = async (): Promise<OutcomeData> => {
        if (ofHolder !== undefined) await transcripts.append(ofHolder.key, ofHolder.lines, ofHolder.from)
        if (ofAgent === undefined) return done({ lines: 0 })
        const key = await transcriptKey(world, ofAgent.agent)
        return done({ lines: await transcripts.appendBehind(key, ofAgent) })
      }
      return job === undefined ? append : (context) => locked(children, job.subagentId, context, append)
    },
  }
}

/**
 * Removes the World and the transcript of a holder that was given up. The outcome names what is left. A transcript that this
 * world has not written stays: ids repeat where a database was restored from a backup, or stores share a folder of
 * transcripts.
 */
export function holderRemovalEffect(children: Children): EffectKind {
  return {
    prepare(world, effect) {
      const { isWritten, sessionId } = world.read(effect, HolderDraft)
      const key = sessionKey(sessionId)
      const remove = async (): Promise<OutcomeData> => {
        const left: string[] = []
        let message: string | undefined
        const tryTo = async (what: string, removal: () => Promise<void>): Promise<void> => {
          try {
            await removal()
          } catch (error) {
            left.push(what)
            message ??= thrownMessage(error)
          }
        }
        await tryTo('world', () => children.worlds.remove(sessionId))
        if (isWritten === true || children.transcripts.hasWritten(key)) {
          await tryTo('transcript', () => children.transcripts.remove(key))
        }
        return done({ left, ...(message !== undefined && { message }) })
      }
      return (context) => locked(children, sessionId, context, remove)
    },
  }
}

/** Work about a holder, one at a time: work that was called off may still be writing, and the Runner waits for it at its stop. */
async function locked(
  children: Children,
  sessionId: string,
  context: EffectContext,
  work: () => Promise<OutcomeData>,
): Promise<OutcomeData> {
  const { signal } = context
  const { clock } = children.host
  const unlock = await context.wait(children.lock(sessionId))
  if (signal.aborted) {
    unlock()
    return { ok: false, failure: { kind: 'cancelled', message: 'It was called off before it began.' } }
  }
  // Called off, it writes on: the clock must not run ahead of it.
  let isCounted = false
  const count = (): void => {
    isCounted = true
    clock.begin?.()
  }
  signal.addEventListener('abort', count, { once: true })
  try {
    return await work()
  } catch (error) {
    return { ok: false, failure: { kind: 'store-failed', message: thrownMessage(error) } }
  } finally {
    signal.removeEventListener('abort', count)
    if (isCounted) clock.end?.()
    unlock()
  }
}

function archivedTurn(world: World, job: Entity): readonly Message[] {
  const { agent, fromSeq, toSeq } = world.read(job, ArchiveJob)
  const messages = world.read(agent, Conversation)
  return messages.slice(countUpTo(world, agent, fromSeq - 1), countUpTo(world, agent, toSeq))
}

function holderPart(world: World, job: Entity) {
  const data = world.read(job, ArchiveJob)
  const { agent, dateMs, llm, subagentId, task } = data
  const key = sessionKey(subagentId)
  const turn = archivedTurn(world, job)
  if (data.step !== 'entries') return { key, lines: holderSummary(data), from: turn.length + 1 }
  const above = world.get(agent, Ancestry)?.sessions ?? []
  const parent = above.at(-1)?.sessionId ?? world.name
  const head = sessionLine({
    key: subagentId,
    createdAt: dateMs,
    model: llm.model,
    parent,
    task,
    depth: above.length + 1,
  })
  // The holder's conversation begins with the turn, so places count from 1.
  const lines = inTurns(turn).map((placed, index) => messageLine({ ...placed, seq: index + 1 }, dateMs))
  return { key, lines: [head, ...lines], from: 0 }
}

function holderSummary({ llm, summary, summaryBy }: ArchiveJobData): readonly TranscriptLine[] {
  if (summary === undefined) return []
  const { costNanoUsd, dateMs, status, text, truncated, usage } = summary
  const model = summaryModel(summaryBy.model, llm.model)
  const costUsd = costNanoUsd === undefined ? null : costNanoUsd / nanoUsd
  const style = styleFor(summaryBy.style, model)
  return [summaryLine({ style, status, truncated, text, model, usage, costUsd, at: dateMs })]
}

function agentHead(world: World, { agent, dateMs }: WriteData): TranscriptLine {
  const above = world.get(agent, Ancestry)?.sessions ?? []
  const { model } = world.read(agent, Llm)
  const head = { createdAt: dateMs, model }
  if (above.length === 0) return sessionLine({ key: world.name, ...head })
  const key = above.at(-1)?.sessionId ?? world.name
  // The root world's name is not known here.
  const parent = above.at(-2)?.sessionId
  return sessionLine({ key, ...head, ...(parent !== undefined && { parent }), depth: above.length })
}

function agentLines(world: World, { afterSeq, agent, dateMs, rewrite, toSeq }: WriteData): TranscriptLine[] {
  const lines = placedMessages(world, agent, afterSeq, toSeq).map((placed) => messageLine(placed, dateMs))
  if (rewrite !== undefined) lines.push(rewriteLine({ ...rewrite, at: dateMs }))
  return lines
}

function done(value: unknown): OutcomeData {
  return { ok: true, value: (value ?? null) as Json }
}

const maxMessages = 10
const maxChars = 1_000
/** Most lines found, before those that the agent still sees are dropped. */
const maxHits = 500
/** A scratch place to search messages that are in no transcript yet. */
const place = { root: 'unwritten', key: 'unwritten.jsonl' } as const

/** Searches an agent's transcript for messages that it no longer sees. */
export function recallEffect(children: Children): EffectKind {
  return {
    prepare(world, effect) {
      const { agent } = world.read(effect, OwnedBy)
      const { query } = world.read(effect, ToolCall).arguments
      const isFolded = foldedOf(world, agent)
      const unwritten = unwrittenOf(world, agent)
      return async () => {
        const words = typeof query === 'string' ? query : ''
        const hits = await children.transcripts.search(await transcriptKey(world, agent), words, maxHits)
        const lines = [...hits, ...(await searched(unwritten, words))]
        const found = lines.flatMap(({ text }) => messageOf(text) ?? []).filter(({ seq }) => isFolded(seq))
        const unlike = [...new Map(found.map((one) => [one.seq, one])).values()]
        const messages = unlike.slice(0, maxMessages).map(({ seq, message }) => {
          return { seq, role: message.role, text: cutText(messageText(message), maxChars) }
        })
        return textResult(
          messages.length === 0 ? 'No earlier message has a word of the query.' : JSON.stringify(messages),
        )
      }
    },
  }
}

/** Messages behind a boundary that are not in the transcript yet, or that the disk had no room for. */
function unwrittenOf(world: World, agent: Entity): readonly PlacedMessage[] {
  const covered = world.get(agent, Boundary)?.at(-1)?.seq ?? 0
  const written = world.get(agent, AgentTranscript)?.seq ?? 0
  return covered > written ? placedMessages(world, agent, written, covered) : []
}

async function searched(messages: readonly PlacedMessage[], words: string): Promise<readonly TranscriptHit[]> {
  if (messages.length === 0) return []
  const store = memoryStore()
  const lines = messages.map((placed) => messageLine(placed, 0))
  await store.appendTranscript(place.root, place.key, lines, { from: 0 })
  return store.searchTranscript(place.root, [place.key], words, { limit: maxHits })
}

function foldedOf(world: World, agent: Entity): (seq: number) => boolean {
  const covered = world.get(agent, Boundary)?.at(-1)?.seq ?? 0
  const archived = (world.get(agent, Archive) ?? []).filter(({ status }) => status === 'archived')
  return (seq) => seq <= covered || archived.some(({ fromSeq, toSeq }) => fromSeq < seq && seq <= toSeq)
}

function textResult(text: string): OutcomeData {
  return { ok: true, value: { content: [{ type: 'text', text }] } as Json }
}
