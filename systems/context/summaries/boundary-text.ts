import { Boundary, SummaryTask, type SummaryTaskData } from '../../../components/context/boundary.ts'
import type { BoundaryEntry, SummaryResult, SummarySkipReason } from '../../../src/protocol/context.ts'
import { Busy, Paused, Summarizing, Terminal } from '../../../components/agent/agent-tags.ts'
import { CheckpointPending, Overflowed } from '../../../components/context/compaction-state.ts'
import { Context } from '../../../components/context/context.ts'
import type { Failure } from '../../../src/protocol/failure.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { Outcome } from '../../../components/effects/effect.ts'
import { SideCall } from '../../../components/effects/model-call.ts'
import { SubagentWait } from '../../../components/sessions/subagent-wait.ts'
import { Turn } from '../../../components/agent/turn.ts'
import { Unread } from '../../../components/agent/conversation.ts'
import { enforcedModel } from '../../../src/rules/policy/routing.ts'
import { earlierHead, framed } from '../../../src/rules/text/frames.ts'
import { missingHeadings, type SummaryPrompt, type SummaryView } from '../../../src/rules/context/summary-prompt.ts'
import { uncoveredPart } from '../../../src/rules/projection/boundaries.ts'
import { toUsd } from '../../../src/rules/money/usd.ts'
import { noteRefused } from '../../../src/rules/delegation/refused-requests.ts'
import type { Component, Entity } from '../../../src/world/component.ts'
import { not } from '../../../src/world/entities.ts'
import type { World } from '../../../src/world/world.ts'
import { emit, isStepHeld, latchOf, refusalOf, settled } from '../../kit.ts'
import { endCall } from '../../money/charge-call.ts'
import { openTurn } from '../../agent/open-turn.ts'
import { noteRewrite } from './note-rewrite.ts'
import { askForText, cutSummary, malformedReply, maxSummaryChars, sideCallProblem, writtenText } from './side-calls.ts'

/** A requested text that replaces the part behind the newest boundary. */
export type Wish = Pick<SummaryTaskData, 'by' | 'focus' | 'note' | 'requests'>

/** A skip reason or failure means that nothing was started. */
export type Start = 'started' | SummarySkipReason | Failure

/** How compaction and checkpoints differ. */
export interface TextPolicy {
  readonly kind: BoundaryEntry['kind']
  readonly prompt: (view: SummaryView) => SummaryPrompt
  /** Components of agents for which programs wait. */
  readonly asked: readonly [Component, ...Component[]]
  /** The message of a refused request. */
  readonly refusal: (agent: Entity, reason: string) => string
  /** Why the agent's configuration forbids it. */
  readonly whyNot: (world: World, agent: Entity) => string | undefined
  /** The request of programs. */
  readonly wish: (world: World, agent: Entity) => Wish
  /** Why the requested text is not needed. */
  readonly skip?: (world: World, agent: Entity) => SummarySkipReason | undefined
  /** Called once the text was started, skipped or failed: clears the request. */
  readonly begun: (world: World, agent: Entity, wish: Wish, start: Start) => void
  /** Called once the text was written, or failed. */
  readonly ended: (world: World, agent: Entity, task: SummaryTaskData, failure: Failure | undefined) => void
}

/** The purpose of a policy's side calls. */
const purposes = { checkpoint: 'checkpoint', summary: 'compaction' } as const

const switchedOff: Failure = {
  kind: 'cancelled',
  message: 'The Context of the agent was taken away, or this was switched off in it.',
}

/** Refuses a program's request that can never succeed. Returns whether it did. */
export function refuseRequest(
  world: World,
  { refusal, whyNot }: TextPolicy,
  { agent, request }: { readonly agent: Entity; readonly request: string },
): boolean {
  const isEnded = world.has(agent, Terminal) ? 'it has ended' : undefined
  const reason = world.has(agent, Llm) ? (isEnded ?? whyNot(world, agent)) : 'there is no such agent'
  if (reason !== undefined) noteRefused(world, request, { code: 'invalid-argument', reason: refusal(agent, reason) })
  return reason !== undefined
}

/** Starts the texts that programs asked for, once their agents are at a quiet point. */
export function writeAsAsked(world: World, policy: TextPolicy): void {
  const { asked, skip, whyNot, wish } = policy
  for (const agent of world.query(...asked, not(Busy))) {
    const failure = latchOf(world, agent)?.failure ?? (whyNot(world, agent) === undefined ? undefined : switchedOff)
    // Another text is being written, or prices are being fetched.
    if (failure === undefined && isStepHeld(world, agent)) continue
    write(world, agent, policy, wish(world, agent), failure ?? skip?.(world, agent))
  }
}

/**
 * Asks the model of an agent at a quiet point for a text; the agent's next step waits for it. Programs that wait are
 * answered if it is not started.
 * @param prevented why it must not start
 */
