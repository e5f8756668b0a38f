import type { StandardInput } from '../../protocol/input.ts'
import type { Step } from '../../world/journal.ts'
import type { World } from '../../world/world.ts'

/** A world that is driven: a root, or a session's. */
export interface DrivenWorld {
  readonly world: World
  /** Ids of the sessions above and its own, outermost first; empty: a root. */
  readonly path: readonly string[]
  /** It runs in a slot of the pool: it is a session's run, and no question to one that has ended. */
  readonly inSlot: boolean
}

/** A tick that is committed. */
export interface DrivenStep extends Step {
  /** Work was left over: another tick comes at once. */
  readonly again?: boolean
}

/** Where a simulation takes part in what the Runners of a Host do. Nothing here changes what they do by themselves. */
export interface HostSeams {
  /** A world is taken up, new or as its store has it. Nothing of it has begun. */
  readonly began?: (driven: DrivenWorld) => void
  /** The run id of a root world that has none. @default random, where the seed was left out and the world has a store */
  readonly newRun?: () => string | undefined
  /** A tick is committed. Nothing that it asked for has begun. */
  readonly ticked?: (driven: DrivenWorld, step: DrivenStep) => void
  /** A world is let go of. */
  readonly ended?: (driven: DrivenWorld) => void
  /** The World of a holder is durable, and rests. */
  readonly held?: (holder: World) => void
  /** What there was of a holder that is not to be is gone. */
  readonly removed?: (holder: string) => void
  /** Brings what the work of an effect has come to into its world: once, at once, unless a simulation does otherwise. */
  readonly deliver?: (driven: DrivenWorld, input: StandardInput, enter: () => void) => void
}
