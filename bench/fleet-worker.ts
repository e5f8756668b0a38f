import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore, worlds } from 'entia'
import { fleetOf, makeDesk, parts, runSessions } from './fleet-load.ts'
import { cpuMicros } from './measure.ts'

// A process of its own: with a database as its argument a worker, which says how much it has computed when it is asked; without
// one it runs the sessions of the desks that it is sent, in SQLite, and says the same after each round.

const [, , database, schema = '', maxSessions = '50'] = process.argv
const say = (message: unknown): void => void process.send?.(message)
if (database !== undefined) {
  const fleet = fleetOf({ database, schema, maxSessions: Number(maxSessions) })
  await fleet.work({ sessions: 200 })
  process.on('message', () => say(cpuMicros()))
  process.once('SIGTERM', () => void fleet.close().then(() => process.exit()))
  say(0)
} else {
  const folder = await mkdtemp(join(tmpdir(), 'entia-bench-'))
  const store = sqliteStore({ folder })
  const all = worlds(store, { make: makeDesk, ...parts })
  process.on('message', (desks: string[]) => {
    void runSessions((name) => all.agent(name), desks).then(() => say(cpuMicros()))
  })
  process.once('SIGTERM', () => {
    void all
      .close()
      .then(() => store.close())
      .then(() => rm(folder, { recursive: true }))
      .then(() => process.exit())
  })
  say(0)
}
