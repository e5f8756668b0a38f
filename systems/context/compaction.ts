import { Unread } from '../../components/agent/conversation.ts'
import { LastCall, Rewrite } from '../../components/context/last-call.ts'
import { Outcome } from '../../components/effects/effect.ts'
import {
  CompactionAsked,
  CompactionPending,
  CompactionState,
  Overflowed,
  Unweighed,
} from '../../components/context/compaction-state.ts'
import { Context } from '../../components/context/context.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import { LastTurn, Turn } from '../../components/agent/turn.ts'
import { Prefix } from '../../components/agent/prefix.ts'
import { SideCall } from '../../components/effects/model-call.ts'
import type { SummarySkipReason } from '../../src/protocol/context.ts'
import type { SummaryTaskData } from '../../components/context/boundary.ts'
import {
  type CompactionView,
  compactionView,
  type Compactor,
  hasCompactor,
  lastCallOf,
  losesMore,
} from '../../src/rules/context/compactor.ts'
import type { Failure } from '../../src/protocol/failure.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, inputsOf, readyAgents } from '../kit.ts'
import { refuseRequest, takeWritten, type TextPolicy, write, writeAsAsked } from './summaries/boundary-text.ts'
import { emitRewrites } from './summaries/note-rewrite.ts'
import { Busy, LastStep } from '../../components/agent/agent-tags.ts'
import { Llm } from '../../components/agent/llm.ts'
import { endTurn } from '../agent/end-turn.ts'

export interface CompactionOptions {
  readonly compactor: Compactor
  readonly maxStartsPerTick: number
}

/**
 * Keeps conversations within the context window: replaces the earlier part by a handover that the model writes, when
 * the window is full or a program asks.
 * Writes: Boundary, CompactionPending, CompactionState, Summarizing, and what a rewrite changes. Starts: model.
 */
export function compaction({ compactor, maxStartsPerTick }: CompactionOptions) {
  const policy = compactionPolicy(compactor)
  return {
    name: 'compaction',
    priority: -2.6,
    wakes: [
      'compact',
      [Context, Unread],
      [SideCall, Outcome],
      CompactionAsked,
      Unweighed,
      [Rewrite, LastCall],
      [CompactionState, LastCall],
    ],
    run(world: World): void {
      for (const input of inputsOf(world, 'compact')) if (!refuseRequest(world, policy, input)) noteAsked(world, input)
      takeWritten(world, policy)
      emitRewrites(world)
      judgeCompactions(world, compactor)
      for (const agent of world.query(Unweighed)) weighTurn(world, agent, compactor)
      writeAsAsked(world, policy)
      for (const agent of readyAgents(world, maxStartsPerTick, Context)) compactIfDue(world, agent, compactor, policy)
    },
  }
}

function compactionPolicy(compactor: Compactor): TextPolicy {
  return {
    kind: 'summary',
    prompt: compactor.prompt,
    asked: [CompactionAsked],
    refusal: (agent, reason) => `compact: agent ${agent} cannot be compacted: ${reason}.`,
    whyNot: (world, agent) => (hasCompactor(world, agent) ? undefined : 'it has no Context'),
    wish: (world, agent) => ({ by: 'manual', ...world.read(agent, CompactionAsked) }),
    skip: (world, agent) => whyNotNeeded(world, agent, compactor),
    begun: (world, agent, { by }) => void (by === 'manual' && world.remove(agent, CompactionAsked)),
    ended: noteEnd,
  }
}

/** Joins a request to those that have not started. The newest focus counts. */
function noteAsked(world: World, { agent, focus, ifNeeded, request }: InputOf<'compact'>): void {
  const before = world.get(agent, CompactionAsked)
  const isNeeded = ifNeeded !== true || (before !== undefined && before.ifNeeded !== true)
  world.set(agent, CompactionAsked, {
    focus: focus ?? before?.focus,
    ...(!isNeeded && { ifNeeded: true }),
    requests: [...(before?.requests ?? []), request],
  })
}

function whyNotNeeded(world: World, agent: Entity, compactor: Compactor): SummarySkipReason | undefined {
  if (world.read(agent, CompactionAsked).ifNeeded !== true) return undefined
  const view = compactionView(world, agent, 'asked')
  if (view === undefined) return 'no-own-call'
  if (compactor.should(view)) return undefined
  if (view.contextWindow === undefined) return 'unknown-window'
  return view.promptTokens === undefined ? 'unknown-usage' : 'below-threshold'
}

/** Compacts before the agent's next step, if that is due without a request. */
function compactIfDue(world: World, agent: Entity, compactor: Compactor, policy: TextPolicy): void {
  const start = () => write(world, agent, policy, { by: 'auto', requests: [] })
  const overflowed = world.get(agent, Overflowed)
  if (overflowed !== undefined) {
    if (overflowed.isRewritten !== true && start() === 'empty') endOverflowed(world, agent, overflowed.failure)
    return
  }
  if (world.has(agent, CompactionPending)) {
    const isAutomatic = world.get(agent, Context)?.compaction.enabled === true && world.has(agent, LastCall)
    const isDue = isAutomatic && !isWaiting(world, agent) && !losesCache(world, agent)
    // If not now, it is weighed again after the turn.
    if (!isDue || start() === 'empty') world.remove(agent, CompactionPending)
    return
  }
  if (!world.has(agent, Turn) || isWaiting(world, agent)) return
  if (isDueAt(world, agent, compactor, 'mid-turn')) start()
}

/** Is an automatic compaction due? Never if the window's fullness is unknown. */
function isDueAt(world: World, agent: Entity, compactor: Compactor, moment: CompactionView['moment']): boolean {
  const context = world.get(agent, Context)
  if (context?.compaction.enabled !== true) return false
  // Defined only if there was an own call since the last rewrite: older numbers say nothing.
  const view = compactionView(world, agent, moment, context)
  return view?.fullness !== undefined && compactor.should(view)
}

