/** Worlds that pass from machine to machine, in Postgres. It needs the package `pg`, which users install themselves. */

export type {
  DueWorld,
  FleetTotals,
  LineClaim,
  LineInfo,
  LinePlace,
  Placement,
  PostgresStore,
  SessionLine,
  SqlClient,
  SqlRow,
  WorkerInfo,
} from '../../stores/postgres/port.ts'
export { postgresStore, postgresStoreDefaults, type PostgresStoreOptions } from '../../stores/postgres/postgres.ts'
export {
  defineFleet,
  type Fleet,
  fleetDefaults,
  type FleetOptions,
  type FleetStatus,
  type FleetWorker,
  type FleetWorkerOptions,
  type WorkerMetrics,
} from './fleet.ts'
