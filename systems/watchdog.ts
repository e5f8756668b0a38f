import { Busy } from '../components/busy.ts'
import { Context } from '../components/context.ts'
import { Conversation } from '../components/conversation.ts'
import { Outcome } from '../components/outcome.ts'
import { OwnedBy } from '../components/owned-by.ts'
import { Requested, ToolCall } from '../components/tool-call.ts'
import { Turn } from '../components/turn.ts'
import { Cautioned, WatchdogLatch, WatchdogState } from '../components/watchdog-state.ts'
import { repeatedToolCall, type WatchdogSignal } from '../src/context/watchdog-signal.ts'
import type { DeepReadonly, Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import type { z } from 'zod'
import { anybodyHas } from './anybody-has.ts'
import { endTurn } from './end-turn.ts'
import { holdStep } from './hold-step.ts'
import { inputsOf } from './inputs-of.ts'
import { readyAgents } from './ready-agents.ts'
import { tell } from './tell.ts'
import { collectResults } from './tool-results.ts'
import { type Seen, seenBy } from './watchdog/seen-by.ts'

export interface WatchdogOptions {
  readonly maxStartsPerTick: number
  /** Signals besides the built-in one. */
  readonly signals: readonly WatchdogSignal[]
}

type State = DeepReadonly<z.infer<(typeof WatchdogState)['schema']>>

/** Most notes that wait; the oldest is dropped. */
const maxNotes = 4
const unwatched: State = { alerts: 0, notes: [], seen: 0, signals: {} }

/**
 * Looks at each tool call before it runs, for patterns of an agent that goes in circles: it tells of them, and as the agent
 * is configured, cautions the model, or ends the turn.
 *
 * Query: Requested; WatchdogLatch; Cautioned. Writes: WatchdogState, WatchdogLatch, Cautioned, Outcome, Conversation, and
 * what ending a turn writes.
 */
export function watchdog({ maxStartsPerTick, signals }: WatchdogOptions) {
  return {
    name: 'watchdog',
    priority: -1,
    run(world: World): void {
      for (const { agent } of inputsOf(world, 'watchdog-reset')) reset(world, agent)
      // What it remembers of an agent comes with a Context.
      if (!anybodyHas(world, Context, WatchdogLatch)) return
      // More than tool execution decides about in this tick, even if some of them are refused here.
      const calls = requestedCalls(world, 2 * maxStartsPerTick)
      for (const [agent, own] of calls) watch(world, agent, own, signals)
      for (const agent of world.query(WatchdogLatch, Turn)) if (!world.has(agent, Busy)) stop(world, agent)
      for (const agent of readyAgents(world, maxStartsPerTick, Cautioned)) caution(world, agent)
    },
  }
}

/** The calls that nobody has decided about, of each agent that is watched, in call order. */
function requestedCalls(world: World, count: number): ReadonlyMap<Entity, Entity[]> {
  const byAgent = new Map<Entity, Entity[]>()
  for (const call of world.first(count, Requested)) {
    const { agent } = world.read(call, OwnedBy)
    const mode = world.get(agent, Context)?.watchdog.mode ?? 'off'
    if (mode === 'off' || call <= (world.get(agent, WatchdogState)?.seen ?? 0)) continue
    const calls = byAgent.get(agent)
    if (calls === undefined) byAgent.set(agent, [call])
    else calls.push(call)
  }
  return byAgent
}

function watch(world: World, agent: Entity, calls: readonly Entity[], further: readonly WatchdogSignal[]): void {
  const { mode, threshold } = world.read(agent, Context).watchdog
  const signals = [repeatedToolCall(threshold), ...further]
  const before = world.get(agent, WatchdogState) ?? unwatched
  const notes = [...before.notes]
  let { alerts, signals: states } = before
  for (const [index, call] of calls.entries()) {
    const seen = seenBy(signals, states, world.read(call, ToolCall))
    states = seen.states
    for (const problem of seen.problems) tell(world, 'warning', { agent, message: problem })
    for (const noticed of seen.alerts) {
      alerts++
      if (mode !== 'warn') notes.push(`[watchdog] ${noticed.alert.message}`)
      alarm(world, agent, call, noticed)
    }
    if (!world.has(agent, WatchdogLatch)) continue
    refuse(world, agent, calls.slice(index))
    break
  }
  const seen = calls.at(-1) ?? before.seen
  world.set(agent, WatchdogState, { alerts, notes: notes.slice(-maxNotes), seen, signals: states })
  if (notes.length > 0) world.add(agent, Cautioned)
}

/** Tells of what was noticed, and stops the agent if it is critical and that is wanted. */
function alarm(world: World, agent: Entity, call: Entity, { alert, signal }: Seen['alerts'][number]): void {
  const { callId, name: tool } = world.read(call, ToolCall)
  tell(world, 'watchdog-alerted', { agent, callId, signal, tool, ...alert })
  const isEnforced = world.read(agent, Context).watchdog.mode === 'enforce' && alert.severity === 'critical'
  if (!isEnforced || world.has(agent, WatchdogLatch)) return
  world.add(agent, WatchdogLatch({ atMs: world.nowMs, message: alert.message, signal }))
  holdStep(world, agent)
}

function refuse(world: World, agent: Entity, calls: readonly Entity[]): void {
  for (const call of calls) {
    world.remove(call, Requested)
    const text = '[not run: stopped by the watchdog]'
    world.add(call, Outcome({ ok: true, value: { content: [{ type: 'text', text }], isError: true } }))
  }
  collectResults(world, agent)
}

/** The calls before the one that tripped have run by now. */
function stop(world: World, agent: Entity): void {
  const { message } = world.read(agent, WatchdogLatch)
  const failure = { kind: 'watchdog' as const, message }
  tell(world, 'turn-error', { agent, kind: 'watchdog', retryable: false, message, failure })
  endTurn(world, agent, { stop: 'failed', failure })
}

function caution(world: World, agent: Entity): void {
  const { notes } = world.read(agent, WatchdogState)
  for (const text of notes) world.append(agent, Conversation, { role: 'user', content: [{ type: 'text', text }] })
  world.patch(agent, WatchdogState, { notes: [] })
  world.remove(agent, Cautioned)
}

/** The runs are counted anew; notes that wait are kept. */
function reset(world: World, agent: Entity): void {
  if (world.has(agent, WatchdogState)) world.patch(agent, WatchdogState, { signals: {} })
  world.remove(agent, WatchdogLatch)
  holdStep(world, agent)
}
