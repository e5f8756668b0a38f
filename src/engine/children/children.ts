import { isFinal } from '../../protocol/delegation.ts'
import { Ceilings } from '../../../components/money/ceilings.ts'
import { Approval } from '../../../components/agent/tool-call.ts'
import type { StandardInput } from '../../protocol/input.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import { SessionSlot } from './pool.ts'
import type { Records } from '../../stores/records.ts'
import { canonical } from '../../world/canonical.ts'
import type { Entity } from '../../world/component.ts'
import type { Input } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import { type OpenApproval, openApprovalsIn } from './open-approvals.ts'
import type { Host } from '../effects/host.ts'
import type { Enter } from '../loop/inbox.ts'
import { type AnswerInput, type ChildRun, type Transcript, transcriptOf } from './child-run.ts'
import { ChildWorlds, type ChildWorldsParts } from './child-worlds.ts'
import { recordsFor } from './session-records.ts'
import { type RemoteRun, RemoteSessions } from './remote-sessions.ts'
import { SessionReports, type SpendingSession } from './session-reports.ts'
import { TranscriptPlace, treeOf, type WorldTree } from './world-tree.ts'

export interface ChildrenParts extends ChildWorldsParts {
  readonly enter: Enter
  /** Ids of the sessions above this world and its own, outermost first. */
  readonly path: readonly string[]
}

interface ChildFacts {
  /** Of a session's run: what it spends counts for its parent. */
  readonly session?: Entity
  /** Its World is wanted again. */
  readonly isKept?: boolean
}

type Driven = ChildFacts & { readonly run: ChildRun }

/** Makes the keys of sessions in a pool unique in the process, whatever the names of worlds. */
let trees = 0

/** The children of one world, sessions and subtasks: their Worlds, locks and slots. */
export class Children {
  readonly world: World
  readonly host: Host
  readonly records: Records
  /** Longest text of a session that the world has to keep, in bytes. Absent: the records outlive the Runner. */
  readonly maxKeptBytes: number | undefined
  readonly isRecorded: boolean
  readonly worlds: ChildWorlds
  readonly transcripts: TranscriptPlace
  /** Sessions that run elsewhere; absent: they run here. */
  readonly remote: RemoteSessions | undefined
  readonly #enter: Enter
  readonly #tree: WorldTree
  readonly #key = `${++trees}`
  readonly #slots = new Map<string, SessionSlot>()
  readonly #reports: SessionReports
  /** By the names of their Worlds. */
  readonly #driven = new Map<string, Driven>()
  /** Runs that have stopped, until the world has what their sessions have spent. */
  readonly #rested = new Map<string, ChildRun>()
  readonly #followed = new Map<Entity, RemoteRun>()
  /** What sessions have failed with whose end may not be in the world yet. */
  readonly #failures = new Map<Entity, Error>()
  /** Names of Worlds that go on from where they were left, and are not driven yet. */
  readonly #expected = new Set<string>()
  /** Number of Worlds that are locked here or wait for that. The Runner closes its own world only after they are unlocked. */
  #locks = 0
  /** Resolves at the next change of any of that. */
  #change = Promise.withResolvers<void>()

  constructor({ enter, path, ...parts }: ChildrenParts) {
    const { world, host, store, root, record, shared } = parts
    this.world = world
    this.host = host
    this.#enter = enter
    this.#tree = treeOf(world)
    this.#reports = new SessionReports(world)
    this.records = recordsFor(host.artifacts, store, world, root)
    this.maxKeptBytes = host.artifacts === undefined && store === undefined ? host.maxRecordBytes : undefined
    this.isRecorded = record === true
    this.transcripts = new TranscriptPlace(world, store, root)
    this.worlds = new ChildWorlds(parts)
    const { fleet } = host.seams
    const spent = async (sessionId: string, told: SessionUsage | undefined): Promise<boolean> => {
      const session = sessionOf(world, sessionId)
      const usage = told ?? (await this.worlds.spentIn(sessionId))
      return session === undefined || this.enter({ kind: 'session-spent', session, usage })
    }
    if (fleet !== undefined && shared !== undefined) {
      this.remote = new RemoteSessions({ fleet, root, world: world.name, path, journal: shared, spent })
    }
  }

  record(session: Entity): SubagentSessionData {
    return this.world.read(session, SubagentSession)
  }

  /** Locks a World; the returned function unlocks it. In a tree each World has one lock. */
  async lock(worldId: string): Promise<() => void> {
    this.#locks++
    const unlock = await this.#tree.lock(worldId)
    return () => {
      this.#locks--
      unlock()
      this.#changed()
    }
  }

  async locked<T>(worldId: string, work: () => Promise<T>): Promise<T> {
    const unlock = await this.lock(worldId)
    try {
      return await work()
    } finally {
      unlock()
    }
  }

  /** A child is still driven, or has stopped and still has its World open. */
  get isClosing(): boolean {
    return this.#locks > 0
  }

