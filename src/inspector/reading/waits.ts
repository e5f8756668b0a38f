import type { Entity } from '../../world/component.ts'
import { awaitedInView } from './awaited-in-view.ts'
import { type RawView, read } from './raw-view.ts'
import type { AgentState } from './summaries.ts'

/** What an agent waits for. */
export interface Wait {
  readonly world: string
  /** Absent: a session that waits for its first slot, and has no World yet. */
  readonly agent?: Entity | undefined
  readonly state: AgentState
  /** The effect, or what else it waits by. */
  readonly entity?: Entity | undefined
  /** Such as `a slot`, `write_file`. */
  readonly what: string
  /** Worlds of sessions that have to end. */
  readonly on?: readonly string[] | undefined
  /** The first of them is enough. */
  readonly isAny?: boolean | undefined
  /** The provider whose queue a model call stands in. */
  readonly queue?: string | undefined
  /** World times. */
  readonly sinceMs?: number | undefined
  readonly dueMs?: number | undefined
}

/** What the agents of a world wait for. */
export interface WorldWaits {
  readonly world: string
  readonly tick: number
  readonly nowMs: number
  readonly dateMs: number
  /** Ids of the sessions above it and its own, outermost first. */
  readonly path: readonly string[]
  /** It is a session that has a slot of the pool. */
  readonly hasSlot: boolean
  readonly waits: readonly Wait[]
  /** Its sessions that have not ended, by id. */
  readonly names: Readonly<Record<string, SessionName>>
}

/** What people know a session by. */
export interface SessionName {
  readonly name: string
  /** How its task begins. */
  readonly task: string
}

const maxTaskChars = 120

export function waitsOf(world: RawView): WorldWaits {
  const agents = world.entitiesWith('Llm')
  const path = agents.map((agent) => read(world, agent, 'Ancestry')?.sessions).find((above) => above !== undefined)
  const isReleased = agents.some((agent) => world.value(agent, 'SlotReleased') !== undefined)
  const isOver = agents.some((agent) => world.value(agent, 'SessionEnd') !== undefined)
  return {
    world: world.name,
    tick: world.tick,
    nowMs: world.nowMs,
    dateMs: world.dateMs,
    path: path?.map(({ sessionId }) => sessionId) ?? [],
    hasSlot: path?.at(-1)?.kind !== 'subtask' && path !== undefined && !isReleased && !isOver,
    waits: [...agents.flatMap((agent) => waitsOfAgent(world, agent)), ...queuedSessions(world), ...slotRequests(world)],
    names: namesIn(world),
  }
}

function namesIn(world: RawView): WorldWaits['names'] {
  return Object.fromEntries(
    world.entitiesWith('ActiveFor').flatMap((session) => {
      const record = read(world, session, 'SubagentSession')
      if (record === undefined) return []
      const { category: name, prompt, sessionId } = record
      return [[sessionId, { name, task: prompt.slice(0, maxTaskChars) }] as const]
    }),
  )
}

function waitsOfAgent(world: RawView, agent: Entity): readonly Wait[] {
  const owned = world.referrers('OwnedBy', agent)
  const side = world.referrers('SideCall', agent)
  const waits = [...owned, ...side].flatMap((entity) => waitOf(world, agent, entity) ?? [])
  return [...waits, ...sessionsAwaited(world, agent, owned), ...people(world, agent)]
}

/** Of one effect. `sessionsAwaited` has what sessions answer. */
function waitOf(world: RawView, agent: Entity, entity: Entity): Wait | undefined {
  const own = { world: world.name, agent, entity }
  const effect = read(world, entity, 'Effect')
  const awaited = awaitedInView(world, entity)
  if (effect === undefined || awaited === undefined) return undefined
  const { attempt, kind } = effect
  const times = { sinceMs: read(world, entity, 'Running')?.sinceMs, dueMs: awaited.untilMs }
  switch (awaited.on) {
    case 'work':
      return workOf(world, { agent, entity, kind }, times)
    case 'person':
      return { ...own, state: 'approval', what: read(world, entity, 'Approval')?.tool ?? 'a call', ...times }
    case 'instant':
      if (kind !== 'timer') return { ...own, state: 'retry', what: `try ${attempt} of its ${kind} call`, ...times }
      // The deadline of a wait for sessions is part of that wait.
      return world.value(entity, 'WaitDeadline') === undefined
        ? { ...own, state: 'busy', what: 'a time', ...times }
        : undefined
    default:
      return undefined
  }
}

