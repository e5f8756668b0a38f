import { Ancestry } from '../../components/ancestry.ts'
import { Running } from '../../components/running.ts'
import { isFinal } from '../../components/session-status.ts'
import { SubagentSession, type SubagentSessionData, type SessionUsage } from '../../components/subagent-session.ts'
import type { Store } from '../stores/port.ts'
import type { Records } from '../subagents/records.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { AnswerInput, ChildRun, Transcript } from './child-run.ts'
import { agentOf, transcriptOf } from './child-run.ts'
import type { Host } from './host.ts'
import { ChildWorlds } from './child-worlds.ts'
import type { MakeRunner } from './child-worlds.ts'
import { entered } from './entered.ts'
import type { Enter } from './inbox.ts'
import { recordsFor } from './session-records.ts'
import { SessionReports } from './session-reports.ts'
import { SessionSlot } from './session-slot.ts'
import { SubtaskRuns } from './subtask-runs.ts'
import { usageOf } from '../subagents/session-usage.ts'
import { TranscriptPlace } from './transcript-place.ts'
import { joinTree, treeOf } from './world-tree.ts'

/** What the sessions of a Runner's world are run with. */
export interface SessionsParts {
  readonly world: World
  readonly host: Host
  readonly store: Store | undefined
  /** Keep all ticks of all worlds. */
  readonly record: boolean | undefined
  /** The root world of the tree. */
  readonly root: string
  readonly makeRunner: MakeRunner
  readonly enter: Enter
}

/** Pools know sessions by keys that no two worlds of a process share, whatever their names. */
let trees = 0

/** The sessions of one world as they are run: their worlds, their slots, and the effects that they are. */
export class Sessions {
  readonly world: World
  readonly host: Host
  readonly records: Records
  /** Longest text of a session that the world has to keep, in bytes. Absent: the records outlive the Runner. */
  readonly maxKeptBytes: number | undefined
  readonly worlds: ChildWorlds
  readonly transcripts: TranscriptPlace
  readonly subtasks: SubtaskRuns
  /** Questions that programs are about to ask, by session. */
  readonly asking = new Map<string, string>()
  /** Sessions and questions whose results programs are about to collect. */
  readonly collecting = new Set<string>()
  readonly #parts: SessionsParts
  readonly #key = `${++trees}`
  readonly #slots = new Map<string, SessionSlot>()
  readonly #live = new Map<string, ChildRun>()
  readonly #reports: SessionReports
  readonly #asked = new Map<string, ChildRun>()
  readonly #arrivals = new Map<string, PromiseWithResolvers<void>>()
  #isClosed = false
  /** Sessions whose Worlds somebody has, by id. The Runner does not let go of its world before they are free. */
  readonly #closing = new Map<string, PromiseWithResolvers<void>>()

