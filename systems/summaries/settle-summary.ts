import { Boundary, type BoundaryEntry } from '../../components/boundary.ts'
import { Overflowed } from '../../components/compaction-state.ts'
import type { Failure } from '../../components/failure.ts'
import { Outcome, type OutcomeData } from '../../components/outcome.ts'
import { SideCall, type SideCallPurpose } from '../../components/side-call.ts'
import { Summarizing } from '../../components/step-held.ts'
import { SummaryTask, type SummaryTaskData } from '../../components/summary-task.ts'
import { cutSummary, maxSummaryChars } from '../../src/context/summary-length.ts'
import { missingHeadings } from '../../src/context/missing-headings.ts'
import type { PricedReply } from '../../src/context/priced-reply.ts'
import { textOf } from '../../src/models/text-of.ts'
import { toUsd } from '../../src/context/usd.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { holdStep } from '../hold-step.ts'
import { refusalOf } from '../refusal-of.ts'
import { settled } from '../settled.ts'
import { tell } from '../tell.ts'
import { noteRewrite } from './note-rewrite.ts'

/** What has come of a side call that was to write a boundary. Without a failure it is written. */
export interface SettledSummary {
  readonly agent: Entity
  readonly failure?: Failure
  readonly task: SummaryTaskData
}

/** Side calls of one purpose that are settled. Without any side call this costs nothing. */
export function settledSummaries(world: World, purpose: SideCallPurpose): readonly Entity[] {
  return settled(world, SideCall).filter((effect) => world.read(effect, SideCall).purpose === purpose)
}

/**
 * Takes the outcome of such a call: its text becomes a boundary, and the agent may go on.
 */
export function settleSummary(world: World, effect: Entity): SettledSummary {
  const { agent, maxOutputTokens, toSeq } = world.read(effect, SideCall)
  const task = world.read(effect, SummaryTask)
  const outcome = world.read(effect, Outcome)
  const failure = outcome.ok ? take(world, agent, { maxOutputTokens, outcome, task, toSeq }) : outcome.failure
  world.despawn(effect)
  world.remove(agent, Summarizing)
  holdStep(world, agent)
  return { agent, task, ...(failure !== undefined && { failure }) }
}

interface Taken {
  readonly maxOutputTokens: number
  readonly outcome: Extract<OutcomeData, { readonly ok: true }>
  readonly task: SummaryTaskData
  readonly toSeq: number
}

/** Gives a failure if the reply is none that can be used. */
function take(world: World, agent: Entity, { maxOutputTokens, outcome, task, toSeq }: Taken): Failure | undefined {
  const { costNanoUsd, message, stop, usage } = (outcome.value ?? {}) as Partial<PricedReply>
  if (message?.role !== 'assistant' || typeof usage !== 'object' || usage === null) {
    return malformed('expected an assistant message and its usage')
  }
  const { by, focus, headings, kind, note } = task
  const whole = textOf(message).trim()
  const text = cutSummary(whole, maxSummaryChars(maxOutputTokens))
  if (text === '') return { kind: 'invalid-output', message: `The model wrote no ${kind}.` }
  const entry: BoundaryEntry = {
    atMs: world.nowMs,
    by,
    ...(costNanoUsd !== undefined && { costUsd: toUsd(costNanoUsd) }),
    ...(focus !== undefined && { focus }),
    kind,
    missingHeadings: [...missingHeadings(text, headings)],
    ...(note !== undefined && { note }),
    seq: toSeq,
    text,
    truncated: stop === 'max-tokens' || text !== whole,
    usage,
  }
  const unfit = refusalOf(() => world.append(agent, Boundary, entry))
  if (unfit !== undefined) return malformed(unfit)
  noteWritten(world, agent, entry, costNanoUsd)
  return undefined
}

function noteWritten(world: World, agent: Entity, entry: BoundaryEntry, costNanoUsd: number | undefined): void {
  noteRewrite(world, agent, { kind: entry.kind, costNanoUsd })
  if (world.has(agent, Overflowed)) world.patch(agent, Overflowed, { isRewritten: true })
  const { by, costUsd, kind, missingHeadings: missing, seq, text, truncated, usage } = entry
  const facts = { agent, kind, by, seq, chars: text.length, truncated, missingHeadings: missing, usage }
  tell(world, 'boundary-written', { ...facts, ...(costUsd !== undefined && { costUsd }) })
}

function malformed(problem: string): Failure {
  return { kind: 'internal', message: `The provider's reply is malformed: ${problem}` }
}
