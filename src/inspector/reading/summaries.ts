import type { Entity } from '../../world/component.ts'
import { awaitedInView } from './awaited-in-view.ts'
import { type RawView, read, type StandardValue } from './raw-view.ts'
import { spentOf } from './spent.ts'

/** What an agent does: the most telling of all that holds. */
export type AgentState =
  | 'approval'
  | 'question'
  | 'model'
  | 'tool'
  | 'retry'
  | 'sessions'
  | 'slot'
  | 'stopped'
  | 'paused'
  | 'failed'
  | 'busy'
  | 'done'
  | 'idle'
  | 'ended'

export interface AgentSummary {
  readonly entity: Entity
  readonly model: string
  readonly state: AgentState
  /** What it does or waits for, in words. */
  readonly doing: string
  /** World time since which it does. */
  readonly sinceMs?: number | undefined
  /** World time at which what it waits for is due or gives up. */
  readonly dueMs?: number | undefined
  readonly steps: number
  readonly toolCalls: number
  readonly messages: number
  readonly tokens: { readonly input?: number | undefined; readonly output?: number | undefined }
  /** In billionths of a US dollar; absent: no price. */
  readonly costNanoUsd?: number | undefined
  /** What it may spend, its sessions included; of a session's agent what it was granted. */
  readonly limitUsd?: number | undefined
}

/** A session as its parent's world knows it. */
export interface SessionRecord {
  readonly entity: Entity
  /** Also the name of its World. */
  readonly sessionId: string
  readonly parent: Entity
  readonly category: string
  readonly status: string
  readonly model: string
  readonly prompt: string
  readonly createdAtMs: number
  readonly startedAtMs?: number | undefined
  readonly finishedAtMs?: number | undefined
  readonly error?: string | undefined
  readonly calls?: number | undefined
  readonly tokens: { readonly input?: number | undefined; readonly output?: number | undefined }
  readonly costNanoUsd?: number | undefined
  /** What it may spend; what is absent has no limit. */
  readonly grant?:
    | {
        readonly costUsd?: number | undefined
        readonly tokens?: number | undefined
        readonly sessions?: number | undefined
      }
    | undefined
}

export interface WorldSummary {
  readonly tick: number
  readonly nowMs: number
  readonly dateMs: number
  /** The world that launched it; absent: it is a root, or the root launched it. */
  readonly parent?: string | undefined
  readonly agents: readonly AgentSummary[]
  /** The first 500. */
  readonly sessions: readonly SessionRecord[]
  readonly sessionCount: number
  readonly approvals: number
}

const maxSessions = 500
const maxPromptChars = 160

/** What the agents of a world do now. */
export function summaryOf(world: RawView): WorldSummary {
  const sessions = world.entitiesWith('SubagentSession')
  const agents = world.entitiesWith('Llm')
  return {
    tick: world.tick,
    nowMs: world.nowMs,
    dateMs: world.dateMs,
    parent: parentOf(world, agents),
    agents: agents.map((agent) => agentSummary(world, agent)),
    sessions: sessions.slice(0, maxSessions).flatMap((session) => sessionRecord(world, session) ?? []),
    sessionCount: sessions.length,
    approvals: world.entitiesWith('Approval').filter((asked) => world.value(asked, 'Outcome') === undefined).length,
  }
}

/** The session that launched a world; a root's own name is known to no one below. */
function parentOf(world: RawView, agents: readonly Entity[]): string | undefined {
  const above = agents.map((agent) => read(world, agent, 'Ancestry')?.sessions).find((path) => path !== undefined)
  return above?.at(-2)?.sessionId
}

export function sessionRecord(world: RawView, session: Entity): SessionRecord | undefined {
  const record = read(world, session, 'SubagentSession')
  if (record === undefined) return undefined
  const { usage } = record
  return {
    entity: session,
    sessionId: record.sessionId,
    parent: record.parent,
    category: record.category,
    status: record.status,
    model: record.model,
    prompt: record.prompt.slice(0, maxPromptChars),
    createdAtMs: record.createdAtMs,
    startedAtMs: record.startedAtMs,
    finishedAtMs: record.finishedAtMs,
    error: record.error?.slice(0, maxPromptChars),
    calls: usage?.calls,
    tokens: tokensOf(usage),
    costNanoUsd: usage?.costNanoUsd,
    grant: record.grant,
  }
}

function agentSummary(world: RawView, agent: Entity): AgentSummary {
  const turn = read(world, agent, 'Turn')
  const last = read(world, agent, 'LastTurn')
  const usage = read(world, agent, 'Usage')
  return {
    entity: agent,
    model: read(world, agent, 'Llm')?.model ?? '',
    ...whatItDoes(world, agent),
    steps: turn?.steps ?? last?.steps ?? 0,
    toolCalls: turn?.toolCalls ?? last?.toolCalls ?? 0,
    messages: read(world, agent, 'Conversation')?.length ?? 0,
    tokens: tokensOf(usage),
    costNanoUsd: spentOf(world, agent).nanoUsd,
    limitUsd: read(world, agent, 'DelegationLimits')?.costUsd,
  }
}

type Doing = Pick<AgentSummary, 'state' | 'doing' | 'sinceMs' | 'dueMs'>

