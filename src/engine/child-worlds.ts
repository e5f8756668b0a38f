import type { WorldKind } from '../../components/ancestry.ts'
import { Blueprint, type BlueprintData, SharedHistory } from '../../components/blueprint.ts'
import type { HostFactsData } from '../../components/host-facts.ts'
import type { SubagentSessionData } from '../../components/subagent-session.ts'
import type { Store } from '../stores/port.ts'
import { childWorld } from '../subagents/child-world.ts'
import { type HolderParts, holderWorld } from '../subagents/holder-world.ts'
import type { Payer } from '../subagents/payer.ts'
import { reviveSession } from '../subagents/revive-session.ts'
import type { Component, Entity } from '../world/component.ts'
import type { WorldEvent } from '../world/input.ts'
import type { System, World } from '../world/world.ts'
import type { ChildRunner, MakeChildRunner } from './child-run.ts'
import type { Host } from './host.ts'
import { Keeper } from './keeper.ts'
import type { Lineage } from './lineage.ts'
import { thrownMessage } from '../tools/thrown-message.ts'
import type { HolderFailure } from '../subagents/holder-outcome.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { WorldTree } from './world-tree.ts'
import { withStandard } from './with-standard.ts'

/** Makes a Runner for the World of a session. */
export type MakeRunner = (
  world: World,
  sessionId: string,
  ties: Pick<Lineage, 'committed' | 'failed' | 'mayCall' | 'slot'>,
  held: HeldWorld,
) => ChildRunner

/** What keeps the World of a session, if a store does. */
interface HeldWorld {
  readonly keeper?: Keeper | undefined
  /** What the newest tick told, which may not have been heard. */
  readonly told?: readonly WorldEvent[]
}

/** Where the Worlds of sessions come from. */
export interface ChildWorldsParts {
  readonly host: Host
  readonly store: Store | undefined
  readonly root: string
  /** Keep all ticks, as of the parent's world. */
  readonly record: boolean | undefined
  readonly systems: readonly System[]
  readonly tree: WorldTree
  readonly makeRunner: MakeRunner
}

/** What a session is begun from. */
export interface Beginning {
  readonly session: Pick<SubagentSessionData, 'denied' | 'resumedFrom' | 'sessionId'> & {
    readonly kind: WorldKind
    /** Absent: all but the beginning of it is gone. */
    readonly prompt: string | undefined
  }
  readonly above: readonly { readonly kind: WorldKind; readonly sessionId: string }[]
  readonly blueprint: BlueprintData
  readonly payer?: Payer | undefined
  readonly history: Parameters<typeof childWorld>[0]['history']
  readonly facts: HostFactsData
  readonly components: Iterable<Component>
}

/** It lay in memory, or in a folder that is not there any more. */
const lostPrompt =
  'Only the beginning of the prompt is left: what kept the rest is gone. Launch the session anew with its whole task.'

/** Without a store, so many ended Worlds are kept in memory, the newest, so that they can be asked further questions. */
const maxKept = 32

/** The Worlds of sessions: made, restored from the Store, or, without one, kept for a while. */
export class ChildWorlds {
  readonly #parts: ChildWorldsParts
  readonly #kept = new Map<string, World>()

  constructor(parts: ChildWorldsParts) {
    this.#parts = parts
  }

  /**
   * A Runner for a session that begins: anew, or from where another one was left that it goes on with. A text: what the Host
   * lacks.
   */
  async begin(beginning: Beginning): Promise<MakeChildRunner | string> {
    const { session } = beginning
    const { sessionId, resumedFrom } = session
    const continued = resumedFrom === undefined ? undefined : await this.#copy(resumedFrom, beginning)
    const made = continued ?? this.#make(beginning)
    if ('problem' in made) return made.problem
    const keeper = await this.#openFresh(sessionId)
    return (ties) => this.#parts.makeRunner(made.world, sessionId, ties, { keeper })
  }

