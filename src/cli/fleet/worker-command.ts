import { addressesIn } from '../../doors/postgres/addresses.ts'
import type { FleetWorkerOptions } from '../../doors/postgres/index.ts'
import { cleanName, plainText } from '../../tools/files/clean-text.ts'
import type { Interruption } from '../interruption.ts'
import { parsedWords, UsageError, wholeNumber } from '../parsed-words.ts'
import { many } from '../terminal/amounts.ts'
import { shownDatabase } from './fleet-store.ts'
import { loadFleet } from './load-fleet.ts'
import { type HealthPlace, healthPlace, serveHealth } from './worker-health.ts'

const workerHelp = `Work for a fleet: drive worlds and sessions that are due, until it is stopped.
Start as many as you like, on as many machines; what one of them held when it
died goes on in another.

  entia worker agents.ts

The file says: export default defineFleet({ … }), with defineFleet of
'entia/postgres'. It is the same for all workers and for programs that post.

  --database URL   sets DATABASE_URL before the file is loaded, which reads it:
                   postgres://user:password@host:5432/name; of a fleet over
                   several, each of them in its order: give it again, or write
                   commas between them
  --sessions N     runs at most N sessions at once (default: 20); those that
                   only wait do not count
  --worlds N       holds at most N root worlds at once (default: 200)
  --note TEXT      what entia workers says of it
  --health PORT    serves /health and /metrics at 127.0.0.1:PORT; HOST:PORT for
                   another address
  --help           show this help

SIGTERM and SIGINT let go of all that it holds, which goes on elsewhere, and end
it with 0. Tools that may run but once get 30 s to end. A second one ends it at
once.

Exit codes: 0 stopped, 1 failed, 2 wrong arguments.
`

export interface WorkerPlace {
  readonly environment: NodeJS.ProcessEnv
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly interruption: () => Interruption
}

interface WorkerArguments {
  readonly file: string
  /** Several with commas between them. */
  readonly database: string | undefined
  readonly health: HealthPlace | undefined
  readonly options: Pick<FleetWorkerOptions, 'note' | 'sessions' | 'worlds'>
}

/** While the database is away, nothing else may keep the program. */
const keptForMs = 3_600_000

/** `entia worker`: works until it is interrupted. Returns the exit code. @throws UsageError, and what `fleet.work` throws */
export async function workerCommand(words: readonly string[], place: WorkerPlace): Promise<number> {
  const given = workerArguments(words)
  if (given === undefined) {
    place.stdout.write(workerHelp)
    return 0
  }
  const { environment, stderr, stdout } = place
  const { database, file, health, options } = given
  if (database !== undefined) environment['DATABASE_URL'] = database
  const fleet = await loadFleet(file, environment['DATABASE_URL'] !== undefined)
  if (database !== undefined && !isSame(addressesIn(fleet.database), addressesIn(database))) {
    const advice = `Write database: process.env.DATABASE_URL ?? '' in ${file}, or leave out --database.`
    throw new UsageError(`${file} names another database than --database. ${advice}`)
  }
  const { signal } = place.interruption()
  const kept = setInterval(() => undefined, keptForMs)
  let served: { close(): Promise<void> } | undefined
  const over = Promise.withResolvers<Error>()
  try {
    const worker = await fleet.work({
      ...options,
      unfit: (world, _, message) => sayUnfit(world, message, stderr),
      failed: (error, isOver) => {
        if (isOver) over.resolve(error)
        else stderr.write(`entia: the database cannot be used now, and is tried again: ${plainText(error.message)}\n`)
      },
    })
    stdout.write(`entia: worker ${worker.id} works for the fleet in ${shownDatabase(fleet.database)}.\n`)
    if (health !== undefined) {
      const { address, close } = await serveHealth(health, worker)
      served = { close }
      stdout.write(`entia: ${address}/health and ${address}/metrics say how it does.\n`)
    }
    const stopped = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined))
      if (signal.aborted) resolve(undefined)
    })
    const failure = await Promise.race([over.promise, stopped])
    if (failure !== undefined) throw failure
    const { sessions, worlds } = worker.holds
    stdout.write(`entia: stops, and hands on ${many(worlds, 'world')} and ${many(sessions, 'session')}.\n`)
    return 0
  } finally {
    clearInterval(kept)
    await served?.close()
    await fleet.close()
  }
}

/** `undefined`: the help is asked for. @throws UsageError */
export function workerArguments(words: readonly string[]): WorkerArguments | undefined {
  const { positionals, values } = parsedWords(words, {
    database: { type: 'string', multiple: true },
    sessions: { type: 'string' },
    worlds: { type: 'string' },
    note: { type: 'string' },
    health: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) return undefined
  const [file, ...more] = positionals
  if (file === undefined)
    throw new UsageError('entia worker needs the file that exports the fleet, such as: entia worker agents.ts.')
  if (more.length > 0) throw new UsageError(`entia worker takes one file, got ${positionals.join(' ')}.`)
  const { health, note } = values
  const database = values.database === undefined ? undefined : addressesIn(values.database)
  if (database?.includes('') === true) throw new UsageError('--database must not be empty.')
  const sessions = wholeNumber('--sessions', values.sessions, 0)
  const worlds = wholeNumber('--worlds', values.worlds, 0)
  return {
    file,
    database: database?.join(','),
    health: health === undefined ? undefined : healthPlace(health),
    options: {
      ...(note !== undefined && { note }),
      ...(sessions !== undefined && { sessions }),
      ...(worlds !== undefined && { worlds }),
    },
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((address, at) => address === other[at])
}

function sayUnfit(world: string, message: string, stderr: WorkerPlace['stderr']): void {
  stderr.write(`entia: world '${cleanName(world)}' is not driven here now: ${plainText(message)}\n`)
}
