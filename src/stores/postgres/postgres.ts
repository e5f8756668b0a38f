import { z } from 'zod'
import { EntiaError } from '../../base/entia-error.ts'
import type { PostgresStore } from './port.ts'
import { type PostgresPlace, PostgresWorlds } from './postgres-store.ts'

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** Where the database is: `postgres://user:password@host:5432/database`. Behind a pooler of transactions, give `direct` too. */
  readonly database: string
  /**
   * The same database past a pooler of transactions, behind which `database` lies: for the one connection that listens, and holds
   * the lock by which others see that this worker lives. @default `database`
   */
  readonly direct?: string | undefined
  /** The schema of the tables, which is made if it is missing. @default 'entia' */
  readonly schema?: string | undefined
  /** A worker that says nothing for so long is thought dead, and others take over its worlds. At least 100. @default 10000 */
  readonly leaseMs?: number | undefined
  /** How long a lost connection is waited for, before `store-failed`. @default 30000 */
  readonly retryMs?: number | undefined
  /** How often letters are looked for whose notification was lost. @default 1000 */
  readonly pollMs?: number | undefined
  /** Connections besides the one that commits and the one that listens. 0: the one that commits does all else. @default 4 */
  readonly maxConnections?: number | undefined
  /** What `workers()` says of this store object. @default '' */
  readonly note?: string | undefined
}

/** What holds for `postgresStore` where its options say nothing. */
export const postgresStoreDefaults = {
  schema: 'entia',
  leaseMs: 10_000,
  retryMs: 30_000,
  pollMs: 1_000,
  maxConnections: 4,
  note: '',
} as const

const leastLeaseMs = 100
/** Postgres cuts longer names. */
const maxSchemaLength = 63

const optionsSchema = () =>
  z.strictObject({
    database: z.string().refine(isAddress, { error: 'must be such as postgres://user:password@host:5432/database' }),
    direct: z
      .string()
      .refine(isAddress, { error: 'must be such as postgres://user:password@host:5432/database' })
      .optional(),
    schema: z
      .string()
      .regex(/^[a-z_][a-z0-9_]*$/, { error: 'must have lower-case letters, digits and _ alone' })
      .max(maxSchemaLength)
      .default(postgresStoreDefaults.schema),
    leaseMs: z.int().min(leastLeaseMs).default(postgresStoreDefaults.leaseMs),
    retryMs: z.int().min(0).default(postgresStoreDefaults.retryMs),
    pollMs: z.int().positive().default(postgresStoreDefaults.pollMs),
    maxConnections: z.int().min(0).default(postgresStoreDefaults.maxConnections),
    note: z.string().default(postgresStoreDefaults.note),
  })

/**
 * A store in a Postgres database, for worlds that pass from machine to machine. It needs the package `pg`, and connects when it
 * is first used. Each store object is a worker of its own. @throws `config-invalid`
 */
export function postgresStore(options: PostgresStoreOptions): PostgresStore {
  return new PostgresWorlds(checkedPlace(options))
}

/** With what the options leave open. @throws `config-invalid` */
export function checkedPlace(options: PostgresStoreOptions): PostgresPlace {
  const checked = optionsSchema().safeParse(options)
  if (checked.success) return checked.data
  const problems = z.prettifyError(checked.error)
  throw new EntiaError('config-invalid', `The options of postgresStore are not usable:\n${problems}`)
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { password, pathname, protocol, username } = new URL(text)
  try {
    // The driver decodes them, and so do error messages.
    for (const part of [pathname, username, password]) decodeURIComponent(part)
  } catch {
    return false
  }
  return ['postgres:', 'postgresql:'].includes(protocol)
}
