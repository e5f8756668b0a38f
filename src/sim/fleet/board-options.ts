import type { SessionOrder } from '../../engine/children/session-fleet.ts'
import type { SharedStore } from '../../stores/port.ts'
import type { BoardEvent, PoolEvent } from '../law.ts'

export interface SimulatedBoardOptions {
  readonly store: SharedStore
  /** Most sessions with a slot at once, over all workers. */
  readonly cap: number
  /** Most of them of one tenant. @default `cap` */
  readonly tenantCap?: number
  /** Whose a root world is. @default all are of one tenant */
  readonly tenantOf?: (root: string) => string
  /** Milliseconds since 1970. */
  readonly date: () => number
  /** A worker that has not been heard for so long is thought dead. @default without limit */
  readonly leaseMs?: number
  /** A session whose holder died so often in a row is driven no more. @default 5 */
  readonly maxStrikes?: number
  /** Whether a world is held now in the holding with this epoch. @default any is */
  readonly isHeld?: (world: string, epoch: number) => boolean
  /** Takes the World of a session from whoever has it. @default it is not taken */
  readonly seize?: (order: Pick<SessionOrder, 'root' | 'sessionId'>) => Promise<void>
  /** Each change of the store is told by `changed()`: it is not looked at between two. @default false */
  readonly hearsChanges?: boolean
  /** Whether this giving is done twice. @default never */
  readonly isDoubled?: () => boolean
  readonly pool?: (event: PoolEvent) => void
  readonly told?: (event: BoardEvent) => void
}
