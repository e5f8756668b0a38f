import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism, loadavg } from 'node:os'
import { json } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { isWithin, type Row } from './row.ts'
import { subjects } from './subjects.ts'
import { table } from './table.ts'

/**
 * Measures what the project says of its speed and size, and prints a table, or with `--json` one array of rows. How far it
 * is goes to standard error.
 */
const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    /** Measures the subjects whose name has this in it. */
    only: { type: 'string', default: '' },
    /** Ends with 1 if a figure does not keep its limit. */
    check: { type: 'boolean', default: false },
    /** Measures in this process, as a profiler needs it. */
    here: { type: 'boolean', default: false },
  },
})

const chosen = Object.entries(subjects).filter(([name]) => name.includes(options.only))
if (chosen.length === 0) {
  console.error(
    `--only ${options.only}: no subject has this in its name. There are ${Object.keys(subjects).join(', ')}.`,
  )
  process.exitCode = 1
}
const rows: Row[] = []
for (const [name, load] of chosen) {
  if (options.here) rows.push(...(await (await load()).measure()))
  else rows.push(...(await measuredApart(name)))
}
if (!options.here) warnOfOthers()
if (options.json) console.log(JSON.stringify(rows, undefined, 2))
else if (rows.length > 0) console.log(table(rows))
if (options.check && rows.some((row) => isWithin(row) === false)) process.exitCode = 1

/** Measured in a process of its own, so that no subject's garbage and compiled code are another's. */
async function measuredApart(name: string): Promise<Row[]> {
  const begin = performance.now()
  process.stderr.write(`${name} … `)
  const node = ['--conditions=entia-source', '--expose-gc', import.meta.filename]
  const child = spawn(process.execPath, [...node, '--here', '--json', '--only', name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  const measured = await json(child.stdout).catch(() => [])
  const [code] = await ended
  process.stderr.write(`${((performance.now() - begin) / 1_000).toFixed(1)} s\n`)
  if (code !== 0) {
    console.error(`${name} could not be measured.`)
    process.exitCode = 1
  }
  return measured as Row[]
}

/** Work of others on the machine makes what is measured by the clock look slower than it is. */
function warnOfOthers(): void {
  const [load = 0] = loadavg()
  const cores = availableParallelism()
  if (load > cores)
    console.error(`The machine is busy (load ${load.toFixed(1)} on ${cores} cores): wall times are too long.`)
}
