import type { Dispatcher } from '../../stores/postgres/dispatcher.ts'
import type { PostgresStore } from '../../stores/postgres/port.ts'

/** A process of a fleet, as a dispatcher has to know it. */
export interface DispatcherPlace {
  /** Who it is and who else is alive, the Worlds of sessions, and transactions with what the dispatcher writes. */
  readonly store: PostgresStore
  /** As `defineFleet` was given it. It may hold a password. */
  readonly database: string
  /** The same past a pooler of transactions. @default it lies behind none */
  readonly direct?: string | undefined
  /** The schema of the tables of worlds. */
  readonly schema: string
}

/** What a fleet gives its sessions to workers with: an option of `defineFleet`, the same in every process of a fleet. */
export interface FleetDispatcher {
  /** For messages: `postgres`. */
  readonly name: string
  /** Whether a tenant can have a cap below that of all. False: `maxSessionsPerTenant` is refused. */
  readonly hasTenantCaps: boolean
  /**
   * Opens one process's end of the queue, once for each worker and once for a process that looks at it. It connects when it is
   * first used.
   * @throws by the calls of what it returns: `missing-peer`, `config-invalid`, `store-failed`
   */
  readonly open: (place: DispatcherPlace) => Dispatcher
}

/**
 * The dispatcher that a fleet has by default: a table beside those of worlds, so that a session's World and its place in the queue
 * are one transaction, and the cap and the tenants' shares hold together.
 */
export function postgresDispatcher(): FleetDispatcher {
  return { name: 'postgres', hasTenantCaps: true, open: ({ store }) => store.line }
}
