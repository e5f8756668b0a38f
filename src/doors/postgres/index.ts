/** Worlds that pass from machine to machine, in Postgres. It needs the package `pg`, which users install themselves. */

export type { DueWorld, Placement, PostgresStore, SqlClient, SqlRow, WorkerInfo } from '../../stores/postgres/port.ts'
export { postgresStore, postgresStoreDefaults, type PostgresStoreOptions } from '../../stores/postgres/postgres.ts'