interface WorkUnderWay {
  readonly agent: Entity
  readonly entity: Entity
  readonly kind: string
}

function workOf(world: RawView, { agent, entity, kind }: WorkUnderWay, times: Pick<Wait, 'dueMs' | 'sinceMs'>): Wait {
  const own = { world: world.name, agent, entity }
  switch (kind) {
    case 'model': {
      const call = read(world, entity, 'SideCall')
      const model = call?.model ?? read(world, agent, 'Llm')?.model ?? ''
      const what = call === undefined ? model : `${model} (${call.purpose})`
      return { ...own, state: 'model', what, queue: model.slice(0, Math.max(0, model.indexOf('/'))), ...times }
    }
    case 'tool':
      return { ...own, state: 'tool', what: callName(world, entity), ...times }
    case 'subtask': {
      const subtask = read(world, entity, 'Subtask')
      return { ...own, state: 'sessions', what: 'a subtask', on: subtask && [subtask.subtaskId], ...times }
    }
    default:
      return { ...own, state: 'busy', what: kind, ...times }
  }
}

function callName(world: RawView, entity: Entity): string {
  return read(world, entity, 'ToolCall')?.name ?? 'a tool'
}

function sessionsAwaited(world: RawView, agent: Entity, owned: readonly Entity[]): readonly Wait[] {
  const own = { world: world.name, agent, state: 'sessions' as const }
  const wait = read(world, agent, 'SubagentWait')
  const active = world.referrers('ActiveFor', agent)
  const queries = world.entitiesWith('SessionQuery').flatMap((entity): Wait[] => {
    const query = read(world, entity, 'SessionQuery')
    if (query?.agent !== agent || world.value(entity, 'Effect') === undefined) return []
    return [{ ...own, what: 'an answer', on: idsOf(world, [query.session]) }]
  })
  const calls = answeredBySessions(world, agent, owned)
  if (wait === undefined) {
    const onlyWaits = world.value(agent, 'SlotReleased') !== undefined && calls.length === 0 && active.length > 0
    return [...queries, ...calls, ...(onlyWaits ? [{ ...own, what: 'its sessions', on: idsOf(world, active) }] : [])]
  }
  const named = wait.sessions ?? wait.watched ?? active
  const on = idsOf(
    world,
    named.filter((session) => isActive(world, session)),
  )
  const isAny = wait.mode === 'any'
  const what = isAny ? 'the first of its sessions' : 'its sessions'
  return [
    ...queries,
    ...calls,
    { ...own, entity: agent, what, on, isAny, sinceMs: wait.startedAtMs, dueMs: wait.deadlineMs ?? undefined },
  ]
}

/** Tool calls that sessions answer: they all have to end before the agent goes on. */
function answeredBySessions(world: RawView, agent: Entity, owned: readonly Entity[]): readonly Wait[] {
  const awaited = owned.flatMap((entity) => {
    const session = read(world, entity, 'AwaitingSession')?.session
    return session === undefined ? [] : [{ entity, session, dueMs: read(world, entity, 'Effect')?.deadlineMs }]
  })
  const [first] = awaited
  if (first === undefined) return []
  const on = idsOf(
    world,
    awaited.map(({ session }) => session),
  )
  const dues = awaited.flatMap(({ dueMs }) => dueMs ?? [])
  const dueMs = dues.length === 0 ? undefined : Math.min(...dues)
  const what = on.length === 1 ? 'a session' : `${on.length} sessions`
  return [{ world: world.name, agent, entity: first.entity, state: 'sessions', what, on, dueMs }]
}

