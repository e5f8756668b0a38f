import type { WorkerInfo } from '../../doors/postgres/index.ts'
import { parsedWords, UsageError } from '../parsed-words.ts'
import { tableLines } from '../table-lines.ts'
import { ageText, type WorldsOutput, writeLines } from '../worlds/world-lines.ts'
import { type FleetPlace, fleetOutput } from './fleet-output.ts'
import { closeAll, databaseColumn, databaseHelp, databaseOptions, fleetStores, readEach } from './fleet-store.ts'

const workersHelp = `Show who works for the fleet of a database, and how much each holds.

  entia workers

${databaseHelp}
  --json          print JSON: one worker a line
  --help          show this help

A dead worker is listed until another has freed what it held, within a second.

Exit codes: 0 done, 1 not all could be read, 2 wrong arguments.
`

/** One that works for a fleet of several databases has an id in each of them. */
type Listed = WorkerInfo & { readonly database?: string }

/** `entia workers`: returns the exit code. @throws UsageError, and what the store throws */
export async function workersCommand(words: readonly string[], place: FleetPlace): Promise<number> {
  const { positionals, values } = parsedWords(words, {
    ...databaseOptions,
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) {
    place.stdout.write(workersHelp)
    return 0
  }
  if (positionals.length > 0) throw new UsageError(`entia workers takes no words, got ${positionals.join(' ')}.`)
  const stores = await fleetStores('workers', values, place.environment)
  try {
    const out = fleetOutput(place, stores, values.json === true)
    const read = await readEach(stores, out.report, (store) => store.workers())
    const workers = read.flatMap(({ from, value }) =>
      value.map((worker) => ({ ...databaseColumn(stores, from), ...worker })),
    )
    print(workers, out)
    return read.length === stores.length ? 0 : 1
  } finally {
    await closeAll(stores)
  }
}

function print(workers: readonly Listed[], out: WorldsOutput): void {
  const { isJson, look, where, write } = out
  if (isJson) for (const worker of workers) write(`${JSON.stringify(worker)}\n`)
  else if (workers.length === 0) write(`No one works for the fleet in ${where}. entia worker FILE begins.\n`)
  else {
    const isOfSeveral = workers.some(({ database }) => database !== undefined)
    const head = [
      'WORKER',
      'STATE',
      'WORLDS',
      'SESSIONS',
      'SEEN',
      ...(isOfSeveral ? ['DATABASE'] : []),
      'PROCESS',
      'NOTE',
    ]
    const rows = workers.map(({ database = '', host, id, isAlive, note, pid, seenMs, sessions, worlds }) => [
      String(id),
      isAlive ? 'alive' : 'dead',
      String(worlds),
      String(sessions),
      `${ageText(seenMs)} ago`,
      ...(isOfSeveral ? [database] : []),
      `${pid} on ${host}`,
      note,
    ])
    const [first = '', ...lines] = tableLines([head, ...rows])
    const painted = lines.map((line, at) => (workers[at]?.isAlive === true ? line : look.paint('red', line)))
    writeLines([look.paint('dim', first), ...painted], out)
  }
}