export function write(world: World, agent: Entity, policy: TextPolicy, wish: Wish, prevented?: Start): Start {
  const start = prevented ?? begin(world, agent, policy, wish)
  policy.begun(world, agent, wish, start)
  if (start === 'started') return start
  const isSkipped = typeof start === 'string'
  answer(world, agent, wish.requests, isSkipped ? { skipped: true, reason: start } : { skipped: false, failure: start })
  return start
}

function begin(world: World, agent: Entity, { kind, prompt }: TextPolicy, wish: Wish): Start {
  const part = uncoveredPart(world, agent)
  if (part === undefined) return 'empty'
  const model = enforcedModel(world, agent) ?? world.read(agent, Llm).model
  const problem = sideCallProblem(world, agent, model)
  if (problem !== undefined) return problem
  // If a turn comes next it is opened here, so that the text belongs to it.
  const isStopped = [Turn, Paused, SubagentWait, Terminal].some((token) => world.has(agent, token))
  if (world.has(agent, Unread) && !isStopped) openTurn(world, agent, 0)
  const { by, focus, note, requests } = wish
  const { carried, count, fromSeq, toSeq } = part
  const isChained = carried !== undefined
  const { ask, close, headings = [], system } = prompt({ by, focus, isChained, messages: count, model, note })
  const { maxOutputTokens, timeoutMs } = world.read(agent, Context).compaction
  const effect = askForText(
    world,
    {
      agent,
      ask,
      ...(isChained && { carried: `${earlierHead}\n${framed(carried, 'transcript')}` }),
      close,
      fromSeq,
      maxOutputTokens,
      model,
      purpose: purposes[kind],
      system,
      toSeq,
    },
    { deadlineMs: world.nowMs + timeoutMs },
    SummaryTask({ by, focus, headings, kind, note, requests }),
  )
  world.add(agent, Summarizing)
  emit(world, 'summary-started', { agent, effect, kind, by })
  return 'started'
}

/** Takes a policy's texts that models have written: each becomes a boundary, and its agent goes on. */
export function takeWritten(world: World, { ended, kind }: TextPolicy): void {
  for (const effect of settled(world, SideCall)) {
    const { agent, purpose } = world.read(effect, SideCall)
    if (purpose !== purposes[kind]) continue
    const task = world.read(effect, SummaryTask)
    const failure = writeBoundary(world, effect, task)
    letGoOn(world, agent, effect)
    ended(world, agent, task, failure)
    const boundary = world.get(agent, Boundary)?.at(-1)
    if (failure !== undefined) answer(world, agent, task.requests, { skipped: false, failure })
    else if (boundary !== undefined) answer(world, agent, task.requests, { skipped: false, boundary })
  }
}

function letGoOn(world: World, agent: Entity, effect: Entity): void {
  endCall(world, effect)
  world.remove(agent, Summarizing)
}

/** Returns a failure if the reply cannot be used. */
function writeBoundary(world: World, effect: Entity, task: SummaryTaskData): Failure | undefined {
  const { agent, maxOutputTokens, toSeq } = world.read(effect, SideCall)
  const written = writtenText(world.read(effect, Outcome))
  if ('kind' in written) return written
  const { costNanoUsd, isStopped, text: whole, usage } = written
  const { by, focus, headings, kind, note } = task
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
    truncated: isStopped || text !== whole,
    usage,
  }
  const unfit = refusalOf(() => world.append(agent, Boundary, entry))
  if (unfit !== undefined) return malformedReply(unfit)
  noteRewrite(world, agent, { kind, costNanoUsd })
  if (world.has(agent, Overflowed)) world.patch(agent, Overflowed, { isRewritten: true })
  const { costUsd, missingHeadings: missing, seq, truncated } = entry
  const facts = { agent, kind, by, seq, chars: text.length, truncated, missingHeadings: missing, usage }
  emit(world, 'boundary-written', { ...facts, ...(costUsd !== undefined && { costUsd }) })
  return undefined
}

/** The running call that an agent's next step waits for. At most one. */
export function summaryUnderWay(world: World, agent: Entity): Entity | undefined {
  if (!world.has(agent, Summarizing)) return undefined
  return world.referrers(SideCall, agent).find((effect) => world.has(effect, SummaryTask))
}

/**
 * A user's cancel is no failure: the reason for the text still holds. Only programs' requests end, and are answered.
 */
export function cancelSummary(world: World, agent: Entity, message: string): void {
  const effect = summaryUnderWay(world, agent)
  if (effect === undefined) return
  const { by, kind, note, requests } = world.read(effect, SummaryTask)
  letGoOn(world, agent, effect)
  if (kind === 'checkpoint' && by === 'model' && !world.has(agent, CheckpointPending)) {
    world.set(agent, CheckpointPending, { by, note, requests: [] })
  }
  answer(world, agent, requests, { skipped: false, failure: { kind: 'cancelled', message } })
}

function answer(world: World, agent: Entity, requests: readonly string[], result: SummaryResult): void {
  if (requests.length > 0) emit(world, 'summary-answered', { agent, requests, result })
}
