import { refuseUnknownOptions } from '../../base/known-options.ts'
import { filledText, refuseMisfits } from '../../base/option-shapes.ts'
import type { FleetDispatcher } from '../postgres/postgres-dispatcher.ts'
import { DbosQueue } from './dbos-queue.ts'

/** Options of `dbosDispatcher`. */
export interface DbosDispatcherOptions {
  /** The application that sessions belong to: the `name` of your `DBOS.setConfig`, to see them beside its own workflows. @default 'entia' */
  readonly applicationName?: string
  /** The schema of DBOS's tables, in the database of the fleet. They are made if they are missing. @default 'dbos' */
  readonly schema?: string
}

/** What holds for `dbosDispatcher` where its options say nothing. */
export const dbosDispatcherDefaults = { applicationName: 'entia', schema: 'dbos' } as const

/**
 * Gives the sessions of a fleet to workers by a queue of DBOS Transact, a workflow each. Who is alive, and whose commits count, is
 * said by the tables of the fleet, as with `postgresDispatcher()`. It needs the package `@dbos-inc/dbos-sdk`.
 * @throws `invalid-argument`; by the calls of a fleet: `missing-peer`
 */
export function dbosDispatcher(options: DbosDispatcherOptions = {}): FleetDispatcher {
  refuseUnknownOptions('dbosDispatcher', options, ['applicationName', 'schema'])
  refuseMisfits('dbosDispatcher', options, { applicationName: filledText, schema: filledText })
  const { applicationName, schema } = { ...dbosDispatcherDefaults, ...options }
  return {
    name: 'dbos',
    hasTenantCaps: true,
    open: (place) => new DbosQueue({ ...place, applicationName, dbosSchema: schema }),
  }
}
