import type { SessionStatus } from '../../index.ts'

/** How the lead or a session stands: `answering`: it has ended, and works on a further question. */
export type BranchState = SessionStatus | 'asleep' | 'answering' | 'stopped'

/** The lead, or a session, as the tree shows it. */
export interface Branch {
  /** The sessions above and its own, outermost first; empty: the lead. */
  readonly path: readonly string[]
  readonly name: string
  readonly state: BranchState
  /** Model calls so far. */
  readonly steps: number
  readonly tokens: number
  readonly durationMs: number
  /** What it does right now, or what came of it. */
  readonly doing: string
}