  /** A Runner for a session whose World is there already; `undefined` if it is not. */
  async goOn(sessionId: string, components: Iterable<Component>): Promise<MakeChildRunner | undefined> {
    const { store, makeRunner } = this.#parts
    if (store === undefined) {
      const world = this.#inMemory(sessionId)
      return world && ((ties) => makeRunner(world, sessionId, ties, {}))
    }
    const keeper = await Keeper.open(sessionId, { store, root: this.#parts.root, record: this.#parts.record })
    try {
      const found = await keeper.restore({ systems: this.#parts.systems, components: withStandard(components) })
      if (found !== undefined) return (ties) => makeRunner(found.world, sessionId, ties, { keeper, told: found.told })
    } catch (error) {
      await keeper.close()
      throw error
    }
    await keeper.close()
    return undefined
  }

  /** Keeps a World that is not driven any more, if there is no store that has it. */
  keep(sessionId: string, world: World): void {
    if (this.#parts.store !== undefined || this.#parts.tree.holders.has(sessionId)) return
    this.#kept.delete(sessionId)
    this.#kept.set(sessionId, world)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest)
  }

  /** A World as it was last committed, to be looked at. */
  async look(sessionId: string): Promise<World | undefined> {
    return this.#inMemory(sessionId) ?? (await this.#stored(sessionId, []))
  }

  /** Writes the World of a holder down, once, and lets it rest; or says why it is not there. */
  async hold(parts: HolderParts): Promise<HolderFailure | undefined> {
    const { host, store, root, record, tree } = this.#parts
    const { seams } = host
    const world = holderWorld(parts)
    if (store === undefined) {
      tree.holders.set(world.name, world)
      seams.held?.(world)
      return undefined
    }
    let keeper: Keeper
    try {
      keeper = await Keeper.open(world.name, { store, root, record })
    } catch (error) {
      return { phase: 'spawn', failure: storeFailure(error) }
    }
    try {
      if (!(await keeper.isTaken())) await keeper.begin(world)
      seams.held?.(world)
      return undefined
    } catch (error) {
      return { phase: 'seed', failure: storeFailure(error) }
    } finally {
      await keeper.close()
    }
  }

  /** Removes the World of a holder, if it is there. */
  async remove(sessionId: string): Promise<void> {
    const { host, store, tree } = this.#parts
    tree.holders.delete(sessionId)
    try {
      await store?.delete(sessionId)
    } catch (error) {
      if (!(error instanceof EntiaError) || error.code !== 'no-such-world') throw error
    }
    host.seams.removed?.(sessionId)
  }

  async close(): Promise<void> {
    this.#kept.clear()
  }

  #inMemory(sessionId: string): World | undefined {
    return this.#kept.get(sessionId) ?? this.#parts.tree.holders.get(sessionId)
  }

  #make(beginning: Beginning) {
    const { host, systems } = this.#parts
    const { session } = beginning
    const { prompt } = session
    if (prompt === undefined) return { problem: lostPrompt }
    return childWorld({ ...beginning, session: { ...session, prompt }, systems, catalogue: host })
  }

  /** A copy of another session's World, under the name of the one that goes on with it. */
  async #copy(from: string, beginning: Beginning): Promise<{ readonly world: World } | undefined> {
    const { session, above, blueprint, components } = beginning
    try {
      const world = await this.#stored(from, components, session.sessionId)
      if (world !== undefined) reviveSession(world, session, above, blueprint)
      return world && { world }
    } catch {
      // A journal that cannot be read is as good as none: the session starts over.
      return undefined
    }
  }

  async #stored(sessionId: string, components: Iterable<Component>, name?: string): Promise<World | undefined> {
    const { store, systems, root } = this.#parts
    if (store === undefined) return undefined
    const keeper = await Keeper.open(sessionId, { store, root })
    try {
      const found = await keeper.restore({ systems, components: withStandard(components), name })
      return found?.world
    } finally {
      await keeper.close()
    }
  }

  /** What is there of a session that has not begun is left of a process that ended before it could. */
  async #openFresh(sessionId: string): Promise<Keeper | undefined> {
    const { store, root, record } = this.#parts
    if (store === undefined) return undefined
    const keeper = await Keeper.open(sessionId, { store, root, record })
    if (!(await keeper.isTaken())) return keeper
    await keeper.close()
    await store.delete(sessionId)
    return Keeper.open(sessionId, { store, root, record })
  }
}

function storeFailure(error: unknown): HolderFailure['failure'] {
  return { kind: 'store-failed', message: thrownMessage(error) }
}

/** What a session that has not begun is made from, as its parent's World has it. */
export function beginningOf(world: World, blueprint: Entity): Pick<Beginning, 'blueprint' | 'history'> {
  return { blueprint: world.read(blueprint, Blueprint), history: world.get(blueprint, SharedHistory) ?? [] }
}
