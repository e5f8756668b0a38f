import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { sqliteStore } from '../../index.ts'
import { addressesIn } from '../../doors/postgres/addresses.ts'
import { type FleetPlace, fleetOutput } from '../fleet/fleet-output.ts'
import { closeAll, databaseOptions, isDatabase, type StoreAt, storesAt } from '../fleet/fleet-store.ts'
import { didYouMean } from '../../base/near-names.ts'
import { defaultData } from '../ask-arguments.ts'
import { parsedWords, UsageError, wholeNumber } from '../parsed-words.ts'
import { killWorld, releaseWorld } from './hold-world.ts'
import { listWorlds } from './list-worlds.ts'
import { showWorld } from './show-world.ts'
import type { WorldsOutput } from './world-lines.ts'

const worldsHelp = `Look at the worlds in a store: what they do, and who has them open. They are
read without being opened: a program that drives a world is not disturbed.

  entia worlds list [PREFIX]     all worlds, or those whose name begins so
  entia worlds show NAME         agents, work in flight, sessions, last messages
  entia worlds kill NAME         takes a root world from the worker that drives
                     it. Nobody drives it until it is released; letters wait
  entia worlds release NAME      lets workers drive a world again: one that was
                     killed, or that five workers in a row died of

  --store WHERE      the folder of sqliteStore({ folder }) (default: ${defaultData})
  --database URL     a database: postgres://user:password@host:5432/name;
                     of a fleet over several, each of them: give it again, or
                     write commas between them. kill and release need one
  --schema NAME      of the database: the schema of the fleet (default: entia)
  --all              list: worlds of sessions too. Without it, a line counts
                     them, their letters and their size to their root world
  --limit N          list: the first N root worlds (default: 200; --json: all)
  --root NAME        show and release: the root world of a session's world.
                     Finds it faster
  --reason TEXT      kill: what entia worlds says of it
  --messages N       show: the last N messages of each agent (default: 4)
  --from N           show: all ticks that the store still has from this one
  --to N             show: the world as it was after this tick
  --json             print JSON: one object a line
  --help             show this help

Exit codes: 0 done, 1 failed or not all could be read, 2 wrong arguments.
`

export interface WorldsPlace extends FleetPlace {
  readonly cwd: string
  /** Unix time. @default Date.now */
  readonly now?: () => number
}

const options = {
  store: { type: 'string', multiple: true },
  ...databaseOptions,
  reason: { type: 'string' },
  all: { type: 'boolean' },
  limit: { type: 'string' },
  root: { type: 'string' },
  messages: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

type Values = ReturnType<typeof parsedWords<typeof options>>['values']

interface Verb {
  /** Options that it takes besides those of the store and `--json`. */
  readonly takes: readonly (keyof Values)[]
  readonly run: (
    names: readonly string[],
    values: Values,
    stores: readonly StoreAt[],
    out: WorldsOutput,
  ) => Promise<number>
}

const defaultMessages = 4
const always: ReadonlySet<string> = new Set(['store', 'database', 'schema', 'json'])

const verbs: Readonly<Record<string, Verb>> = {
  list: {
    takes: ['all', 'limit'],
    run(names, values, stores, out) {
      if (names.length > 1) throw new UsageError(`entia worlds list takes one prefix, got ${names.join(' ')}.`)
      const limit = wholeNumber('--limit', values.limit, 1)
      return listWorlds(stores, { prefix: names[0] ?? '', isAll: values.all === true, limit }, out)
    },
  },
  show: {
    takes: ['root', 'messages', 'from', 'to'],
    run(names, values, stores, out) {
      const name = oneName('show', names)
      const [from, to] = [wholeNumber('--from', values.from, 0), wholeNumber('--to', values.to, 0)]
      if (from !== undefined && to !== undefined && from > to)
        throw new UsageError(`--from must be at most --to (${to}), got ${from}.`)
      const messages = wholeNumber('--messages', values.messages, 0) ?? defaultMessages
      return showWorld(stores, { name, root: values.root, from, to, messages }, out)
    },
  },
  kill: {
    takes: ['reason'],
    run: (names, { reason }, stores, out) => killWorld(stores, oneName('kill', names), reason, out),
  },
  release: {
    takes: ['root'],
    run: (names, { root }, stores, out) => releaseWorld(stores, oneName('release', names), root, out),
  },
}

function oneName(verb: string, [name, ...more]: readonly string[]): string {
  if (name === undefined)
    throw new UsageError(`entia worlds ${verb} needs the name of a world. entia worlds list shows them.`)
  if (more.length > 0) throw new UsageError(`entia worlds ${verb} takes one world, got ${[name, ...more].join(' ')}.`)
  return name
}

/** `entia worlds`: returns the exit code. @throws UsageError, `no-such-world`, and what stores throw */
export async function worldsCommand(words: readonly string[], place: WorldsPlace): Promise<number> {
  const { values, positionals } = parsedWords(words, options)
  const { now = Date.now, stdout } = place
  if (values.help === true) {
    stdout.write(worldsHelp)
    return 0
  }
  const [given = 'list', ...names] = positionals
  const verb = Object.hasOwn(verbs, given) ? verbs[given] : undefined
  if (verb === undefined)
    throw new UsageError(`There is no command 'entia worlds ${given}'.${didYouMean(given, Object.keys(verbs))}`)
  for (const name of Object.keys(values) as (keyof Values)[]) {
    if (always.has(name) || verb.takes.includes(name)) continue
    const owners = Object.keys(verbs).filter((other) => verbs[other]?.takes.includes(name))
    throw new UsageError(`--${name} is for entia worlds ${owners.join(' and ')}.`)
  }
  const stores = await storesOf(values, place)
  try {
    return await verb.run(names, values, stores, fleetOutput(place, stores, values.json === true, now()))
  } finally {
    await closeAll(stores)
  }
}

/** @throws UsageError, `config-invalid` */
async function storesOf({ database, schema, store = [] }: Values, { cwd }: WorldsPlace): Promise<readonly StoreAt[]> {
  const given = addressesIn([...store, ...(database ?? [])])
  if (given.includes('')) throw new UsageError(`--${store.includes('') ? 'store' : 'database'} must not be empty.`)
  const databases = given.filter(isDatabase)
  if (databases.length > 0 && databases.length === given.length) return storesAt(databases, schema)
  if (database !== undefined && store.length === 0)
    throw new UsageError('--database must be such as postgres://user:password@host:5432/name.')
  if (schema !== undefined) throw new UsageError('--schema is for a database: --database postgres://…')
  if (given.length > 1) throw new UsageError('Of several stores, each must be a database: --database postgres://….')
  const where = given[0] ?? defaultData
  const folder = resolve(cwd, where)
  const advice = 'Name the folder of sqliteStore({ folder }) with --store.'
  if (!existsSync(folder)) throw new UsageError(`There is no folder ${where} here. ${advice}`)
  if (!statSync(folder).isDirectory()) throw new UsageError(`${where} is a file, not a folder. ${advice}`)
  return [{ where, store: sqliteStore({ folder }) }]
}
