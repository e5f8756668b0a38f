import {
  ActiveFor,
  Ancestry,
  AwaitingSession,
  Busy,
  Ceilings,
  Conversation,
  CostCeiling,
  Delegated,
  DelegationLimits,
  Due,
  Effect,
  Ledger,
  ModelCall,
  Notified,
  Outcome,
  OwnedBy,
  Pending,
  SessionQuery,
  SlotReleased,
  SubagentNotification,
  SubagentSession,
  SubagentWait,
  Turn,
  UnreadBy,
} from '../../components/index.ts'
import { LastStep } from '../../components/agent/agent-tags.ts'
import { SessionPool } from '../../src/engine/children/pool.ts'
import type { Entity, Initial } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import type { System } from '../../src/world/world.ts'
import { costCeiling, limits, slots, standardSystems, wait } from '../../systems/index.ts'

/** The standard systems, one of them broken. */
function replaced(name: string, run: (world: World) => void): System[] {
  return standardSystems().map((system) => (system.name === name ? { name, priority: system.priority, run } : system))
}

function besides(priority: number, run: (world: World) => void): System[] {
  return [...standardSystems(), { name: 'broken', priority, run }]
}

/** Sessions that have ended in this tick. */
function endedNow(world: World): readonly Entity[] {
  return world.query(SubagentSession).filter((session) => {
    const { finishedAtMs, finishedSequence, parent } = world.read(session, SubagentSession)
    return finishedAtMs === world.nowMs && finishedSequence === world.get(parent, Delegated)?.finished
  })
}

/** A session that has succeeded runs again, as soon as something else happens. */
export const revivesSessions = (): System[] =>
  besides(-29, (world) => {
    for (const session of world.query(SubagentSession)) {
      const record = world.read(session, SubagentSession)
      if (record.status !== 'succeeded' || record.updatedAtMs === world.nowMs) continue
      world.remove(session, SubagentSession)
      world.set(session, SubagentSession, { ...record, status: 'running' })
    }
  })

/** A session has ended when it was looked at last. */
export const endsSessionsLater = (): System[] =>
  besides(-29, (world) => {
    for (const session of world.query(SubagentSession)) {
      const { finishedAtMs } = world.read(session, SubagentSession)
      if (finishedAtMs !== undefined) world.patch(session, SubagentSession, { finishedAtMs: world.nowMs })
    }
  })

/** Whoever waits for its sessions has given its slot back, whatever else it has in flight. */
export const releasesTooEarly = (): System[] =>
  replaced('slots', (world) => {
    for (const agent of world.query(Ancestry, SubagentWait)) world.add(agent, SlotReleased)
    slots.run(world)
  })

/** Whoever can go on goes on, slot or no slot. */
export const goesOnWithoutSlot = (): System[] =>
  replaced('slots', (world) => {
    const released = world.query(SlotReleased)
    slots.run(world)
    for (const agent of released) {
      if (!world.query(Pending).some((effect) => world.get(effect, Effect)?.kind === 'slot')) continue
      world.remove(agent, SlotReleased)
      world.requestTick()
    }
  })

/** Whoever has given its slot back never asks for another. */
export const staysWithoutSlot = (): System[] =>
  replaced('slots', (world) => {
    if (world.query(SlotReleased).length === 0) slots.run(world)
  })

/** Who comes last is served first. */
export class StackPool extends SessionPool {
  readonly #waiting: { readonly key: string; readonly answer: (hasSlot: boolean) => void }[] = []
  readonly #holding = new Set<string>()

  override enter(key: string): Promise<boolean> {
    return new Promise((answer) => {
      this.#waiting.push({ key, answer })
      this.#serve()
    })
  }

  override leave(key: string): void {
    const place = this.#waiting.findIndex((one) => one.key === key)
    if (place !== -1) this.#waiting.splice(place, 1)[0]?.answer(false)
    this.#holding.delete(key)
    this.#serve()
  }

  #serve(): void {
    while (this.#holding.size < this.cap && this.#waiting.length > 0) {
      const last = this.#waiting.pop()
      if (last === undefined) return
      this.#holding.add(last.key)
      last.answer(true)
    }
  }
}

/** Who comes back stands at the end of the line. */
export class PlainLinePool extends SessionPool {
  override enter(key: string): Promise<boolean> {
    return super.enter(key, 'first')
  }
}

/** What was read is unread again, once. */
export const notifiesTwice = (): System[] =>
  besides(-6, (world) => {
    for (const session of world.query(SubagentNotification)) {
      const { finishedAtMs, parent } = world.read(session, SubagentSession)
      const isRead = world.read(session, SubagentNotification).state === 'read'
      if (!isRead || finishedAtMs === undefined || world.nowMs < finishedAtMs + 500) continue
      world.patch(session, SubagentNotification, { state: 'unread' })
      world.set(session, UnreadBy, { agent: parent })
      world.add(parent, Notified)
    }
  })

