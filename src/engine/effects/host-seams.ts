import type { SessionFleet } from '../children/session-fleet.ts'
import type { StandardInput } from '../../protocol/input.ts'
import type { Store } from '../../stores/port.ts'
import type { Tool } from '../../tools/port.ts'
import type { Entity } from '../../world/component.ts'
import type { Step } from '../../world/journal.ts'
import type { World } from '../../world/world.ts'

export interface DrivenWorld {
  readonly world: World
  /** Ids of the sessions above and its own, outermost first; empty: a root. */
  readonly path: readonly string[]
  /** It runs in a slot of the pool: a session, not a query to one that has ended. */
  readonly inSlot: boolean
}

/** What can be done to a world while it is driven: the calls of its Runner. */
export interface WorldCommands {
  post(input: StandardInput, options?: { readonly id?: string }): Promise<number | undefined>
  message(agent: Entity, text: string): Promise<number | undefined>
  cancel(agent: Entity, reason?: string): Promise<void>
  change<T>(change: (world: World) => T): Promise<T>
  resetCostCeiling(agent: Entity, options: { readonly addSessionUsd?: number | undefined }): Promise<void>
  subagents(agent: Entity): { cancel(sessionId: string): Promise<boolean> }
}

/** A world that a Runner of a Host drives now. */
export interface DrivenNow extends DrivenWorld {
  readonly commands: WorldCommands
  /** The name of the root world that it belongs to. */
  readonly root: string
  /** Where it is kept. Absent: in memory only. */
  readonly store: Store | undefined
}

/** Hears each tick of each world that is driven, once it is committed. */
export type TickListener = (driven: DrivenNow, step: DrivenStep) => void

export interface DrivenStep extends Step {
  /** Another tick follows at once. */
  readonly again?: boolean
}

/** Tools that come and go while a Host is at work. */
export interface FurtherTools {
  /** The handler of a tool that is not among the Host's own. */
  readonly tool?: (name: string) => Tool | undefined
}

/** Hooks of a simulation, and of a fleet, into the Runners of a Host. */
export interface HostSeams {
  /** Runs sessions elsewhere. @default each in the process of its parent */
  readonly fleet?: SessionFleet
  /** A world starts, new or restored. No effect has begun. */
  readonly began?: (driven: DrivenWorld) => void
  /** The run id of a root world that has none. @default random, where the seed was left out and the world has a store */
  readonly newRun?: () => string | undefined
  /** A tick is about to be committed, in as many tries as it takes. */
  readonly committing?: (driven: DrivenWorld, step: DrivenStep) => void
  /** A tick is committed. None of its effects has begun. */
  readonly ticked?: (driven: DrivenWorld, step: DrivenStep) => void
  readonly ended?: (driven: DrivenWorld) => void
  readonly held?: (holder: World) => void
  readonly removed?: (holder: string) => void
  /** Delivers the outcome of an effect to its world. @default once, at once */
  readonly deliver?: (driven: DrivenWorld, input: StandardInput, enter: () => void) => void
}
