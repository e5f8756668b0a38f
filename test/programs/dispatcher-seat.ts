// A worker of a fleet that does with its dispatcher what lines of JSON on its standard input say, at once, and answers each with a
// line: { id, result } or { id, code, message }. It drives nothing.
// Usage: dispatcher-seat.ts <{ database, schema, leaseMs, cap, dispatcher } as JSON>
import { createInterface } from 'node:readline'
import { dbosDispatcher } from 'entia/dbos'
import { postgresDispatcher, postgresStore } from 'entia/postgres'
import { seatOver } from '../contracts/dispatcher-seat.ts'
import type { SeatOptions, SeatRequest } from '../parts/postgres/seat-process.ts'
import { abilitiesText } from '../../src/doors/postgres/known-workers.ts'
import { PostgresBoard } from '../../src/doors/postgres/postgres-board.ts'

const { cap, database, dispatcher, leaseMs, schema } = JSON.parse(process.argv[2] ?? '{}') as SeatOptions
const store = postgresStore({ database, schema, leaseMs })
const board = new PostgresBoard({
  store,
  dispatcher: (dispatcher === 'dbos' ? dbosDispatcher() : postgresDispatcher()).open({ store, database, schema }),
  kinds: ['desk'],
  maxSessions: cap,
  maxSessionsPerTenant: cap,
  tenantOf: () => '',
  quarantined: () => undefined,
})
await store.enter(abilitiesText({ worlds: ['desk'], tools: new Map(), providers: new Set() }))
const seat = seatOver(board)
const answer = (said: unknown): void => void process.stdout.write(`${JSON.stringify(said)}\n`)
answer({ id: 0 })

for await (const line of createInterface({ input: process.stdin })) {
  const { args, call, id } = JSON.parse(line) as SeatRequest
  const made = seat[call] as (...args: readonly unknown[]) => Promise<unknown>
  void made(...args.map((arg) => arg ?? undefined)).then(
    (result) => answer({ id, result }),
    ({ code, message }: { readonly code?: string; readonly message: string }) => answer({ id, code, message }),
  )
}
process.exit()