  async stopped(): Promise<void> {
    while (this.#locks > 0) await this.#change.promise
  }

  /** Resolves once no child's World is driven, and forgets those in memory. */
  async closed(): Promise<void> {
    await this.stopped()
    this.worlds.close()
  }

  /** A child goes on from where it was left: it is about to be driven. */
  expect(worldId: string): void {
    this.#expected.add(worldId)
  }

  track(run: ChildRun, { isKept, session }: ChildFacts): void {
    const { name } = run.world
    this.#driven.set(name, { run, ...(isKept && { isKept }), ...(session !== undefined && { session }) })
    this.#expected.delete(name)
    if (session !== undefined) this.#reports.begin(session, run)
    this.#changed()
  }

  rest(worldId: string): void {
    const child = this.#driven.get(worldId)
    if (child !== undefined) this.#noteFailure(child)
    if (child?.isKept === true) this.worlds.keep(worldId, child.run.world)
    this.#driven.delete(worldId)
    this.#expected.delete(worldId)
    if (child?.session !== undefined) {
      this.#reports.end(child.session)
      this.#rested.set(worldId, child.run)
    }
    this.#changed()
  }

  /** The run of a child that is driven: of a session, of a question to one that has ended, of a subtask. */
  driven(worldId: string): ChildRun | undefined {
    return this.#driven.get(worldId)?.run
  }

  /** A session runs elsewhere: what it spends counts here. */
  followRemote(session: Entity, run: RemoteRun): void {
    this.#followed.set(session, run)
    this.#reports.begin(session, run)
  }

  restRemote(session: Entity): void {
    this.#followed.delete(session)
    this.#reports.end(session)
  }

  /** Sessions under way, here and elsewhere. */
  get live(): readonly SpendingSession[] {
    const here = [...this.#driven.values()].filter(({ session }) => session !== undefined).map(({ run }) => run)
    if (this.#followed.size === 0) return here
    // What the world knows to have ended, it has counted, or waits for what it has spent.
    const elsewhere = [...this.#followed].flatMap(([session, run]) => {
      const record = this.world.get(session, SubagentSession)
      return record === undefined || isFinal(record.status) ? [] : run
    })
    return [...here, ...elsewhere]
  }

  /** What it spends counts while it runs: its parent has a ceiling. */
  reportsUsage(session: Entity): boolean {
    return this.world.has(this.record(session).parent, Ceilings)
  }

  /** What a session under way has spent, in all. */
  usageOf(sessionId: string): SessionUsage | undefined {
    return this.driven(sessionId)?.usage ?? this.remote?.known(sessionId)?.usage
  }

  /**
   * Passes a user's answer to the World below that asked, once all are driven again. False: none did. It throws what a session
   * has failed with until that is known here: it may have asked, and after a restart it would ask again.
   */
  async answer(input: AnswerInput): Promise<boolean> {
    const change = this.#change.promise
    const isComplete = this.#expected.size === 0
    const errors: unknown[] = []
    for (const child of this.#driven.values()) {
      try {
        if (await child.run.answer(input)) return true
      } catch (error) {
        errors.push(error)
      }
      this.#noteFailure(child)
    }
    for (const [session, error] of this.#failures) {
      if (this.world.get(session, SubagentSession)?.status === 'running') errors.push(error)
      else this.#failures.delete(session)
    }
    if (errors.length > 0) throw errors[0]
    if (isComplete) return false
    await change
    return this.answer(input)
  }

  /** What children ask a person for. @param path of this world */
  approvals(path: readonly string[]): readonly OpenApproval[] {
    return [...this.#driven.values()].flatMap(({ run }) => run.approvals([...path, run.world.name]))
  }

  async transcript(sessionId: string): Promise<Transcript | undefined> {
    for (;;) {
      const run = this.driven(sessionId)
      if (run !== undefined) return run.transcript
      const unlocked = this.#tree.unlocked(sessionId)
      if (unlocked === undefined) break
      await Promise.race([unlocked, this.#change.promise])
    }
    return this.locked(sessionId, async () => {
      const world = await this.worlds.look(sessionId)
      return world && transcriptOf(world)
    })
  }

  /** What a session that is no longer driven has spent in all. */
  spentBy(sessionId: string): Promise<SessionUsage> {
    return this.#rested.get(sessionId)?.spent() ?? this.worlds.spentIn(sessionId)
  }

  slot(sessionId: string): SessionSlot {
    let slot = this.#slots.get(sessionId)
    if (slot === undefined) {
      slot = new SessionSlot(this.host.sessionPool, `${this.#key}/${sessionId}`)
      this.#slots.set(sessionId, slot)
    }
    return slot
  }

  async queuePosition(sessionId: string): Promise<number | undefined> {
    const { remote } = this
    if (remote !== undefined) return remote.fleet.position(remote.order(sessionId))
    return this.#slots.get(sessionId)?.position
  }

  /** The world has the outcome of a session, or no longer waits for it. */
  forget(session: Entity, sessionId: string): void {
    this.#slots.get(sessionId)?.leave()
    this.#slots.delete(sessionId)
    // A Runner that has failed does not take the outcome any more.
    const isUntold = this.world.exists(session) && this.world.get(session, SubagentSession)?.grant !== undefined
    if (!isUntold) this.#rested.delete(sessionId)
  }

  /** Enters a report on a child. False: the last tick of a stopping Runner commits it. */
  async enter(input: StandardInput): Promise<boolean> {
    const committed = this.#enter(canonical(input, () => 'an input') as Input)
    await committed
    return committed !== undefined
  }

  /** Enters what a session has spent whose outcome is dropped. @param asker of a cancelled question */
  spent(session: Entity, usage: SessionUsage, asker?: Entity): void {
    const input = { kind: 'session-spent' as const, session, usage, ...(asker !== undefined && { asker }) }
    const known = (isCommitted: boolean): void => {
      if (isCommitted && this.world.exists(session)) this.#rested.delete(this.record(session).sessionId)
    }
    // A Runner that has failed reports that itself.
    this.enter(input).then(known, () => undefined)
  }

  #noteFailure({ run, session }: Driven): void {
    if (session !== undefined && run.failure !== undefined) this.#failures.set(session, run.failure)
  }

  #changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }
}

export function hasAsked(world: World, { approval }: AnswerInput): boolean {
  return openApprovalsIn(world).some((asked) => world.read(asked, Approval).id === approval)
}

function sessionOf(world: World, sessionId: string): Entity | undefined {
  return world.entitiesWith(SubagentSession).find((each) => world.read(each, SubagentSession).sessionId === sessionId)
}