function losesCache(world: World, agent: Entity): boolean {
  const { cacheAware, maxOutputTokens } = world.read(agent, Context).compaction
  const { cachePrice, promptTokens } = lastCallOf(world, agent) ?? {}
  if (!cacheAware || promptTokens === undefined) return false
  return losesMore({
    cachePrice,
    cachedTokens: world.get(agent, Prefix)?.cached,
    leftTokens: maxOutputTokens,
    promptTokens,
    steps: world.get(agent, LastTurn)?.steps ?? 0,
  })
}

/** Decides after a turn whether to compact before the next one. */
function weighTurn(world: World, agent: Entity, compactor: Compactor): void {
  world.remove(agent, Unweighed)
  const turnsToWait = world.get(agent, CompactionState)?.turnsToWait ?? 0
  if (turnsToWait > 0) world.patch(agent, CompactionState, { turnsToWait: turnsToWait - 1 })
  if (isDueAt(world, agent, compactor, 'turn-end')) world.add(agent, CompactionPending)
  else world.remove(agent, CompactionPending)
}

/** Longest back-off between two automatic compactions, in turns. */
const maxTurnsToWait = 32

function isWaiting(world: World, agent: Entity): boolean {
  return (world.get(agent, CompactionState)?.turnsToWait ?? 0) > 0
}

function noteEnd(world: World, agent: Entity, { by }: SummaryTaskData, failure: Failure | undefined): void {
  const isManual = by === 'manual'
  const { failures: before = 0 } = world.get(agent, CompactionState) ?? {}
  if (failure === undefined) {
    // An automatic one was worth it if the next own call is short enough.
    if (isManual) world.remove(agent, CompactionState)
    else world.set(agent, CompactionState, { failures: before, isOnTrial: true, turnsToWait: 0 })
    return
  }
  const failures = isManual ? before : noteFailure(world, agent)
  emit(world, 'compaction-failed', { agent, by, failure, failures })
  if (isManual) return
  world.remove(agent, CompactionPending)
  const overflowed = world.get(agent, Overflowed)
  if (overflowed !== undefined) endOverflowed(world, agent, overflowed.failure)
}

/** Doubles the back-off after a failed automatic compaction. Returns the number of failures. */
function noteFailure(world: World, agent: Entity): number {
  const failures = (world.get(agent, CompactionState)?.failures ?? 0) + 1
  const doubled = 2 ** (failures < 31 ? failures : 31)
  world.set(agent, CompactionState, { failures, turnsToWait: doubled < maxTurnsToWait ? doubled : maxTurnsToWait })
  return failures
}

/**
 * The first own call after a compaction shows whether it helped. That call arrived in this tick: the turn is open or
 * has just ended. Idle agents are not looked at, however many are on trial.
 */
function judgeCompactions(world: World, compactor: Compactor): void {
  const moving = [...world.query(CompactionState, Turn), ...world.query(CompactionState, Unweighed)]
  for (const agent of moving.toSorted((a, b) => a - b)) {
    const isOnTrial = world.get(agent, CompactionState)?.isOnTrial === true
    if (isOnTrial && world.has(agent, LastCall)) judge(world, agent, compactor)
  }
}

function judge(world: World, agent: Entity, compactor: Compactor): void {
  const view = compactionView(world, agent, 'next-call')
  if (view?.fullness === undefined || !compactor.should(view)) return world.remove(agent, CompactionState)
  const { fullness, threshold } = view
  const failures = noteFailure(world, agent)
  emit(world, 'compaction-ineffective', { agent, fullness, threshold: threshold.value, failures })
}

/** A failed call, and the size of its model's window if the provider says it. */
interface Overflow {
  readonly contextWindow?: number | undefined
  readonly failure: Failure
}

/**
 * Handles a step that exceeded the model's context window. If the window is known and compaction is on, the step is
 * taken back and retried after a compaction; otherwise the turn ends.
 * @param call the step's failed model call
 */
export function takeOverflow(world: World, agent: Entity, call: Entity, { contextWindow, failure }: Overflow): void {
  const lastWindow = world.get(agent, LastCall)?.contextWindow ?? world.get(agent, Rewrite)?.contextWindow
  const isWindowKnown = (contextWindow ?? lastWindow) !== undefined
  const isTriedAgain = world.has(agent, Overflowed)
  if (isTriedAgain || !isWindowKnown || world.get(agent, Context)?.compaction.enabled !== true) {
    return endOverflowed(world, agent, failure)
  }
  world.despawn(call)
  world.remove(agent, Busy)
  world.remove(agent, LastStep)
  world.patch(agent, Turn, { steps: world.read(agent, Turn).steps - 1 })
  world.add(agent, Unread)
  world.add(agent, Overflowed({ failure }))
}

/** Ends the turn of an agent whose conversation is too long and cannot be compacted. */
function endOverflowed(world: World, agent: Entity, failure: Failure): void {
  const turn = world.get(agent, Turn)
  // A step that was taken back and not retried counts after all.
  const isTakenBack = world.get(agent, Overflowed)?.isRewritten !== true && world.has(agent, Overflowed)
  if (turn !== undefined && isTakenBack) world.patch(agent, Turn, { steps: turn.steps + 1 })
  const { model } = world.read(agent, Llm)
  const what = `The conversation does not fit into the context window of ${model}.`
  const message = `${what} /compact takes a summary in place of what was said so far.`
  emit(world, 'turn-error', { agent, kind: 'context-overflow', retryable: false, message, failure })
  endTurn(world, agent, { stop: 'failed', failure })
}
