import { thrownMessage } from '../../base/thrown-message.ts'
import { EntiaError } from '../../base/entia-error.ts'

/** Ends of connections, of servers and of transactions that hung, serialization and deadlocks: nothing is wrong with what was asked. */
const passing = /^(?:08...|25P03|40001|40P01|53300|55P03|57P0[1-5])$/

/** Whether the same may succeed later. Whether it was done is not known. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof EntiaError) return false
  const state = stateOf(error)
  if (state !== undefined) return passing.test(state)
  // Of the driver and of the sockets below it, which have no codes in common.
  return 'syscall' in error || /connection (?:error|terminated|timeout)|timeout e/i.test(error.message)
}

/** User, rights, database, schema, tables, columns, functions: no later try finds them otherwise, until somebody mends them. */
const lasting = /^(?:28|3D|3F|42)/

/** Whether what the store throws is the same at each later try. */
export function isLasting(error: unknown): boolean {
  if (!(error instanceof EntiaError)) return false
  const { code, details } = error
  const { state } = details
  return code === 'config-invalid' || code === 'newer-version' || (typeof state === 'string' && lasting.test(state))
}

/** The five characters by which Postgres names an error. */
function stateOf(error: Error): string | undefined {
  if (!('severity' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && error.code.length === 5 ? error.code : undefined
}

/** What to do about errors, by their state. */
const advice: readonly (readonly [state: RegExp, code: 'config-invalid' | 'store-failed', todo: string])[] = [
  [/^28/, 'config-invalid', "Check the user and the password in 'database'."],
  [/^3D000$/, 'config-invalid', "Make the database, or name another in 'database'."],
  [
    /^42501$/,
    'store-failed',
    'Give the role of this connection what it lacks: CREATE ON DATABASE for the first start, or a schema that it owns; after ' +
      'that USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on its tables, and EXECUTE on its functions.',
  ],
  [
    /^25006$/,
    'store-failed',
    "The server takes no writes: it is a standby, or default_transaction_read_only is on. Name the primary in 'database'.",
  ],
  [/^53100$/, 'store-failed', 'Free space on the disk of the server, and try again.'],
  [/^(?:53300|57P03)$/, 'store-failed', 'Raise max_connections, or wait until the server has started.'],
  [
    /^(?:42P01|42703)$/,
    'store-failed',
    'The tables are not those of its version: were they changed? Put a backup in their place.',
  ],
]

/** Makes an error of Postgres or of the connection one that names the place and says what to do. Our own errors stay. */
export function explained(error: unknown, place: string): EntiaError {
  if (error instanceof EntiaError) return error
  const cause = error instanceof Error ? messageOf(error) : String(error)
  const state = error instanceof Error ? stateOf(error) : undefined
  const [, code, todo] = advice.find(([states]) => state !== undefined && states.test(state)) ?? [
    undefined,
    'store-failed' as const,
    'Mend the cause (address, network, server, rights) and try again.',
  ]
  return new EntiaError(
    code,
    `The store cannot use ${place}: ${cause}. ${todo}`,
    { place, cause, ...(state === undefined ? {} : { state }) },
    { cause: error },
  )
}

/** Where several addresses were tried, each has failed for its own reason. */
function messageOf(error: Error): string {
  if (!(error instanceof AggregateError) || error.message !== '') return error.message
  return error.errors.map(thrownMessage).join('; ')
}
