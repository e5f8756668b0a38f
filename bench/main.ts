import { execFile } from 'node:child_process'
import { parseArgs, promisify } from 'node:util'
import { isWithin, type Row } from './row.ts'
import { subjects } from './subjects.ts'
import { table } from './table.ts'

/**
 * Measures what the project says of its speed and size, and prints a table, or with `--json` one array of figures. How far
 * it is goes to standard error.
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

const names = Object.keys(subjects).filter((name) => name.includes(options.only))
if (names.length === 0) {
  throw new Error(`--only ${options.only} names no subject. There are: ${Object.keys(subjects).join(', ')}.`)
}
const rows: Row[] = []
for (const name of names) {
  const begin = performance.now()
  if (!options.here) process.stderr.write(`${name} … `)
  rows.push(...(await (options.here ? measuredHere(name) : measuredApart(name))))
  if (!options.here) process.stderr.write(`${((performance.now() - begin) / 1_000).toFixed(1)} s\n`)
}
console.log(options.json ? JSON.stringify(rows, undefined, 2) : table(rows))
if (options.check && rows.some((row) => isWithin(row) === false)) process.exitCode = 1

async function measuredHere(name: string): Promise<Row[]> {
  const subject = await subjects[name]?.()
  return (await subject?.measure()) ?? []
}

/** A subject a process, so that no one's garbage and compiled code are another's. */
async function measuredApart(name: string): Promise<Row[]> {
  const node = ['--conditions=source', '--expose-gc', import.meta.filename]
  const { stdout } = await promisify(execFile)(process.execPath, [...node, '--here', '--json', '--only', name])
  return JSON.parse(stdout) as Row[]
}
