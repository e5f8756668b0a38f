// Drives worlds of desks and clerks until it is told to end by SIGTERM, or is killed. Prints what happens, a line of JSON each.
// Usage: fleet-worker.ts <options as JSON>
import { type ClerksOptions, clerks, type Said } from '../parts/postgres/clerks.ts'

const options = JSON.parse(process.argv[2] ?? '{}') as ClerksOptions
const { clockAheadMs = 0, sessions, worlds } = options
if (clockAheadMs !== 0) {
  const dateNow = Date.now.bind(Date)
  Date.now = () => dateNow() + clockAheadMs
}

// A pipe is written to at once: what is said before a kill is read.
const say = (said: Said): void => void process.stdout.write(`${JSON.stringify(said)}\n`)
const fleet = clerks(options, say)
const worker = await fleet.work({
  ...(sessions !== undefined && { sessions }),
  ...(worlds !== undefined && { worlds }),
  unfit: (world, code, message) => say({ what: 'unfit', world, ...(code !== undefined && { code }), message }),
})
say({ what: 'ready', worker: worker.id })
process.once('SIGTERM', () => {
  void fleet.close().then(() => process.exit())
})
process.stdin.on('end', () => process.exit()).resume()
