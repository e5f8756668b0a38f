import { Ancestry, SessionEnd, type WorldKind } from '../../../components/sessions/ancestry.ts'
import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import { Pending } from '../../../components/effects/effect.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import type { Message } from '../../protocol/message.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { SharedStore, Store } from '../../stores/port.ts'
import { type BudgetOwner, childWorld, type HolderParts, holderWorld } from './child-world.ts'
import type { HolderFailure } from '../../rules/delegation/session-outcome.ts'
import { usageOf } from '../../rules/delegation/session-usage.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import { reviveSession } from './revive-session.ts'
import { inheritedPolicy } from '../../rules/policy/inherited-policy.ts'
import { shareTexts } from '../../rules/handles/handles-of.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { Component, EditedPart, Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { System, World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'
import { JournalWriter } from '../loop/journal-writer.ts'
import { restored } from '../loop/stored-ticks.ts'
import type { HeldWorld } from '../loop/stored-world.ts'
import { withStandard } from '../loop/with-standard.ts'
import {
  agentOf,
  type ChildRunner,
  isOver,
  type ChildTies,
  type MakeChildRunner,
  type SessionEndData,
} from './child-run.ts'
import { joinTree, treeOf, type WorldTree } from './world-tree.ts'

export type MakeRunner = (world: World, ties: ChildTies, held: HeldWorld) => ChildRunner

export interface ChildWorldsParts {
  /** The parent's: children have its systems and its components. */
  readonly world: World
  readonly host: Host
  readonly store: Store | undefined
  readonly root: string
  readonly record: boolean | undefined
  /** The parent's journal, if the parent passes from process to process. */
  readonly shared?: JournalWriter | undefined
  readonly makeRunner: MakeRunner
}

export interface Beginning {
  readonly session: Pick<SubagentSessionData, 'denied' | 'resumedFrom' | 'sessionId'> & {
    readonly kind: WorldKind
    /** Absent: only its beginning is left. */
    readonly prompt: string | undefined
  }
  readonly agent: Entity
  readonly blueprint: BlueprintData
  readonly budgetOwner?: BudgetOwner | undefined
  readonly history: readonly Message[]
  readonly edited?: EditedPart | undefined
}

type MadeWorld =
  | { readonly world: World; readonly problem?: undefined }
  | { readonly world?: undefined; readonly problem: string }

const lostPrompt =
  'Only the beginning of the prompt is left: what kept the rest is gone. Launch the session anew with its whole task.'

/** Without a store, so many of the newest ended Worlds are kept in memory for further questions. */
const maxKept = 32

/** The Worlds of children: made, restored from the Store, or, without one, kept for a while. */
export class ChildWorlds {
  readonly #parts: ChildWorldsParts
  readonly #tree: WorldTree
  readonly #kept = new Map<string, World>()

  constructor(parts: ChildWorldsParts) {
    this.#parts = parts
    this.#tree = treeOf(parts.world)
  }

  /** A Runner for a new child, or for one that continues another. A string says what the Host lacks. */
  async begin(beginning: Beginning): Promise<MakeChildRunner | string> {
    const made = await this.make(beginning)
    if (made.problem !== undefined) return made.problem
    const journal = await this.#openFresh(beginning.session.sessionId)
    return (ties) => this.#runner(made.world, ties, { journal })
  }

  /** The World of a new child, or of one that continues another, which is nowhere yet; or what the Host lacks. */
  async make(beginning: Beginning): Promise<MadeWorld> {
    const { resumedFrom } = beginning.session
    const continued = resumedFrom === undefined ? undefined : await this.#copy(resumedFrom, beginning)
    return continued ?? this.#make(beginning)
  }