export const notifiesNever = (): System[] =>
  besides(-29, (world) => {
    for (const session of world.query(UnreadBy)) {
      world.remove(session, SubagentNotification)
      world.remove(session, UnreadBy)
    }
  })

/** Whoever has called a session off is told that it has ended. */
export const notifiesOfCancelled = (): System[] =>
  besides(-29, (world) => {
    for (const session of endedNow(world)) {
      const { mode, parent, sessionId, status } = world.read(session, SubagentSession)
      if (status !== 'cancelled' || mode !== 'background') continue
      world.set(session, SubagentNotification, { id: `${sessionId}:${status}`, state: 'unread' })
      world.set(session, UnreadBy, { agent: parent })
      world.add(parent, Notified)
    }
  })

/** Notifications are read, and nothing is said. */
export const readsInSilence = (): System[] =>
  replaced('wait', (world) => {
    for (const agent of world.query(Notified)) {
      if (world.has(agent, SubagentWait) || world.has(agent, Busy)) continue
      for (const session of world.referrers(UnreadBy, agent)) {
        world.remove(session, UnreadBy)
        world.patch(session, SubagentNotification, { state: 'read' })
      }
    }
    wait.run(world)
  })

/** Whoever is told is told once more at the next step. */
export const tellsTwice = (): System[] =>
  replaced('wait', (world) => {
    const before = world.query(Notified)
    wait.run(world)
    for (const agent of before) {
      const last = world.read(agent, Conversation).at(-1)
      if (last?.role === 'system') world.append(agent, Conversation, last)
    }
  })

/** What is granted is not set aside. */
export const setsNothingAside = (): System[] =>
  besides(-29, (world) => {
    for (const agent of world.query(Delegated))
      world.patch(agent, Delegated, { reservedSessions: 0, reservedTokens: 0 })
  })

/** What sessions have spent is forgotten. */
export const forgetsSpending = (): System[] =>
  besides(-29, (world) => {
    for (const agent of world.query(Delegated)) world.patch(agent, Delegated, { spentTokens: 0 })
  })

/** A session may have as many levels below it as its parent. */
export const grantsDepth = (): System[] =>
  besides(-29, (world) => {
    if (!world.inputs.some(({ kind }) => kind === 'granted')) return
    for (const agent of world.query(DelegationLimits)) {
      world.patch(agent, DelegationLimits, { depth: (world.read(agent, DelegationLimits).depth ?? 0) + 1 })
    }
  })

/** A ceiling that is reached is no more than a number. */
export const mindsNoCeiling = (): System[] =>
  besides(-9, (world) => {
    for (const agent of world.query(CostCeiling)) {
      world.remove(agent, CostCeiling)
    }
  })

/** Whoever has reached a ceiling forgets it while steps begin. */
export const stepsOverCeiling = (): System[] => {
  const forgotten = new WeakMap<World, Map<Entity, readonly [ceilings: Initial, latch: Initial]>>()
  const forget = (world: World): void => {
    const latched = world.query(Ceilings, CostCeiling).map((agent) => {
      const parts = [Ceilings(world.read(agent, Ceilings)), CostCeiling(world.read(agent, CostCeiling))] as const
      for (const token of [Ceilings, CostCeiling]) world.remove(agent, token)
      return [agent, parts] as const
    })
    forgotten.set(world, new Map(latched))
  }
  const remember = (world: World): void => {
    for (const [agent, parts] of forgotten.get(world) ?? []) for (const part of parts) world.add(agent, part)
  }
  const resting = replaced('cost-ceiling', (world) => {
    if (world.query(CostCeiling).length === 0) costCeiling.run(world)
  })
  return [
    ...resting,
    { name: 'forgetting', priority: -0.5, run: forget },
    { name: 'remembering', priority: 0.5, run: remember },
  ]
}

/** What a session has spent is entered whenever something is told of it. */
export const chargesAgain = (): System[] =>
  besides(-29, (world) => {
    for (const session of endedNow(world)) {
      const { parent, usage } = world.read(session, SubagentSession)
      const ledger = world.get(parent, Ledger)
      const sessionNanoUsd = (ledger?.sessionNanoUsd ?? 0) + (usage?.costNanoUsd ?? 0)
      if (ledger !== undefined) world.patch(parent, Ledger, { sessionNanoUsd })
    }
  })

