import { Ancestry } from '../../components/ancestry.ts'
import { isFinal } from '../../components/session-status.ts'
import { SubagentSession, type SubagentSessionData, type SessionUsage } from '../../components/subagent-session.ts'
import type { Store } from '../stores/port.ts'
import type { Records } from '../subagents/records.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { ChildRun, Transcript } from './child-run.ts'
import { agentOf, transcriptOf } from './child-run.ts'
import type { Host } from './host.ts'
import { ChildWorlds } from './child-worlds.ts'
import type { MakeRunner } from './child-worlds.ts'
import { recordsFor } from './session-records.ts'
import { SessionSlot } from './session-slot.ts'
import { usageOf } from './session-usage.ts'

/** What the sessions of a Runner's world are run with. */
export interface SessionsParts {
  readonly world: World
  readonly host: Host
  readonly store: Store | undefined
  /** The root world of the tree. */
  readonly root: string
  readonly makeRunner: MakeRunner
  /** Posts what a session had spent that was stopped. */
  readonly spent: (session: Entity, usage: SessionUsage) => void
}

/** Pools know sessions by keys that no two worlds of a process share, whatever their names. */
let trees = 0

/** The sessions of one world as they are run: their worlds, their slots, and the effects that they are. */
export class Sessions {
  readonly world: World
  readonly host: Host
  readonly records: Records
  readonly worlds: ChildWorlds
  /** Questions that programs are about to ask, by session. */
  readonly asking = new Map<string, string>()
  readonly #parts: SessionsParts
  readonly #key = `${++trees}`
  readonly #slots = new Map<string, SessionSlot>()
  readonly #live = new Map<string, ChildRun>()
  /** Work that has to have ended before the Runner lets go of its world. */
  readonly #closing = new Set<Promise<void>>()

  constructor(parts: SessionsParts) {
    const { world, host, store, root, makeRunner } = parts
    this.#parts = parts
    this.world = world
    this.host = host
    this.records = recordsFor(host.artifacts, store, root)
    this.worlds = new ChildWorlds({ host, store, root, systems: world.systems, makeRunner })
  }

  /** Is its world kept in a store, and the sessions' Worlds with it? */
  get isKept(): boolean {
    return this.#parts.store !== undefined
  }

  /** The sessions above those of an agent, outermost first. */
  above(agent: Entity) {
    return this.world.get(agent, Ancestry)?.sessions ?? []
  }

  record(session: Entity): SubagentSessionData {
    return this.world.read(session, SubagentSession)
  }

  /** A session's place in the pool. */
  slot(sessionId: string): SessionSlot {
    let slot = this.#slots.get(sessionId)
    if (slot === undefined) {
      slot = new SessionSlot(this.host.sessionPool, `${this.#key}/${sessionId}`)
      this.#slots.set(sessionId, slot)
    }
    return slot
  }

  /** How many wait ahead of a session for a first slot. */
  queuePosition(sessionId: string): number | undefined {
    return this.#slots.get(sessionId)?.position
  }

  /** A session's World is driven from now on. */
  enliven(sessionId: string, run: ChildRun): void {
    this.#live.set(sessionId, run)
  }

  /** A session has left the pool, and its World is not driven any more. */
  forget(sessionId: string): void {
    this.#slots.get(sessionId)?.leave()
    this.#slots.delete(sessionId)
    this.#live.delete(sessionId)
  }

  spent(session: Entity, usage: SessionUsage): void {
    this.#parts.spent(session, usage)
  }

  /** The Runner waits for this before it lets go. */
  hold(work: Promise<void>): void {
    const held = work.finally(() => this.#closing.delete(held))
    this.#closing.add(held)
  }

  /** Are Worlds of sessions about to be let go? */
  get isClosing(): boolean {
    return this.#closing.size > 0
  }

  /** Resolves once those are let go. */
  async stopped(): Promise<void> {
    while (this.isClosing) await Promise.all(this.#closing)
  }

  /** Resolves once no World of a session is driven any more. */
  async closed(): Promise<void> {
    await this.stopped()
    await this.worlds.close()
  }

  /** Tells of sessions that were stopped by a process that ended before it could tell what they had spent. */
  tellUntold(): void {
    for (const session of this.world.core.state.holders(SubagentSession)) {
      const { grant, sessionId, status } = this.record(session)
      if (grant !== undefined && isFinal(status)) this.hold(this.#tellSpent(session, sessionId))
    }
  }

  async #tellSpent(session: Entity, sessionId: string): Promise<void> {
    const world = await this.worlds.look(sessionId).catch(() => undefined)
    this.spent(session, world === undefined ? { calls: 0, sessions: 0 } : usageOf(world, agentOf(world), []))
  }

  /** What a session's agent was last asked with; `undefined` if its World is nowhere. */
  async transcript(sessionId: string): Promise<Transcript | undefined> {
    const live = this.#live.get(sessionId)
    if (live !== undefined) return live.transcript
    const world = await this.worlds.look(sessionId)
    return world && transcriptOf(world)
  }

  /** The sessions whose Worlds are driven. */
  get live(): Iterable<ChildRun> {
    return this.#live.values()
  }

  /** What a session has used so far, while its World is driven. */
  usageOfSession(sessionId: string): SessionUsage | undefined {
    return this.#live.get(sessionId)?.usage
  }
}
