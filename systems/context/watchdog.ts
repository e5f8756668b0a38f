import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { Busy } from '../../components/agent/agent-tags.ts'
import { Context } from '../../components/context/context.ts'
import { OwnedBy } from '../../components/effects/effect.ts'
import { Requested, ToolCall } from '../../components/agent/tool-call.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { Turn } from '../../components/agent/turn.ts'
import { Cautioned, WatchdogLatch, WatchdogState } from '../../components/agent/watchdog-state.ts'
import {
  type CallRun,
  noRun,
  type ObservedCall,
  repeatedAlert,
  repeatedToolCall,
  type WatchdogAlert,
  type WatchdogSignal,
} from '../../src/rules/context/watchdog-signal.ts'
import type { DeepReadonly, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import type { z } from 'zod'
import { endTurn } from '../agent/end-turn.ts'
import { emit, inputsOf, readyAgents, soonRequested } from '../kit.ts'
import { collectResults, textOutcome } from '../agent/tool-results.ts'
import { isNotable, rememberedRun, runWith } from './call-runs.ts'
import { thrownMessage } from '../../src/base/thrown-message.ts'
import { canonicalOrNone } from '../../src/world/canonical.ts'
import type { Json } from '../../src/base/json.ts'

export interface WatchdogOptions {
  readonly maxStartsPerTick: number
  /** Signals besides the built-in one; one named `repeated-tool-call` replaces it. */
  readonly signals: readonly WatchdogSignal[]
}

type State = DeepReadonly<z.infer<(typeof WatchdogState)['schema']>>
type Noticed = Seen['alerts'][number]

/** Most pending notes; the oldest is dropped. */
const maxNotes = 4
const waitingTools: ReadonlySet<string> = new Set(['subagent_result', 'subagent_status', 'subagent_wait'])
const unwatched: State = { alerts: 0, notes: [], seen: 0, signals: {} }
const nothingSeen: Seen = { states: {}, alerts: [], problems: [] }

/**
 * Checks each tool call before it runs for patterns of an agent that goes in circles. Emits alerts and, as the agent is
 * configured, warns the model or ends the turn.
 * Writes: WatchdogState, WatchdogLatch, Cautioned, Outcome, Conversation, and what ending a turn writes.
 */
export function watchdog({ maxStartsPerTick, signals }: WatchdogOptions) {
  return {
    name: 'watchdog',
    priority: -1,
    wakes: ['watchdog-reset', [Context, Requested], [WatchdogState, Requested], WatchdogLatch, [Cautioned, Unread]],
    run(world: World): void {
      for (const { agent } of inputsOf(world, 'watchdog-reset')) reset(world, agent)
      // Covers all calls that tool execution decides about in this tick, even if some are refused here.
      const calls = notableCalls(world, maxStartsPerTick, signals)
      if (calls !== undefined) for (const [agent, own] of calls) watch(world, agent, own, signals)
      for (const agent of world.query(WatchdogLatch, Turn)) if (!world.has(agent, Busy)) stop(world, agent)
      for (const agent of readyAgents(world, maxStartsPerTick, Cautioned)) caution(world, agent)
    },
  }
}

/**
 * Undecided calls of watched agents, in call order, without those that need no record, as most do. `undefined`: none.
 */
function notableCalls(
  world: World,
  count: number,
  further: readonly WatchdogSignal[],
): ReadonlyMap<Entity, Entity[]> | undefined {
  let byAgent: Map<Entity, Entity[]> | undefined
  for (const call of soonRequested(world, count)) {
    const { agent } = world.read(call, OwnedBy)
    const mode = world.get(agent, Context)?.watchdog.mode ?? 'off'
    const state = world.get(agent, WatchdogState)
    if (mode === 'off') {
      if (state !== undefined) endRun(world, agent, state)
      continue
    }
    if (state !== undefined && call <= state.seen) continue
    const calls = byAgent?.get(agent)
    if (calls !== undefined) calls.push(call)
    else if (further.length > 0 || isNotable(world, agent, call, state)) (byAgent ??= new Map()).set(agent, [call])
  }
  return byAgent
}

/** An unwatched call ends a run and begins none. */
function endRun(world: World, agent: Entity, state: State): void {
  if (rememberedRun(state.signals)?.run === noRun.run) return
  world.set(agent, WatchdogState, { ...state, signals: { ...state.signals, [repeatedToolCall]: noRun } })
}

/** Writes nothing for an agent whose calls differ: the conversation has the call before each. */
function watch(world: World, agent: Entity, calls: readonly Entity[], further: readonly WatchdogSignal[]): void {
  const known = world.get(agent, WatchdogState)
  const before = known ?? unwatched
  const remembered = rememberedRun(before.signals)
  const isReplaced = further.some(({ name }) => name === repeatedToolCall)
  const noticed: Noticed[] = []
  let run = remembered
  let states: State['signals'] = before.signals
  let last: Entity | undefined
  for (const [index, call] of calls.entries()) {
    run = isReplaced ? undefined : runWith(world, agent, call, { before: run, last })
    const own = repeated(world, agent, call, run)
    const seen = further.length === 0 ? nothingSeen : seenBy(further, states, world.read(call, ToolCall))
    for (const problem of seen.problems) emit(world, 'warning', { agent, message: problem })
    const alerts = own === undefined ? seen.alerts : [own, ...seen.alerts]
    for (const alert of alerts) alarm(world, agent, call, alert)
    noticed.push(...alerts)
    states = seen.states
    last = call
    if (!world.has(agent, WatchdogLatch)) continue
    refuse(world, agent, calls.slice(index))
    break
  }
  const isAsBefore = run === remembered && noticed.length === 0 && further.length === 0
  if (known !== undefined && isAsBefore) return
  const signals = run === undefined ? states : { ...states, [repeatedToolCall]: run }
  remember(world, agent, noticed, { ...before, seen: calls.at(-1) ?? before.seen, signals })
}

/** The built-in alert, if a call completes a run. */
function repeated(world: World, agent: Entity, call: Entity, run: CallRun | undefined): Noticed | undefined {
  const { threshold } = world.read(agent, Context).watchdog
  if (run?.run !== threshold || mayRepeat(world, agent, call)) return undefined
  return { alert: repeatedAlert(world.read(call, ToolCall).name, threshold), signal: repeatedToolCall }
}

/** The built-in tools that wait for or list sessions, and tools that declare it. */
function mayRepeat(world: World, agent: Entity, call: Entity): boolean {
  const { name } = world.read(call, ToolCall)
  const declaration = world.get(agent, ToolRegistry)?.tools.find((tool) => tool.name === name)
  return declaration?.repeatable ?? (declaration?.world === true && waitingTools.has(name))
}

function remember(world: World, agent: Entity, noticed: readonly Noticed[], state: State): void {
  const isNoted = world.read(agent, Context).watchdog.mode !== 'warn'
  const added = isNoted ? noticed.map(({ alert }) => `[watchdog] ${alert.message}`) : []
  const notes = [...state.notes, ...added].slice(-maxNotes)
  world.set(agent, WatchdogState, { ...state, alerts: state.alerts + noticed.length, notes })
  if (notes.length > 0) world.add(agent, Cautioned)
}

/** Emits an alert, and latches the agent if it is critical and enforced. */
function alarm(world: World, agent: Entity, call: Entity, { alert, signal }: Noticed): void {
  const { callId, name: tool } = world.read(call, ToolCall)
  emit(world, 'watchdog-alerted', { agent, callId, signal, tool, ...alert })
  const isEnforced = world.read(agent, Context).watchdog.mode === 'enforce' && alert.severity === 'critical'
  if (!isEnforced || world.has(agent, WatchdogLatch)) return
  world.add(agent, WatchdogLatch({ atMs: world.nowMs, message: alert.message, signal }))
}

function refuse(world: World, agent: Entity, calls: readonly Entity[]): void {
  for (const call of calls) {
    world.remove(call, Requested)
    world.add(call, textOutcome('[not run: stopped by the watchdog]', true))
  }
  collectResults(world, agent)
}

/** The calls before the one that tripped have run by now. */
function stop(world: World, agent: Entity): void {
  const { message } = world.read(agent, WatchdogLatch)
  const failure = { kind: 'watchdog' as const, message }
  emit(world, 'turn-error', { agent, kind: 'watchdog', retryable: false, message, failure })
  endTurn(world, agent, { stop: 'failed', failure })
}

function caution(world: World, agent: Entity): void {
  const { notes } = world.read(agent, WatchdogState)
  for (const text of notes) world.append(agent, Conversation, { role: 'user', content: [{ type: 'text', text }] })
  world.patch(agent, WatchdogState, { notes: [] })
  world.remove(agent, Cautioned)
}

/** Runs are counted anew; pending notes are kept. */
function reset(world: World, agent: Entity): void {
  if (world.has(agent, Context) || world.has(agent, WatchdogState)) {
    const state = world.get(agent, WatchdogState) ?? unwatched
    world.set(agent, WatchdogState, { ...state, signals: { [repeatedToolCall]: noRun } })
  }
  world.remove(agent, WatchdogLatch)
}

/** What signals made of one call. */
interface Seen {
  readonly states: Readonly<Record<string, Json>>
  readonly alerts: readonly { readonly signal: string; readonly alert: WatchdogAlert }[]
  /** Signals that threw or returned an invalid answer keep their state. */
  readonly problems: readonly string[]
}

/** Shows a call to all signals. A failing one is reported and affects no other. */
function seenBy(signals: readonly WatchdogSignal[], before: Readonly<Record<string, Json>>, call: ObservedCall): Seen {
  const states: Record<string, Json> = {}
  const alerts: { signal: string; alert: WatchdogAlert }[] = []
  const problems: string[] = []
  for (const signal of signals) {
    const { name } = signal
    const key = keyOf(name)
    const last = before[key] ?? signal.initial
    const answer = answerOf(() => signal.observe(last, call))
    states[key] = 'problem' in answer ? last : answer.state
    if ('problem' in answer) problems.push(`The watchdog signal '${name}' is passed over: ${answer.problem}`)
    else if (answer.alert !== undefined) alerts.push({ signal: name, alert: answer.alert })
  }
  return { states, alerts, problems }
}

/** A replacement of the built-in signal has a key of its own, since its state has another shape. */
function keyOf(name: string): string {
  return name === repeatedToolCall ? `${name} (replaced)` : name
}

type Answer = ReturnType<WatchdogSignal['observe']>

/** Signals are user code, often plain JavaScript: their answers are checked. */
function answerOf(observe: () => Answer): Answer | { readonly problem: string } {
  let answer: Answer
  try {
    answer = observe()
  } catch (error) {
    return { problem: thrownMessage(error) }
  }
  const state = typeof answer === 'object' && answer !== null ? canonicalOrNone(answer.state) : undefined
  if (state === undefined) return { problem: 'it has to give { state, alert? }, and the state is JSON.' }
  const { alert } = answer
  if (alert === undefined) return { state }
  const isAlert = typeof alert.message === 'string' && ['warning', 'critical'].includes(alert.severity)
  return isAlert ? { state, alert } : { problem: 'an alert is { severity: warning | critical, message }.' }
}
