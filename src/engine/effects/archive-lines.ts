import { Ancestry } from '../../../components/sessions/ancestry.ts'
import type { TranscriptWrite } from '../../../components/context/agent-transcript.ts'
import type { ArchiveJobData } from '../../../components/context/archive.ts'
import { Llm } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import { styleFor, summaryModel } from '../../rules/context/archival-summary.ts'
import { messageLine, rewriteLine, sessionLine, summaryLine } from '../../rules/context/transcript-lines.ts'
import { inTurns, placedMessages } from '../../rules/projection/turn-places.ts'
import type { TranscriptLine } from '../../stores/port.ts'
import type { DeepReadonly } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

type WriteData = DeepReadonly<(typeof TranscriptWrite)['schema']['_output']>

const nanoUsd = 1_000_000_000

/** The beginning of a holder's transcript: whose it is, and the turn that it holds. */
export function holderLines(
  { dateMs, llm, subagentId, task }: ArchiveJobData,
  slice: readonly Message[],
  place: { readonly depth: number; readonly parent: string },
): readonly TranscriptLine[] {
  const { depth, parent } = place
  const head = sessionLine({ key: subagentId, createdAt: dateMs, model: llm.model, parent, task, depth })
  // Its own places: the holder's conversation begins with the turn.
  return [head, ...inTurns(slice).map((placed, index) => messageLine({ ...placed, seq: index + 1 }, dateMs))]
}

/** What a holder's transcript says behind the turn. */
export function jobSummaryLine({ llm, summary, summaryBy }: ArchiveJobData): readonly TranscriptLine[] {
  if (summary === undefined) return []
  const { costNanoUsd, dateMs, status, text, truncated, usage } = summary
  const model = summaryModel(summaryBy.model, llm.model)
  const costUsd = costNanoUsd === undefined ? null : costNanoUsd / nanoUsd
  const style = styleFor(summaryBy.style, model)
  return [summaryLine({ style, status, truncated, text, model, usage, costUsd, at: dateMs })]
}

/** What a write brings to an agent's own transcript, behind the first line. */
export function writeLines(world: World, { afterSeq, agent, dateMs, rewrite, toSeq }: WriteData): TranscriptLine[] {
  const lines = placedMessages(world, agent, afterSeq, toSeq).map((placed) => messageLine(placed, dateMs))
  if (rewrite !== undefined) lines.push(rewriteLine({ ...rewrite, at: dateMs }))
  return lines
}

/** The first line of an agent's own transcript. */
export function headOf(world: World, { agent, dateMs }: WriteData): TranscriptLine {
  const above = world.get(agent, Ancestry)?.sessions ?? []
  const { model } = world.read(agent, Llm)
  const head = { createdAt: dateMs, model }
  if (above.length === 0) return sessionLine({ key: world.name, ...head })
  const key = above.at(-1)?.sessionId ?? world.name
  // Not known here: the name of the root world, where a session is one of its own.
  const parent = above.at(-2)?.sessionId
  return sessionLine({ key, ...head, ...(parent !== undefined && { parent }), depth: above.length })
}