function isActive(world: RawView, session: Entity): boolean {
  const status = read(world, session, 'SubagentSession')?.status
  return status === 'queued' || status === 'running'
}

function idsOf(world: RawView, sessions: readonly Entity[]): readonly string[] {
  return sessions.flatMap((session) => read(world, session, 'SubagentSession')?.sessionId ?? [])
}

/** What only a person can end. */
function people(world: RawView, agent: Entity): readonly Wait[] {
  const own = { world: world.name, agent }
  if (world.value(agent, 'Paused') !== undefined) return [{ ...own, state: 'paused', what: 'to go on' }]
  const ceiling = read(world, agent, 'CostCeiling')
  if (ceiling !== undefined && ceiling.isReset === undefined) {
    return [{ ...own, state: 'stopped', what: `a higher ceiling than $${ceiling.limitUsd}`, sinceMs: ceiling.atMs }]
  }
  const latch = read(world, agent, 'WatchdogLatch')
  return latch === undefined ? [] : [{ ...own, state: 'stopped', what: 'a reset of its watchdog' }]
}

/** Sessions in line for their first slot: their Worlds are made once they have one. */
function queuedSessions(world: RawView): readonly Wait[] {
  return world.entitiesWith('SubagentSession').flatMap((entity): Wait[] => {
    const session = read(world, entity, 'SubagentSession')
    if (session?.status !== 'queued') return []
    const { createdAtMs: sinceMs, deadlineMs: dueMs, sessionId } = session
    const what = world.value(entity, 'GrantAwaited') === undefined ? 'a first slot' : 'budget that others have reserved'
    return [{ world: sessionId, state: 'slot', what, sinceMs, dueMs }]
  })
}

/** A session that had given its slot back, and wants one again. */
function slotRequests(world: RawView): readonly Wait[] {
  return world.entitiesWith('SlotRequest').flatMap((entity): Wait[] => {
    if (world.value(entity, 'Outcome') !== undefined) return []
    return [{ world: world.name, agent: world.entitiesWith('Llm')[0], entity, state: 'slot', what: 'a slot again' }]
  })
}

/** Worlds that wait for each other, each for the next, the last for the first; none: nothing waits in a circle. */
export function circleIn(worlds: readonly WorldWaits[]): readonly string[] {
  const stuck = stuckIn(worlds)
  const [first] = stuck.keys()
  const path: string[] = []
  for (let at = first; at !== undefined; at = stuck.get(at)?.find((other) => stuck.has(other))) {
    const seen = path.indexOf(at)
    if (seen >= 0) return path.slice(seen)
    path.push(at)
  }
  return []
}

/** Worlds of which no agent can ever go on, with those that they wait for. */
function stuckIn(worlds: readonly WorldWaits[]): ReadonlyMap<string, readonly string[]> {
  const waits = Map.groupBy(
    worlds.flatMap((world) => world.waits),
    ({ world }) => world,
  )
  const holders = worlds.filter(({ hasSlot }) => hasSlot).map(({ world }) => world)
  const neededBy = ({ on, state, world }: Wait): readonly string[] =>
    state === 'slot' ? holders.filter((holder) => holder !== world) : (on ?? [])
  const stuck = new Map([...waits].map(([world, its]) => [world, its.flatMap(neededBy)]))
  // Whatever can end, and whatever waits for that alone, is none of them.
  const isFree = (world: string): boolean => !stuck.has(world)
  const canEnd = (wait: Wait): boolean => {
    const needed = neededBy(wait)
    if (wait.state === 'slot' || wait.isAny === true) return needed.length === 0 || needed.some(isFree)
    return needed.every(isFree)
  }
  for (let before = -1; before !== stuck.size;) {
    before = stuck.size
    for (const world of stuck.keys()) if (waits.get(world)?.some(canEnd) === true) stuck.delete(world)
  }
  return stuck
}
