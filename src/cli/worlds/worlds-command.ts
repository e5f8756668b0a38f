import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { sqliteStore } from '../../index.ts'
import type { Store } from '../../stores/port.ts'
import { didYouMean } from '../../world/near-names.ts'
import { defaultData } from '../ask-arguments.ts'
import { lookOf } from '../chat/look.ts'
import { parsedWords, UsageError, wholeNumber } from '../parsed-words.ts'
import { listWorlds } from './list-worlds.ts'
import { showWorld } from './show-world.ts'
import type { WorldsOutput } from './world-lines.ts'

const worldsHelp = `Worlds in a store: what they do, and who has them open. Reads them without
opening them, so a program that drives a world is not disturbed.

  entia worlds list [PREFIX]     all worlds, or those whose name begins so
  entia worlds show NAME         agents, work in flight, sessions, last messages

  --store FOLDER     the folder of sqliteStore({ folder }) (default: ${defaultData})
  --all              list: worlds of sessions too. Without it, a line counts
                     them, their letters and their size to their root world
  --root NAME        show: the root world of a session's world. Finds it faster
  --messages N       show: the last N messages of each agent (default: 4)
  --from N           show: all ticks that the store still has from this one
  --to N             show: the world as it was after this tick
  --json             print JSON: one object a line
  --help             show this help

Exit codes: 0 done, 1 failed, 2 wrong arguments.
`

export interface WorldsPlace {
  readonly environment: NodeJS.ProcessEnv
  readonly cwd: string
  readonly stdout: NodeJS.WritableStream & {
    readonly columns?: number | undefined
    readonly isTTY?: boolean | undefined
  }
  /** Unix time. @default Date.now */
  readonly now?: () => number
}

const options = {
  store: { type: 'string' },
  all: { type: 'boolean' },
  root: { type: 'string' },
  messages: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

type Values = ReturnType<typeof parsedWords<typeof options>>['values']

interface Verb {
  /** Options that it takes besides `--store` and `--json`. */
  readonly takes: readonly (keyof Values)[]
  readonly run: (names: readonly string[], values: Values, store: Store, out: WorldsOutput) => Promise<number>
}

const defaultMessages = 4

const verbs: Readonly<Record<string, Verb>> = {
  list: {
    takes: ['all'],
    run(names, values, store, out) {
      if (names.length > 1) throw new UsageError(`entia worlds list takes one prefix, got ${names.join(' ')}.`)
      return listWorlds(store, { prefix: names[0] ?? '', isAll: values.all === true }, out)
    },
  },
  show: {
    takes: ['root', 'messages', 'from', 'to'],
    run([name, ...more], values, store, out) {
      if (name === undefined)
        throw new UsageError('entia worlds show needs the name of a world. entia worlds list shows them.')
      if (more.length > 0) throw new UsageError(`entia worlds show takes one world, got ${[name, ...more].join(' ')}.`)
      const [from, to] = [wholeNumber('--from', values.from, 0), wholeNumber('--to', values.to, 0)]
      if (from !== undefined && to !== undefined && from > to)
        throw new UsageError(`--from must be at most --to (${to}), got ${from}.`)
      const messages = wholeNumber('--messages', values.messages, 0) ?? defaultMessages
      return showWorld(store, { name, root: values.root, from, to, messages }, out)
    },
  },
}

/** `entia worlds`: returns the exit code. @throws UsageError, `no-such-world`, and what stores throw */
export async function worldsCommand(words: readonly string[], place: WorldsPlace): Promise<number> {
  const { values, positionals } = parsedWords(words, options)
  const { environment, now = Date.now, stdout } = place
  if (values.help === true) {
    stdout.write(worldsHelp)
    return 0
  }
  const [given = 'list', ...names] = positionals
  const verb = Object.hasOwn(verbs, given) ? verbs[given] : undefined
  if (verb === undefined)
    throw new UsageError(`There is no command 'entia worlds ${given}'.${didYouMean(given, Object.keys(verbs))}`)
  for (const name of Object.keys(values) as (keyof Values)[]) {
    if (name === 'store' || name === 'json' || verb.takes.includes(name)) continue
    const owner = Object.keys(verbs).find((other) => verbs[other]?.takes.includes(name))
    throw new UsageError(`--${name} is for entia worlds ${owner}.`)
  }
  const { where, store } = storeOf(values, place)
  const columns = stdout.isTTY === true ? (stdout.columns ?? 80) : undefined
  const out: WorldsOutput = {
    columns,
    isJson: values.json === true,
    look: lookOf(stdout, environment),
    nowMs: now(),
    where,
    write: (text) => stdout.write(text),
  }
  try {
    return await verb.run(names, values, store, out)
  } finally {
    await store.close()
  }
}

function storeOf({ store: given }: Values, { cwd }: WorldsPlace): { readonly where: string; readonly store: Store } {
  if (given?.trim() === '') throw new UsageError('--store must not be empty.')
  const where = given ?? defaultData
  const folder = resolve(cwd, where)
  const advice = 'Name the folder of sqliteStore({ folder }) with --store.'
  if (!existsSync(folder)) throw new UsageError(`There is no folder ${where} here. ${advice}`)
  if (!statSync(folder).isDirectory()) throw new UsageError(`${where} is a file, not a folder. ${advice}`)
  return { where, store: sqliteStore({ folder }) }
}
