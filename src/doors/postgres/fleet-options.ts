import { type HostOptions, hostOptionNames, type ToolChangePolicy } from '../../engine/effects/host-options.ts'
import type { Component, Entity } from '../../world/component.ts'
import { EntiaError, type EntiaErrorCode } from '../../base/entia-error.ts'
import { refuseUnknownOptions } from '../../base/known-options.ts'
import {
  callback,
  count,
  countFromZero,
  flag,
  refuseMisfit,
  refuseMisfits,
  table,
  text,
} from '../../base/option-shapes.ts'
import type { System, World } from '../../world/world.ts'
import type { FleetDispatcher } from './postgres-dispatcher.ts'

/** Besides these, the options of the Host that each worker has: models, tools, prices … */
export interface FleetOptions extends Omit<HostOptions, 'clock' | 'maxSessions' | 'sessionPool'> {
  /**
   * Where the database is: `postgres://user:password@host:5432/database`; several as a list, or with commas between them. Then each
   * root world is in one of them with its sessions, by a hash of its name. The list stays as it is from the first use on, in its
   * order; addresses in it may change.
   */
  readonly database: string | readonly string[]
  /**
   * The same databases, in the same order, past a pooler of transactions, behind which `database` lies: for the one connection of a
   * process that listens. @default `database`
   */
  readonly direct?: string | readonly string[]
  /** Connections of a process to each database, besides the one that commits and the one that listens. 0: the former does all. @default 4 */
  readonly maxConnections?: number
  /**
   * Makes the worlds that the store does not have, by the first part of their names: `desk` makes `desk` and `desk/4711`. The
   * world has the name that it is given.
   */
  readonly worlds: Readonly<Record<string, (name: string) => World>>
  /** The systems of all worlds. @default standardSystems() */
  readonly systems?: readonly System[]
  /** Components besides the standard ones that worlds have. @default none */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
  /** The agent that is spoken to. @default the only one of the world */
  readonly agentOf?: (world: World) => Entity
  /** Most sessions that run at once, on all workers together. Several databases have equal parts of it. @default 50 */
  readonly maxSessions?: number
  /** Whose a root world is. Each tenant gets its share of the sessions. @default what stands before the last `/` of its name */
  readonly tenantOf?: (world: string) => string
  /**
   * Most sessions of one tenant that run at once, where the dispatcher has such caps. Several databases have equal parts of it.
   * @default `maxSessions`
   */
  readonly maxSessionsPerTenant?: number
  /** What gives sessions to workers: the same in every process. @default postgresDispatcher() */
  readonly dispatcher?: FleetDispatcher
  /** Milliseconds without work or letters after which a world is parked. @default 30000 */
  readonly idleMs?: number
  /**
   * What happens to tools of saved agents that workers declare differently, or that no living worker has: as in one process.
   * Absent: changed declarations are replaced, and a world with a tool that no living worker has waits for one that has it.
   */
  readonly onToolChange?: ToolChangePolicy
  /** Keep all ticks in the database, to replay runs. @default false */
  readonly record?: boolean
  /** The schema of the tables. @default 'entia' */
  readonly schema?: string
  /** A worker that says nothing for so long is thought dead. @default 10000 */
  readonly leaseMs?: number
}

/** What holds where the options of a fleet say nothing. */
export const fleetDefaults = {
  maxSessions: 50,
  idleMs: 30_000,
  schema: 'entia',
  leaseMs: 10_000,
  sessionsPerWorker: 20,
  worldsPerWorker: 200,
  onceMs: 30_000,
} as const

/** Options of a worker. */
export interface FleetWorkerOptions {
  /** Most sessions that run in it at once. Those that wait for their own sessions or for people do not count. @default 20 */
  readonly sessions?: number
  /** Most root worlds that it holds at once. @default 200 */
  readonly worlds?: number
  /** What the list of workers says of it. @default '' */
  readonly note?: string
  /** A world cannot be driven here now. It is tried again after a while. */
  readonly unfit?: (world: string, code: EntiaErrorCode | undefined, message: string) => void
  /**
   * The worker cannot use the database. `isOver`: it never will, because rights or tables are missing, so it has stopped; otherwise
   * it tries again. @default a process warning with the code `ENTIA_WORKER_FAILED`
   */
  readonly failed?: (error: Error, isOver: boolean) => void
}

const ownNames = [
  'agentOf',
  'components',
  'database',
  'direct',
  'dispatcher',
  'idleMs',
  'leaseMs',
  'maxConnections',
  'maxSessions',
  'maxSessionsPerTenant',
  'record',
  'schema',
  'systems',
  'tenantOf',
  'worlds',
]
const hostNames = hostOptionNames.filter((name) => !['clock', 'maxSessions', 'sessionPool'].includes(name))

/** @throws `invalid-argument` */
export function checkFleet(options: FleetOptions): void {
  refuseUnknownOptions('defineFleet', options, [...ownNames, ...hostNames])
  refuseMisfit('defineFleet', 'worlds', options.worlds, table)
  for (const [kind, make] of Object.entries(options.worlds))
    refuseMisfit('defineFleet', `worlds.${kind}`, make, callback)
  refuseMisfits('defineFleet', options, {
    agentOf: callback,
    idleMs: countFromZero,
    maxSessions: count,
    maxSessionsPerTenant: count,
    record: flag,
    tenantOf: callback,
  })
  checkDispatcher(options)
}

/** @throws `invalid-argument` */
function checkDispatcher({ dispatcher, maxSessionsPerTenant }: FleetOptions): void {
  if (dispatcher === undefined) return
  refuseMisfit('defineFleet', 'dispatcher', dispatcher, table)
  refuseMisfit('defineFleet', 'dispatcher.open', dispatcher.open, callback)
  if (maxSessionsPerTenant === undefined || dispatcher.hasTenantCaps) return
  throw new EntiaError(
    'invalid-argument',
    `defineFleet: the dispatcher '${dispatcher.name}' has no cap for each tenant, got maxSessionsPerTenant ${maxSessionsPerTenant}. Leave one of the two out.`,
  )
}

/** @throws `invalid-argument` */
export function checkedWork(options: FleetWorkerOptions) {
  refuseUnknownOptions('fleet.work', options, ['failed', 'note', 'sessions', 'unfit', 'worlds'])
  refuseMisfits('fleet.work', options, {
    failed: callback,
    note: text,
    sessions: countFromZero,
    unfit: callback,
    worlds: countFromZero,
  })
  const { sessionsPerWorker, worldsPerWorker } = fleetDefaults
  const { failed = warnOfFailure, note = '', sessions = sessionsPerWorker, unfit, worlds = worldsPerWorker } = options
  return { failed, note, sessions, unfit, worlds }
}

function warnOfFailure(error: Error, isOver: boolean): void {
  const what = isOver ? 'It has stopped.' : 'It tries again.'
  process.emitWarning(`A worker of a fleet cannot use the database: ${error.message} ${what}`, {
    type: 'EntiaWarning',
    code: 'ENTIA_WORKER_FAILED',
    detail: 'Give fleet.work({ failed }) to hear of it.',
  })
}

/** Those of the Host of each worker. */
export function hostOptionsOf(options: FleetOptions): HostOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => hostNames.includes(name as never)))
}