/** What sessions and questions have cost is nobody's. */
export const forgetsCharges = (): System[] => {
  const own = new WeakMap<World, Map<Entity, number>>()
  const noted = (world: World): Map<Entity, number> => {
    const costs = own.get(world) ?? new Map<Entity, number>()
    own.set(world, costs)
    return costs
  }
  const note = (world: World): void => {
    for (const agent of world.query(Ledger)) noted(world).set(agent, world.read(agent, Ledger).sessionNanoUsd)
  }
  const forget = (world: World): void => {
    const callers = new Set(world.query(ModelCall, Outcome).map((call) => world.read(call, OwnedBy).agent))
    for (const agent of world.query(Ledger)) {
      if (callers.has(agent)) continue
      const sessionNanoUsd = noted(world).get(agent) ?? 0
      if (sessionNanoUsd !== world.read(agent, Ledger).sessionNanoUsd) world.patch(agent, Ledger, { sessionNanoUsd })
    }
  }
  return [...besides(-99, note), { name: 'forgetting', priority: -97.5, run: forget }]
}

/** The last step is not the last. */
export const takesOneStepMore = (): System[] =>
  besides(-4, (world) => {
    for (const agent of world.query(LastStep, Turn)) {
      if (world.read(agent, Turn).steps % 2 === 1) world.remove(agent, LastStep)
    }
  })

/** Nobody looks at whether a grant is spent. */
export const spendsOn = (): System[] =>
  replaced('limits', (world) => {
    if (world.query(LastStep).length > 0) limits.run(world)
  })

/** The tool calls of a turn are counted from its last step. */
export const forgetsToolCalls = (): System[] =>
  besides(4, (world) => {
    for (const agent of world.query(Turn)) world.patch(agent, Turn, { toolCalls: 0 })
  })

/** Whoever waits for all sleeps on when all have ended. */
export const wakesNobody = (): System[] =>
  replaced('wait', (world) => {
    const sleeping = world.query(Notified, SubagentWait)
    const held = sleeping.filter((agent) => world.read(agent, SubagentWait).mode === 'all')
    for (const agent of held) world.remove(agent, Notified)
    wait.run(world)
    for (const agent of held) world.add(agent, Notified)
  })

/** A turn that is over stays over, whatever ends. */
export const leavesIdleAlone = (): System[] =>
  replaced('wait', (world) => {
    if (world.query(Notified, Turn).length > 0) wait.run(world)
  })

/** What waits for a session is forgotten when that ends. */
export const forgetsCalls = (): System[] =>
  besides(-31, (world) => {
    for (const call of world.query(AwaitingSession)) {
      if (world.has(world.read(call, AwaitingSession).session, Outcome)) world.remove(call, AwaitingSession)
    }
  })

/** A session that ended while another one did is still taken for active. */
export const keepsSessionsActive = (): System[] =>
  besides(-29, (world) => {
    for (const session of endedNow(world)) {
      const { parent, sequence } = world.read(session, SubagentSession)
      if (sequence === 2) world.set(session, ActiveFor, { agent: parent })
    }
  })

/** An agent whose last call is answered at once is taken for busy. */
export const staysBusy = (): System[] =>
  replaced('slots', (world) => {
    slots.run(world)
    for (const agent of world.query(Turn)) {
      if (!world.has(agent, Busy) && world.read(agent, Turn).steps === 2) world.add(agent, Busy)
    }
  })

/** A model call that is to be tried again never is. */
export const forgetsRetries = (): System[] =>
  besides(-84, (world) => {
    for (const effect of world.query(Due)) world.remove(effect, Due)
  })

/** More is set aside for a question than there is. */
export const setsTooMuchAside = (): System[] =>
  besides(-29, (world) => {
    for (const query of world.query(SessionQuery, Pending)) {
      const { grant } = world.read(query, SessionQuery)
      world.patch(query, SessionQuery, { grant: { ...grant, sessions: 1_000 } })
    }
  })

/** A session may launch more for a question than was set aside for it. */
export const grantsMoreForQuestions = (): System[] =>
  besides(-29, (world) => {
    if (!world.inputs.some(({ kind, question }) => kind === 'granted' && question !== undefined)) return
    for (const agent of world.query(DelegationLimits)) {
      const { sessions = 0 } = world.read(agent, DelegationLimits)
      world.patch(agent, DelegationLimits, { sessions: sessions + 1 })
    }
  })

/** Questions that stand in line stay there. */
export const asksOnlyFirst = (): System[] =>
  besides(-29, (world) => {
    for (const query of world.query(SessionQuery, Effect)) {
      if (!world.read(query, SessionQuery).prompt.includes('east')) continue
      world.remove(query, Effect)
      world.remove(query, Pending)
    }
  })
