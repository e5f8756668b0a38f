import { z } from 'zod'
import * as standardComponents from '../../../components/index.ts'
import { openSnapshot } from '../../engine/loop/stored-ticks.ts'
import {
  Conversation,
  defineComponent,
  defineLog,
  type Entity,
  type Failure,
  LastTurn,
  type Message,
  type SessionStatus,
  World,
} from '../../index.ts'
import { costStats } from '../../rules/money/spending.ts'
import type { StoredWorld } from '../../stores/port.ts'
import { toUsd } from '../../rules/money/usd.ts'
import type { Component } from '../../world/component.ts'
import type { Delta } from '../../world/changes.ts'
import { valueOf } from '../../world/inspection.ts'
import type { Json } from '../../base/json.ts'
import type { Step } from '../../world/journal.ts'
import { savedVersions } from '../../world/restore.ts'
import { callText } from '../terminal/tool-text.ts'

const {
  Approval,
  ApprovalOf,
  Ceilings,
  CostCeiling,
  Due,
  Effect,
  Ledger,
  Limits,
  Llm,
  ModelCall,
  Outcome,
  OwnedBy,
  Paused,
  Running,
  SessionQuery,
  SideCall,
  SubagentSession,
  SubagentWait,
  Terminal,
  ToolCall,
  Turn,
  Usage,
  WatchdogLatch,
} = standardComponents

/**
 * A world as it lies in a store. Times end in `AtMs` and are Unix times; they are exact unless nobody drove the world in
 * between, since its own time stands still then.
 */
export interface StoredView {
  /** Of entia, which wrote the snapshot. */
  readonly version?: string | undefined
  readonly tick: number
  readonly tickAtMs: number
  /** The snapshot that was read, and how many ticks stand behind it. */
  readonly snapshotTick: number
  readonly rows: number
  readonly agents: readonly AgentView[]
  readonly sessions: readonly SessionView[]
  /** Work that has not been settled, sessions included. */
  readonly effects: readonly EffectView[]
  /** Components that the program does not know, with their values by entity. */
  readonly own: Readonly<Record<string, Readonly<Record<number, Json>>>>
  readonly ticks: readonly TickView[]
}

export interface AgentView {
  readonly entity: Entity
  readonly model: string
  readonly turn?: { readonly startedAtMs: number; readonly steps: number; readonly toolCalls: number } | undefined
  readonly maxSteps?: number | undefined
  readonly lastTurn?:
    | {
        readonly stop: string
        readonly endedAtMs: number
        readonly steps: number
        readonly failure?: Failure | undefined
      }
    | undefined
  /** Why it begins no step: set by its program, its ceiling, the watchdog, or sessions that it waits for. */
  readonly held?: string | undefined
  readonly messages: number
  readonly lastMessages: readonly Message[]
  readonly usage?: object | undefined
  /** Absent: it has made no call. */
  readonly spentUsd?: number | undefined
  readonly turnUsd?: number | undefined
  /** Calls that are in no sum. */
  readonly unknownCalls?: number | undefined
  /** Those of them whose model has no price. */
  readonly unpricedCalls?: number | undefined
  readonly maxSpentUsd?: number | undefined
  readonly maxTurnUsd?: number | undefined
}

export interface SessionView {
  readonly sessionId: string
  readonly parent: Entity
  readonly category: string
  readonly model: string
  readonly mode: string
  readonly status: SessionStatus
  readonly createdAtMs: number
  readonly startedAtMs?: number | undefined
  readonly finishedAtMs?: number | undefined
  readonly prompt: string
  readonly error?: string | undefined
}

export interface EffectView {
  readonly entity: Entity
  readonly kind: string
  /** What it works on: a tool with its arguments, a model, a session. */
  readonly what: string
  /** Whose work it is, where it is an agent's. */
  readonly agent?: Entity | undefined
  readonly state: 'pending' | 'running' | 'due'
  /** When it began, or, of `due`, when it is to. */
  readonly atMs?: number | undefined
  readonly deadlineAtMs?: number | undefined
  readonly attempt: number
}

