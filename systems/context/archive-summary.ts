import { ArchiveJob, type ArchiveJobData, SummaryOf, type TurnSummary } from '../../components/context/archive.ts'
import { Outcome } from '../../components/effects/effect.ts'
import { SideCall } from '../../components/effects/model-call.ts'
import { TokenUsage } from '../../src/protocol/usage.ts'
import {
  emptyReply,
  noSummary,
  ollamaWarning,
  parseSummary,
  repairText,
  styleFor,
  summaryAsk,
  summaryModel,
  summaryPrompt,
  unparsed,
} from '../../src/rules/context/archival-summary.ts'
import { enforcedModel } from '../../src/rules/policy/routing.ts'
import { transcriptOf } from '../../src/rules/projection/project.ts'
import { added, withAdded } from '../../src/rules/tokens/token-counts.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { beginEffect, clearEffect, emit } from '../kit.ts'
import { endCall } from '../money/charge-call.ts'
import {
  askForText,
  cutSummary,
  maxSummaryChars,
  sideCallProblem,
  type Written,
  writtenText,
} from './summaries/side-calls.ts'

/** Timeout of one try of a summary call, in ms. The job has a deadline for all of them. */
const tryTimeoutMs = 600_000

/** The five keys of a structured summary need this many characters, however short the turn was. */
const leastSummaryChars = 400

const nothingWritten: Written = { isStopped: false, text: '', usage: {} }

type Repair = { readonly problem: string; readonly reply: string }

/** Asks for the summary of a turn whose holder is durable; returns the summary if no call can be made. */
export function askForSummary(world: World, job: Entity): TurnSummary | undefined {
  const { agent, summaryBy } = world.read(job, ArchiveJob)
  const model = modelFor(world, job)
  if (sideCallProblem(world, agent, model) !== undefined) return unavailable(world, job)
  if (styleFor(summaryBy.style, model) !== summaryBy.style) emit(world, 'warning', { agent, message: ollamaWarning })
  beginEffect(world, job, { deadlineMs: world.nowMs + summaryBy.timeoutMs, kind: 'timer', restart: 'pure' })
  call(world, job)
  return undefined
}

/** Takes a model's reply; returns the summary, or `undefined` if the model is asked to repair it. */
export function takeReply(world: World, effect: Entity, job: Entity): TurnSummary | undefined {
  const outcome = world.read(effect, Outcome)
  const { repair } = world.read(effect, SideCall)
  const isLast = repair !== undefined
  if (!outcome.ok) return withoutReply(world, job)
  const written = writtenText(outcome)
  const { costNanoUsd, isStopped, text: whole, usage } = 'kind' in written ? nothingWritten : written
  note(world, job, parsedAs(TokenUsage(), usage) ?? {}, costNanoUsd)
  const maxChars = mostChars(world, effect, job)
  const parsed = parseSummary(styleOf(world, job), whole, maxChars)
  if ('text' in parsed) {
    const text = cutSummary(parsed.text, maxChars)
    return summary(world, job, {
      status: isLast ? 'repaired' : 'ok',
      text,
      truncated: isStopped || text !== parsed.text,
    })
  }
  const reply = cutSummary(whole, maxChars - unparsed('').length)
  if (reply !== '') world.patch(job, ArchiveJob, { reply, replyTruncated: isStopped || reply !== whole })
  const mayRepair = !isLast && styleOf(world, job) === 'structured' && mayGoOn(world, job)
  if (!mayRepair) return withoutReply(world, job)
  call(world, job, { problem: repairText(parsed.problem), reply: reply === '' ? emptyReply : reply })
  return undefined
}

/** Longest summary, in characters: no longer than the turn. */
function mostChars(world: World, effect: Entity, job: Entity): number {
  const most = maxSummaryChars(world.read(job, ArchiveJob).summaryBy.maxOutputTokens)
  return Math.min(most, Math.max(leastSummaryChars, transcriptOf(world, effect).length))
}

/** The summary if no further reply comes: the last reply with a text, if there was one. */
export function withoutReply(world: World, job: Entity): TurnSummary {
  const { reply, replyTruncated: truncated = false } = world.read(job, ArchiveJob)
  if (reply === undefined) return unavailable(world, job)
  return summary(world, job, { status: 'unparsed', text: unparsed(reply), truncated })
}

/** Ends all calls for a summary. Late replies are dropped. */
export function endSummary(world: World, job: Entity): void {
  for (const effect of world.referrers(SummaryOf, job)) endCall(world, effect)
  clearEffect(world, job)
}

function styleOf(world: World, job: Entity): ArchiveJobData['summaryBy']['style'] {
  return styleFor(world.read(job, ArchiveJob).summaryBy.style, modelFor(world, job))
}

function unavailable(world: World, job: Entity): TurnSummary {
  return summary(world, job, { status: 'unavailable', text: noSummary, truncated: false })
}

function summary(world: World, job: Entity, facts: Pick<TurnSummary, 'status' | 'text' | 'truncated'>): TurnSummary {
  const { spent } = world.read(job, ArchiveJob)
  return { ...facts, ...spent, dateMs: world.dateMs, usage: spent?.usage ?? {} }
}

/** No repair after the deadline, or if the agent may spend no more. */
function mayGoOn(world: World, job: Entity): boolean {
  const { agent } = world.read(job, ArchiveJob)
  return !world.has(job, Outcome) && sideCallProblem(world, agent, modelFor(world, job)) === undefined
}

function modelFor(world: World, job: Entity): string {
  const { agent, llm, summaryBy } = world.read(job, ArchiveJob)
  return enforcedModel(world, agent) ?? summaryModel(summaryBy.model, llm.model)
}

function call(world: World, job: Entity, repair?: Repair): void {
  const { agent, fromSeq, summaryBy, toSeq } = world.read(job, ArchiveJob)
  const model = modelFor(world, job)
  askForText(
    world,
    {
      agent,
      ask: summaryAsk,
      fromSeq: fromSeq - 1,
      maxOutputTokens: summaryBy.maxOutputTokens,
      model,
      purpose: 'archival-summary',
      ...(repair !== undefined && { repair }),
      system: summaryPrompt(styleFor(summaryBy.style, model)),
      toSeq,
    },
    { timeoutMs: tryTimeoutMs },
    SummaryOf({ job }),
  )
}

/** The transcript records the usage of summary calls. */
function note(world: World, job: Entity, usage: TokenUsage, costNanoUsd: number | undefined): void {
  const { spent } = world.read(job, ArchiveJob)
  const total = added(spent?.costNanoUsd, costNanoUsd)
  const { cacheRead, cacheWrite, input, output } = usage
  const tokens = withAdded<TokenUsage>(spent?.usage ?? {}, { cacheRead, cacheWrite, input, output })
  world.patch(job, ArchiveJob, { spent: { ...(total !== undefined && { costNanoUsd: total }), usage: tokens } })
}