  async goOn(sessionId: string): Promise<MakeChildRunner | undefined> {
    const { store } = this.#parts
    if (store === undefined) {
      const world = this.#inMemory(sessionId)
      return world && ((ties) => this.#runner(world, ties, {}))
    }
    const held = await this.#opened(sessionId, store)
    const { journal } = held
    try {
      const found = await journal.restore(this.#known)
      if (found !== undefined)
        return (ties) => this.#runner(found.world, ties, { ...held, lastEvents: found.lastEvents })
    } catch (error) {
      await journal.close()
      throw error
    }
    await journal.close()
    return undefined
  }

  async #opened(sessionId: string, store: Store): Promise<HeldWorld & { readonly journal: JournalWriter }> {
    const { host, root, record } = this.#parts
    if (host.seams.fleet === undefined) return { journal: await JournalWriter.open(sessionId, { store, root, record }) }
    // A worker that had it has told its end: it has nothing left to write.
    return JournalWriter.openShared(sessionId, { store: store as SharedStore, root, record, seize: true })
  }

  /** Keeps a World that is no longer driven, where no store has it. */
  keep(sessionId: string, world: World): void {
    if (this.#parts.store !== undefined || this.#tree.holders.has(sessionId)) return
    this.#kept.delete(sessionId)
    this.#kept.set(sessionId, world)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest)
  }

  async look(sessionId: string): Promise<World | undefined> {
    return this.#inMemory(sessionId) ?? (await this.#stored(sessionId))
  }

  /** What a session that is not driven has spent, with those below it. Of a lost one the cost is unknown. */
  async spentIn(sessionId: string): Promise<SessionUsage> {
    const world = await this.look(sessionId).catch(() => undefined)
    // Without a store, one that is not there has never begun.
    if (world === undefined)
      return { calls: 0, sessions: 0, ...(this.#parts.store !== undefined && { costUnknown: 1 }) }
    return spentBy(world, (below) => this.spentIn(below))
  }

  /** How a session ended, as its World says; `undefined`: it is lost. @throws `store-failed`, and what restoring throws */
  async endIn(sessionId: string): Promise<SessionEndData | undefined> {
    const world = await this.look(sessionId)
    return world?.get(agentOf(world), SessionEnd)
  }

  /** Saves the World of a holder, unless it exists; says why if it cannot. */
  async hold(
    agent: Entity,
    parts: Omit<HolderParts, 'above' | 'facts' | 'policy' | 'systems'>,
  ): Promise<HolderFailure | undefined> {
    const { host, store, root, record, shared } = this.#parts
    const { seams } = host
    const world = holderWorld({ ...parts, ...this.#inherited(agent) })
    if (store === undefined) {
      this.#tree.holders.set(world.name, world)
      seams.held?.(world)
      return undefined
    }
    let journal: JournalWriter | undefined
    try {
      if (shared === undefined) journal = await JournalWriter.open(world.name, { store, root, record })
    } catch (error) {
      return { phase: 'spawn', failure: storeFailure(error) }
    }
    try {
      if (journal === undefined) await shared?.place(world)
      else if (!(await journal.isTaken())) await journal.begin(world)
      seams.held?.(world)
      return undefined
    } catch (error) {
      return { phase: 'seed', failure: storeFailure(error) }
    } finally {
      await journal?.close()
    }
  }

  async remove(sessionId: string): Promise<void> {
    const { host, store } = this.#parts
    this.#tree.holders.delete(sessionId)
    try {
      await store?.delete(sessionId)
    } catch (error) {
      if (!(error instanceof EntiaError) || error.code !== 'no-such-world') throw error
    }
    host.seams.removed?.(sessionId)
  }

  close(): void {
    this.#kept.clear()
  }

  #inMemory(sessionId: string): World | undefined {
    return this.#kept.get(sessionId) ?? this.#tree.holders.get(sessionId)
  }

  #runner(world: World, ties: ChildTies, held: HeldWorld): ChildRunner {
    joinTree(world, this.#parts.world)
    return this.#parts.makeRunner(world, ties, held)
  }

  #inherited(agent: Entity): Pick<HolderParts, 'above' | 'facts' | 'policy' | 'systems'> {
    const { host, store, world } = this.#parts
    const above = world.get(agent, Ancestry)?.sessions ?? []
    const policy = inheritedPolicy(world, agent)
    return { above, facts: host.facts(store !== undefined), policy, systems: world.systems }
  }

  get #known(): { readonly systems: readonly System[]; readonly components: Iterable<Component> } {
    const { core, systems } = this.#parts.world
    return { systems, components: withStandard(core.tokens.values()) }
  }

  #make({ agent, session, ...beginning }: Beginning) {
    const { prompt } = session
    if (prompt === undefined) return { problem: lostPrompt }
    const catalogue = this.#parts.host
    const made = childWorld({ ...beginning, ...this.#inherited(agent), session: { ...session, prompt }, catalogue })
    if (made.problem === undefined) shareTexts(this.#parts.world, made.world)
    return made
  }

  async #copy(from: string, { agent, blueprint, session }: Beginning): Promise<{ readonly world: World } | undefined> {
    try {
      const world = await this.#stored(from, session.sessionId)
      if (world !== undefined) reviveSession(world, session, this.#inherited(agent), blueprint)
      return world && { world }
    } catch {
      // A journal that cannot be read is as good as none: the session starts over.
      return undefined
    }
  }

  async #stored(sessionId: string, name?: string): Promise<World | undefined> {
    const { store, root } = this.#parts
    const stored = await store?.read(sessionId, { root })
    return stored && restored(sessionId, stored, { ...this.#known, name }).world
  }

  /** Deletes what a process that ended too early left of a session that has not begun. */
  async #openFresh(sessionId: string): Promise<JournalWriter | undefined> {
    const { store, root, record } = this.#parts
    if (store === undefined) return undefined
    const journal = await JournalWriter.open(sessionId, { store, root, record })
    if (!(await journal.isTaken())) return journal
    await journal.close()
    await store.delete(sessionId)
    return JournalWriter.open(sessionId, { store, root, record })
  }
}

/**
 * What a session has spent that has stopped, as its World says, with own sessions of which that does not know yet. The cost of
 * calls that were cut is unknown.
 * @param spentIn what one of those has spent
 */
export async function spentBy(
  world: World,
  spentIn: (sessionId: string) => Promise<SessionUsage>,
): Promise<SessionUsage> {
  const own = world.entitiesWith(SubagentSession).map((session) => world.read(session, SubagentSession))
  const untold = own.filter(({ grant }) => grant !== undefined)
  const below = await Promise.all(untold.map(async ({ sessionId }) => ({ usage: await spentIn(sessionId) })))
  const calls = [...world.entitiesWith(ModelCall), ...world.entitiesWith(SideCall)]
  // A stop has charged those in flight.
  const cut = isOver(world) ? 0 : calls.filter((call) => world.has(call, Pending)).length
  const inFlight = { usage: { calls: 0, costUnknown: cut, sessions: 0 } }
  return usageOf(world, agentOf(world), cut > 0 ? [...below, inFlight] : below)
}

function storeFailure(error: unknown): HolderFailure['failure'] {
  return { kind: 'store-failed', message: thrownMessage(error) }
}