export interface TickView {
  readonly tick: number
  readonly atMs: number
  readonly inputs: readonly string[]
  readonly events: readonly string[]
}

/** @throws `corrupt-snapshot`, `corrupt-journal`, `newer-version`, `invalid-value` */
export function storedView(name: string, stored: StoredWorld, { messages }: { readonly messages: number }): StoredView {
  const { codec, head, lines, version } = openSnapshot(stored)
  const steps: Step[] = stored.rows.map(({ line, tick }) =>
    codec.decode(line, `journal of world '${name}', tick ${tick}`),
  )
  const deltas = steps.map(({ delta }) => delta)
  const unknown = standInsFor(Object.entries(savedVersions(head, deltas)), lines, deltas)
  const components = [...Object.values(standardComponents), ...unknown]
  const world = World.restore(lines, { deltas, components })
  const dateOf = (worldMs: number): number => worldMs + world.dateMs - world.nowMs
  return {
    version,
    tick: world.tick,
    tickAtMs: world.dateMs,
    snapshotTick: stored.snapshot.tick,
    rows: stored.rows.length,
    agents: world.entitiesWith(Llm).map((agent) => agentView(world, agent, { dateOf, messages })),
    sessions: world.entitiesWith(SubagentSession).map((session) => sessionView(world, session, dateOf)),
    effects: world
      .entitiesWith(Effect)
      .filter((effect) => !world.has(effect, Outcome))
      .map((effect) => effectView(world, effect, dateOf)),
    own: Object.fromEntries(unknown.map((token) => [token.name, valuesOf(world, token)])),
    ticks: steps.map(({ delta, events, inputs }) => ({
      tick: delta.tick,
      atMs: delta.nowMs + delta.dateOffsetMs,
      inputs: inputs.map(({ kind }) => kind),
      events: events.map(({ type }) => type),
    })),
  }
}

/** Components of a program's own, which take any value. What was appended to is a list; all else can be a value here. */
function standInsFor(
  versions: readonly (readonly [name: string, version: number])[],
  lines: readonly string[],
  deltas: readonly Delta[],
): readonly Component[] {
  const known = new Set(Object.values(standardComponents).map((token) => token.name))
  return versions
    .filter(([name]) => !known.has(name))
    .map(([name, version]) => {
      const isList =
        deltas.some(({ appended, spliced }) => appended?.[name] !== undefined || spliced?.[name] !== undefined) ||
        lines.some((line) => line.includes(`,"log":${JSON.stringify(name)},`))
      return isList ? defineLog(name, z.any(), { version }) : defineComponent(name, z.any(), { version })
    })
}

function valuesOf(world: World, token: Component): Readonly<Record<number, Json>> {
  return Object.fromEntries(
    world.entitiesWith(token).map((entity) => [entity, valueOf(world, entity, token.name) as Json]),
  )
}

type DateOf = (worldMs: number) => number

function agentView(
  world: World,
  agent: Entity,
  { dateOf, messages }: { readonly dateOf: DateOf; readonly messages: number },
): AgentView {
  const turn = world.get(agent, Turn)
  const last = world.get(agent, LastTurn)
  const conversation: readonly Message[] = world.get(agent, Conversation) ?? []
  const { maxSessionCostUsd, maxTurnCostUsd } = world.get(agent, Ceilings) ?? {}
  return {
    entity: agent,
    model: world.read(agent, Llm).model,
    turn: turn && { startedAtMs: dateOf(turn.startedAtMs), steps: turn.steps, toolCalls: turn.toolCalls },
    maxSteps: world.get(agent, Limits)?.maxSteps,
    lastTurn: last && { stop: last.stop, endedAtMs: dateOf(last.endedAtMs), steps: last.steps, failure: last.failure },
    held: heldText(world, agent),
    messages: conversation.length,
    lastMessages: messages === 0 ? [] : conversation.slice(-messages),
    usage: world.get(agent, Usage),
    ...spent(world, agent),
    maxSpentUsd: maxSessionCostUsd,
    maxTurnUsd: maxTurnCostUsd,
  }
}