function whatItDoes(world: RawView, agent: Entity): Doing {
  const works = world.referrers('OwnedBy', agent).flatMap((effect) => workOf(world, effect) ?? [])
  const [first] = works.sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state))
  const held = heldBy(world, agent)
  if (first !== undefined && (held === undefined || first.state !== 'busy')) {
    const others = works.filter(({ state }) => state === first.state).length - 1
    return others > 0 ? { ...first, doing: `${first.doing} and ${others} more` } : first
  }
  return held ?? atRest(world, agent)
}

/** What stands before what, where an agent does several things at once. */
const order: readonly AgentState[] = ['approval', 'question', 'model', 'tool', 'retry', 'sessions', 'slot', 'busy']

function workOf(world: RawView, entity: Entity): Doing | undefined {
  const effect = read(world, entity, 'Effect')
  const awaited = awaitedInView(world, entity)
  if (effect === undefined || awaited === undefined) return undefined
  const { attempt, kind } = effect
  const times = { sinceMs: read(world, entity, 'Running')?.sinceMs, dueMs: awaited.untilMs }
  switch (awaited.on) {
    case 'work':
      return { ...doingOf(world, entity, kind), ...times }
    case 'person': {
      const approval = read(world, entity, 'Approval')
      return { state: 'approval', doing: `asks whether ${approval?.tool ?? 'a call'} may run`, ...times }
    }
    case 'instant':
      if (kind !== 'timer') return { state: 'retry', doing: `waits to try ${kind} again (try ${attempt})`, ...times }
      return world.value(entity, 'WaitDeadline') === undefined
        ? { state: 'busy', doing: 'waits for a time', ...times }
        : undefined
    case 'reply':
      return { state: 'sessions', doing: 'waits for the answer of a session', ...times }
    default:
      return undefined
  }
}

function doingOf(world: RawView, entity: Entity, kind: string): Pick<Doing, 'doing' | 'state'> {
  switch (kind) {
    case 'model': {
      const purpose = read(world, entity, 'SideCall')?.purpose
      return { state: 'model', doing: purpose === undefined ? 'asks its model' : `writes its ${purpose}` }
    }
    case 'tool':
      return { state: 'tool', doing: `runs ${read(world, entity, 'ToolCall')?.name ?? 'a tool'}` }
    case 'slot':
      return { state: 'slot', doing: 'waits for a slot' }
    default:
      return { state: 'busy', doing: kind }
  }
}

function heldBy(world: RawView, agent: Entity): Doing | undefined {
  if (world.value(agent, 'Terminal') !== undefined) return { state: 'ended', doing: 'has ended for good' }
  if (world.value(agent, 'Paused') !== undefined) return { state: 'paused', doing: 'is paused' }
  const ceiling = read(world, agent, 'CostCeiling')
  if (ceiling !== undefined && ceiling.isReset === undefined)
    return { state: 'stopped', doing: `reached its cost ceiling of $${ceiling.limitUsd}`, sinceMs: ceiling.atMs }
  const latch = read(world, agent, 'WatchdogLatch')
  if (latch !== undefined) return { state: 'stopped', doing: `the watchdog stopped it: ${latch.message}` }
  const wait = read(world, agent, 'SubagentWait')
  if (wait !== undefined) {
    const whom = wait.sessions === null ? 'its sessions' : sessionsText(wait.sessions.length)
    const doing = `waits for ${wait.mode === 'any' ? 'one of ' : ''}${whom}`
    return { state: 'sessions', doing, sinceMs: wait.startedAtMs, dueMs: wait.deadlineMs ?? undefined }
  }
  const open = world.referrers('ActiveFor', agent).length
  const awaited = world.value(agent, 'SlotReleased') !== undefined || isAwaiting(world, agent)
  return awaited && open > 0 ? { state: 'sessions', doing: `waits for ${sessionsText(open)}` } : undefined
}

/** A tool call of it is answered by a session. */
function isAwaiting(world: RawView, agent: Entity): boolean {
  return world.referrers('OwnedBy', agent).some((entity) => world.value(entity, 'AwaitingSession') !== undefined)
}

function atRest(world: RawView, agent: Entity): Doing {
  const turn = read(world, agent, 'Turn')
  if (turn !== undefined) return { state: 'busy', doing: 'is in a turn', sinceMs: turn.startedAtMs }
  const last = read(world, agent, 'LastTurn')
  if (last === undefined) return { state: 'idle', doing: 'waits for a message' }
  const { endedAtMs: sinceMs, failure, stop } = last
  if (failure !== undefined) return { state: 'failed', doing: `${failure.kind}: ${failure.message}`, sinceMs }
  return { state: 'done', doing: stop === 'done' ? 'has answered' : `stopped: ${stop}`, sinceMs }
}

function sessionsText(count: number): string {
  return count === 1 ? 'a session' : `${count} sessions`
}

function tokensOf(usage: StandardValue<'Usage'> | undefined): AgentSummary['tokens'] {
  if (usage === undefined) return {}
  const { cacheRead, cacheWrite, input, output } = usage
  const parts = [input, cacheRead, cacheWrite].filter((part) => part !== undefined)
  return { input: parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0), output }
}
