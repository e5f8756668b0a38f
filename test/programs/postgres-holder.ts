// A worker of a Postgres store that does what the lines of its standard input say, one after the other, and answers each with a
// line: `open <world>` with the epoch, `commit <world>` with the tick, `close <world>`, `end`. What is refused is answered with
// its code. Each tick sends a letter to the world `letters`. Usage: postgres-holder.ts <database> <schema> <lease in ms>
import { createInterface } from 'node:readline'
import { EntiaError } from 'entia'
import { postgresStore } from 'entia/postgres'
import type { SharedJournal } from 'entia/stores'

const [, , database = '', schema = '', leaseMs = ''] = process.argv
const store = postgresStore({ database, schema, leaseMs: Number(leaseMs), note: 'holder' })
const open = new Map<string, { readonly journal: SharedJournal; tick: number }>()

async function done(what: string, world: string): Promise<number | string> {
  if (what === 'end') {
    await store.close()
    return 'ended'
  }
  if (what === 'open') {
    const journal = await store.open(world, { holder: `process ${process.pid}` })
    const stored = await journal.load()
    if (stored === undefined) await journal.commit({ snapshot: { tick: 0, lines: ['{}'] }, isBusy: true })
    open.set(world, { journal, tick: stored?.rows.at(-1)?.tick ?? 0 })
    return journal.epoch
  }
  const held = open.get(world)
  if (held === undefined) return 'not open'
  if (what === 'close') {
    await held.journal.close()
    return 'closed'
  }
  const tick = held.tick + 1
  const sent = [{ world: 'letters', line: `${process.pid}: ${tick}` }]
  await held.journal.commit({ rows: [{ tick, line: `${process.pid}: ${tick}` }], sent, isBusy: true })
  return (held.tick = tick)
}

for await (const line of createInterface({ input: process.stdin })) {
  const [what = '', world = ''] = line.split(' ')
  const answer = await done(what, world).catch((error: unknown) => {
    if (error instanceof EntiaError) return error.code
    throw error
  })
  process.stdout.write(`${answer}\n`)
}
await store.close()