function spent(
  world: World,
  agent: Entity,
): Pick<AgentView, 'spentUsd' | 'turnUsd' | 'unknownCalls' | 'unpricedCalls'> {
  if (world.has(agent, Ledger)) {
    const { sessionUsd, turnUsd, unknownCalls, unpricedCalls } = costStats(world, agent)
    return { spentUsd: sessionUsd, turnUsd, unknownCalls, unpricedCalls }
  }
  const { costNanoUsd } = world.get(agent, Usage) ?? {}
  return costNanoUsd === undefined ? {} : { spentUsd: toUsd(costNanoUsd) }
}

function heldText(world: World, agent: Entity): string | undefined {
  if (world.has(agent, Terminal)) return 'has ended for good'
  if (world.has(agent, Paused)) return 'paused by its program'
  const ceiling = world.get(agent, CostCeiling)
  if (ceiling !== undefined && ceiling.isReset === undefined)
    return `stopped: it reached the cost ceiling of its ${ceiling.bound === 'turn' ? 'turn' : 'life'}`
  const latch = world.get(agent, WatchdogLatch)
  if (latch !== undefined) return `stopped by the watchdog: ${latch.message}`
  const wait = world.get(agent, SubagentWait)
  return wait && `waits for ${wait.mode === 'all' ? 'all' : 'one'} of its sessions`
}

function sessionView(world: World, entity: Entity, dateOf: DateOf): SessionView {
  const session = world.read(entity, SubagentSession)
  const { category, createdAtMs, error, finishedAtMs, mode, model, parent, prompt, sessionId, startedAtMs, status } =
    session
  return {
    sessionId,
    parent,
    category,
    model,
    mode,
    status,
    createdAtMs: dateOf(createdAtMs),
    startedAtMs: startedAtMs === undefined ? undefined : dateOf(startedAtMs),
    finishedAtMs: finishedAtMs === undefined ? undefined : dateOf(finishedAtMs),
    prompt,
    error,
  }
}

function effectView(world: World, entity: Entity, dateOf: DateOf): EffectView {
  const { attempt, deadlineMs, kind } = world.read(entity, Effect)
  const running = world.get(entity, Running)
  const due = world.get(entity, Due)
  const at = running?.sinceMs ?? due?.atMs
  const agent = agentOf(world, entity)
  return {
    entity,
    kind,
    what: whatOf(world, entity, agent),
    agent,
    state: running ? 'running' : due ? 'due' : 'pending',
    atMs: at === undefined ? undefined : dateOf(at),
    deadlineAtMs: deadlineMs === undefined ? undefined : dateOf(deadlineMs),
    attempt,
  }
}

function agentOf(world: World, effect: Entity): Entity | undefined {
  const call = world.get(effect, ApprovalOf)?.call
  return (
    world.get(effect, OwnedBy)?.agent ??
    world.get(effect, SideCall)?.agent ??
    world.get(effect, SessionQuery)?.agent ??
    world.get(effect, SubagentSession)?.parent ??
    (call === undefined ? undefined : world.get(call, OwnedBy)?.agent)
  )
}

function whatOf(world: World, effect: Entity, agent: Entity | undefined): string {
  const call = world.get(effect, Approval) ?? world.get(effect, ToolCall)
  const side = world.get(effect, SideCall)
  if (call !== undefined) return callText('tool' in call ? call.tool : call.name, call.arguments)
  if (side !== undefined) return `${side.purpose} by ${side.model}`
  if (world.has(effect, ModelCall) && agent !== undefined) return world.get(agent, Llm)?.model ?? ''
  const query = world.get(effect, SessionQuery)
  const session = query === undefined ? effect : query.session
  return world.get(session, SubagentSession)?.sessionId ?? ''
}
