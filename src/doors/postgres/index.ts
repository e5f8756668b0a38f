/** Worlds that pass from machine to machine, in Postgres. It needs the package `pg`, which users install themselves. */

export type {
  Dispatcher,
  Holding,
  LaunchedSession,
  Placement,
  QueuedSession,
  SessionClaim,
  SessionCounts,
  SlotRequest,
  Suspects,
} from '../../stores/postgres/dispatcher.ts'
export type {
  DueWorld,
  FleetTotals,
  PostgresStore,
  SessionWorlds,
  SqlClient,
  SqlRow,
  StoreTotals,
  WorkerInfo,
} from '../../stores/postgres/port.ts'
export { postgresStore, postgresStoreDefaults, type PostgresStoreOptions } from '../../stores/postgres/postgres.ts'
export { defineFleet, type Fleet, type FleetStatus } from './fleet.ts'
export { fleetDefaults, type FleetOptions, type FleetWorkerOptions } from './fleet-options.ts'
export type { FleetWorker, WorkerMetrics } from './fleet-worker.ts'
export { type DispatcherPlace, type FleetDispatcher, postgresDispatcher } from './postgres-dispatcher.ts'
