import type { FleetTotals, QueuedSession } from '../../doors/postgres/index.ts'
import { parsedWords, UsageError, wholeNumber } from '../parsed-words.ts'
import { tableLines } from '../table-lines.ts'
import { many } from '../terminal/amounts.ts'
import { ageText, type WorldsOutput, writeLines } from '../worlds/world-lines.ts'
import { type FleetPlace, fleetOutput } from './fleet-output.ts'
import { closeAll, databaseColumn, databaseHelp, databaseOptions, fleetStores, readEach } from './fleet-store.ts'

const defaultLimit = 50

const queueHelp = `Show the sessions of a fleet that have a slot, those that wait for one in their
order, and the letters that wait for worlds.

  entia queue

${databaseHelp}
  --tenant NAME   sessions of this tenant alone
  --limit N       the first N sessions (default: ${defaultLimit}; --json has all)
  --json          print JSON: one session a line, the totals last
  --help          show this help

Exit codes: 0 done, 1 not all could be read, 2 wrong arguments.
`

type Listed = QueuedSession & { readonly database?: string }

/** `entia queue`: returns the exit code. @throws UsageError, and what the store throws */
export async function queueCommand(words: readonly string[], place: FleetPlace): Promise<number> {
  const { positionals, values } = parsedWords(words, {
    ...databaseOptions,
    tenant: { type: 'string' },
    limit: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) {
    place.stdout.write(queueHelp)
    return 0
  }
  if (positionals.length > 0) throw new UsageError(`entia queue takes no words, got ${positionals.join(' ')}.`)
  const limit = wholeNumber('--limit', values.limit, 0)
  const stores = await fleetStores('queue', values, place.environment)
  try {
    const out = fleetOutput(place, stores, values.json === true)
    const read = await readEach(stores, out.report, async (store) => {
      const [sessions, held, counts] = await Promise.all([store.line.list(), store.totals(), store.line.counts()])
      return { sessions, totals: { ...held, ...counts } }
    })
    const totals = totalsOf(read.map(({ value }) => value.totals))
    const all = read.flatMap(({ from, value }) =>
      value.sessions.map((session): Listed => ({ ...databaseColumn(stores, from), ...session })),
    )
    const { tenant } = values
    const sessions = inLine(tenant === undefined ? all : all.filter((session) => session.tenant === tenant))
    if (out.isJson) {
      for (const session of sessions.slice(0, limit)) out.write(`${JSON.stringify(session)}\n`)
      out.write(`${JSON.stringify(totals)}\n`)
    } else writeLines(linesOf(sessions, totals, limit ?? defaultLimit, out), out)
    return read.length === stores.length ? 0 : 1
  } finally {
    await closeAll(stores)
  }
}

/** Of all databases together. Whoever works for several counts once in each, and so many at least are alive. */
function totalsOf(each: readonly FleetTotals[]): FleetTotals {
  const sum = (of: (totals: FleetTotals) => number): number => each.reduce((all, totals) => all + of(totals), 0)
  return {
    workersAlive: Math.max(...each.map(({ workersAlive }) => workersAlive)),
    worldsQuarantined: sum(({ worldsQuarantined }) => worldsQuarantined),
    lettersWaiting: sum(({ lettersWaiting }) => lettersWaiting),
    oldestLetterMs: Math.max(...each.map(({ oldestLetterMs }) => oldestLetterMs)),
    sessionsRunning: sum(({ sessionsRunning }) => sessionsRunning),
    sessionsWaiting: sum(({ sessionsWaiting }) => sessionsWaiting),
  }
}

/** Each database has a line of its own: those that wait stand behind all that have a worker. */
function inLine(sessions: readonly Listed[]): readonly Listed[] {
  const isHeld = ({ worker }: Listed): boolean => worker !== undefined
  return [...sessions.filter(isHeld), ...sessions.filter((session) => !isHeld(session))]
}

function linesOf(sessions: readonly Listed[], totals: FleetTotals, limit: number, out: WorldsOutput): string[] {
  const { look } = out
  const shown = sessions.slice(0, limit)
  const more = sessions.length - shown.length
  return [
    ...headLines(totals, sessions),
    ...tenantLines(sessions, out),
    ...(shown.length === 0 ? [] : ['', ...sessionLines(shown, out)]),
    ...(more === 0
      ? []
      : [look.paint('dim', `… and ${many(more, 'session')} more; --limit ${sessions.length} shows all`)]),
  ]
}

function headLines(totals: FleetTotals, sessions: readonly QueuedSession[]): string[] {
  const { lettersWaiting, oldestLetterMs, sessionsRunning, sessionsWaiting, workersAlive } = totals
  const resting = sessions.filter(isAtRest).length
  const more = resting === 0 ? '' : `, ${resting} resting`
  const oldest = lettersWaiting === 0 ? '' : `, the oldest for ${ageText(oldestLetterMs)}`
  return [
    `${many(sessionsRunning, 'session')} with a slot, ${sessionsWaiting} in line${more} · ${many(workersAlive, 'worker')} alive`,
    `${many(lettersWaiting, 'letter')} waiting for worlds${oldest}`,
  ]
}

/** Who has how much, where there are several. */
function tenantLines(sessions: readonly QueuedSession[], { look }: WorldsOutput): string[] {
  const byTenant = Map.groupBy(sessions, ({ tenant }) => tenant)
  if (byTenant.size < 2) return []
  const rows = [...byTenant].map(([tenant, its]) => {
    const running = its.filter(({ hasSlot }) => hasSlot).length
    const waits = its.filter(({ wantsSlot }) => wantsSlot).map(({ ageMs }) => ageMs)
    const longest = waits.length === 0 ? '' : ageText(Math.max(...waits))
    return [tenant, String(running), String(waits.length), String(its.filter(isAtRest).length), longest]
  })
  const [head = '', ...lines] = tableLines([['TENANT', 'RUNNING', 'IN LINE', 'RESTING', 'LONGEST WAIT'], ...rows])
  return ['', look.paint('dim', head), ...lines]
}

function sessionLines(sessions: readonly Listed[], { look }: WorldsOutput): string[] {
  const isOfSeveral = sessions.some(({ database }) => database !== undefined)
  const rows = sessions.map(({ ageMs, root, tenant, worker, world, ...session }) => [
    world,
    root,
    tenant,
    stateText(session, worker),
    worker === undefined ? '' : String(worker),
    ageText(ageMs),
    ...(isOfSeveral ? [session.database ?? ''] : []),
  ])
  const titles = ['SESSION', 'OF', 'TENANT', 'STATE', 'WORKER', 'FOR', ...(isOfSeveral ? ['DATABASE'] : [])]
  const [head = '', ...lines] = tableLines([titles, ...rows])
  return [look.paint('dim', head), ...lines]
}

type Standing = Pick<QueuedSession, 'hasSlot' | 'isResting' | 'wantsSlot'>

/** It waits for its own sessions or for a person, and needs no slot meanwhile: open in a worker, or parked. */
function isAtRest({ hasSlot, wantsSlot }: Standing): boolean {
  return !hasSlot && !wantsSlot
}

/** `waking`: it has rested, and a worker is to open it. */
function stateText(session: Standing, worker: number | undefined): string {
  if (session.hasSlot) return 'running'
  if (session.wantsSlot) return 'in line'
  return session.isResting || worker !== undefined ? 'resting' : 'waking'
}