  constructor(parts: SessionsParts) {
    const { world, host, store, root, record, makeRunner, enter } = parts
    this.#parts = parts
    this.world = world
    this.#reports = new SessionReports(world)
    this.host = host
    this.records = recordsFor(host.artifacts, store, world, root)
    this.maxKeptBytes = host.artifacts === undefined && store === undefined ? host.maxRecordBytes : undefined
    this.transcripts = new TranscriptPlace(world, store, root)
    const made: MakeRunner = (child, ...rest) => {
      joinTree(child, world)
      return makeRunner(child, ...rest)
    }
    const tree = treeOf(world)
    this.worlds = new ChildWorlds({ host, store, root, record, systems: world.systems, tree, makeRunner: made })
    const claim = (name: string): Promise<() => void> => this.claim(name)
    this.subtasks = new SubtaskRuns({ world, worlds: this.worlds, isRecorded: record === true, claim, enter })
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

  /** Of the result that is kept under that path; 0 for none. */
  resultBytes(recordPath: string): number {
    const found = this.world.core.state.holders(SubagentSession).find((session) => {
      return this.record(session).recordPath === recordPath
    })
    return found === undefined ? 0 : (this.record(found).resultBytes ?? 0)
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
  enliven(session: Entity, run: ChildRun): void {
    this.#live.set(run.world.name, run)
    this.#reports.begin(session, run)
    this.#arrived(run.world.name)
  }

  /** A session that has ended is being asked, until the function that this gives is called. */
  ask(run: ChildRun): () => void {
    const { name } = run.world
    this.#asked.set(name, run)
    this.#arrived(name)
    return () => void this.#asked.delete(name)
  }

  /**
   * A person's answer goes to whichever World below has asked. After a restart, one that has may not be driven again yet: it
   * is waited for. False: none has.
   */
  async answer(input: AnswerInput): Promise<boolean> {
    for (const run of [...this.#live.values(), ...this.#asked.values()]) if (await run.answer(input)) return true
    const coming = this.#coming()
    if (coming.length === 0) return false
    await Promise.race(coming.map((sessionId) => this.#arrival(sessionId)))
    return this.answer(input)
  }

  /** Sessions that are running, and whose Worlds are not driven yet. */
  #coming(): readonly string[] {
    if (this.#isClosed) return []
    const { state } = this.world.core
    const running = state.holders(Running).filter((effect) => state.get(effect, SubagentSession) !== undefined)
    const ids = running.map((session) => this.record(session).sessionId)
    const sessions = ids.filter((sessionId) => this.#slots.has(sessionId) && !this.#live.has(sessionId))
    return [...sessions, ...[...this.subtasks.expected].filter((subtaskId) => !this.#asked.has(subtaskId))]
  }

  /** A session's World is not driven any more. */
  rest(sessionId: string): void {
    this.#live.delete(sessionId)
    this.#reports.end(sessionId)
  }

  /** A subtask is not driven any more, or will not be. */
  forget(subtaskId: string): void {
    this.subtasks.gone(subtaskId)
    this.#arrived(subtaskId)
  }

  /** Whatever a session had of the pool, a place in line or a slot, is free. */
  leavePool(sessionId: string): void {
    this.#slots.get(sessionId)?.leave()
    this.#slots.delete(sessionId)
    // Whoever waits for its World waits in vain.
    this.#arrived(sessionId)
  }

  /** @param asker of a question that was called off */
  spent(session: Entity, usage: SessionUsage, asker?: Entity): void {
    const input = { kind: 'session-spent' as const, session, usage, ...(asker !== undefined && { asker }) }
    // A Runner that has failed tells so itself.
    entered(this.#parts.enter, input).catch(() => undefined)
  }

  /** Has the World of a session that nobody has, until the function that this gives is called. */
  #hold(sessionId: string): () => void {
    const held = Promise.withResolvers<void>()
    this.#closing.set(sessionId, held)
    return () => {
      this.#closing.delete(sessionId)
      held.resolve()
    }
  }

  /** Has the World of a session, once nobody else does. */
  async claim(sessionId: string): Promise<() => void> {
    while (this.#closing.has(sessionId)) await this.#closing.get(sessionId)?.promise
    return this.#hold(sessionId)
  }

  /** Does a session still run, or, stopped, has yet to let go of its World? */
  get isClosing(): boolean {
    return this.#closing.size > 0
  }

  /** Resolves once no session does. */
  async stopped(): Promise<void> {
    while (this.#closing.size > 0) await Promise.all([...this.#closing.values()].map(({ promise }) => promise))
  }

  /** Resolves once no World of a session is driven any more. */
  async closed(): Promise<void> {
    this.#isClosed = true
    await this.stopped()
    await this.worlds.close()
  }

  /** Tells of sessions that were stopped by a process that ended before it could tell what they had spent. */
  tellUntold(): void {
    this.subtasks.tellUntold()
    for (const session of this.world.core.state.holders(SubagentSession)) {
      const { grant, sessionId, status } = this.record(session)
      if (grant !== undefined && isFinal(status))
        void this.#tellSpent(session, sessionId).finally(this.#hold(sessionId))
    }
  }

  async #tellSpent(session: Entity, sessionId: string): Promise<void> {
    const world = await this.worlds.look(sessionId).catch(() => undefined)
    this.spent(session, world === undefined ? { calls: 0, sessions: 0 } : usageOf(world, agentOf(world), []))
  }

  /** What a session's agent was last asked with; `undefined` if its World is nowhere. */
  async transcript(sessionId: string): Promise<Transcript | undefined> {
    for (let held = this.#closing.get(sessionId); held !== undefined; held = this.#closing.get(sessionId)) {
      if (this.driven(sessionId) !== undefined) break
      await Promise.race([held.promise, this.#arrival(sessionId)])
    }
    this.#arrivals.delete(sessionId)
    const run = this.driven(sessionId)
    if (run !== undefined) return run.transcript
    const release = this.#hold(sessionId)
    try {
      const world = await this.worlds.look(sessionId)
      return world && transcriptOf(world)
    } finally {
      release()
    }
  }

  /** The run of a session whose World is driven, or that is asked a question. */
  driven(sessionId: string): ChildRun | undefined {
    return this.#live.get(sessionId) ?? this.#asked.get(sessionId)
  }

  /** Resolves once a session's World is driven. */
  #arrival(sessionId: string): Promise<void> {
    const arrival = this.#arrivals.get(sessionId) ?? Promise.withResolvers<void>()
    this.#arrivals.set(sessionId, arrival)
    return arrival.promise
  }

  #arrived(sessionId: string): void {
    this.#arrivals.get(sessionId)?.resolve()
    this.#arrivals.delete(sessionId)
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
