import type { WorkerInfo } from '../../doors/postgres/index.ts'
import { parsedWords, UsageError } from '../parsed-words.ts'
import { tableLines } from '../table-lines.ts'
import { ageText, type WorldsOutput, writeLines } from '../worlds/world-lines.ts'
import { type FleetPlace, fleetOutput } from './fleet-output.ts'
import { databaseHelp, fleetStore } from './fleet-store.ts'

const workersHelp = `Show who works for the fleet of a database, and how much each holds.

  entia workers

${databaseHelp}
  --json          print JSON: one worker a line
  --help          show this help

A dead worker is listed until another has freed what it held, within a second.
`

/** `entia workers`: returns the exit code. @throws UsageError, and what the store throws */
export async function workersCommand(words: readonly string[], place: FleetPlace): Promise<number> {
  const { positionals, values } = parsedWords(words, {
    database: { type: 'string' },
    schema: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) {
    place.stdout.write(workersHelp)
    return 0
  }
  if (positionals.length > 0) throw new UsageError(`entia workers takes no words, got ${positionals.join(' ')}.`)
  const { store, where } = await fleetStore('workers', values, place.environment)
  try {
    print(await store.workers(), fleetOutput(place, where, values.json === true))
    return 0
  } finally {
    await store.close()
  }
}

function print(workers: readonly WorkerInfo[], out: WorldsOutput): void {
  const { isJson, look, where, write } = out
  if (isJson) for (const worker of workers) write(`${JSON.stringify(worker)}\n`)
  else if (workers.length === 0) write(`No one works for the fleet in ${where}. entia worker FILE begins.\n`)
  else {
    const head = ['WORKER', 'STATE', 'WORLDS', 'SESSIONS', 'SEEN', 'PROCESS', 'NOTE']
    const rows = workers.map(({ host, id, isAlive, note, pid, seenMs, sessions, worlds }) => [
      String(id),
      isAlive ? 'alive' : 'dead',
      String(worlds),
      String(sessions),
      `${ageText(seenMs)} ago`,
      `${pid} on ${host}`,
      note,
    ])
    const [first = '', ...lines] = tableLines([head, ...rows])
    const painted = lines.map((line, at) => (workers[at]?.isAlive === true ? line : look.paint('red', line)))
    writeLines([look.paint('dim', first), ...painted], out)
  }
}
