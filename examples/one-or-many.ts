import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, scripted, sqliteStore, standardSystems, World, worlds } from 'entia'
import { defineFleet } from 'entia/postgres'

// The same program with one process and a folder, or with many machines and a database.
// One process: node one-or-many.ts
// Many: DATABASE_URL=postgres://… node one-or-many.ts

/** Makes the world of a customer when it is first spoken to. */
function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'script/clerk', system: `You help customer ${name}.` }))
  return world
}

// Stands in for a model, so that this runs without a key.
const models = {
  script: scripted(({ messages }) => {
    const count = messages.filter(({ role }) => role === 'user').length
    return `You have written ${count === 1 ? 'once' : `${count} times`}. How can I help?`
  }),
}

async function oneMachine() {
  const store = sqliteStore({ folder: await mkdtemp(join(tmpdir(), 'desks-')) })
  return { desks: worlds(store, { make: desk, models }), end: () => store.close() }
}

async function manyMachines(database: string) {
  const desks = defineFleet({ database, worlds: { desk }, models })
  // This process drives worlds, too. Without this line it only speaks to them.
  const worker = await desks.work()
  return { desks, end: () => worker.stop() }
}

const { DATABASE_URL } = process.env
// The one line that differs: what follows does not know where worlds are driven.
const { desks, end } = await (DATABASE_URL === undefined ? oneMachine() : manyMachines(DATABASE_URL))

const customer = desks.agent('desk/4711')
console.log((await customer.ask('My parcel is gone.')).text)
// A message that is sent twice under one id counts once.
await customer.message('Are you there?', { id: 'form-1' })
await customer.message('Are you there?', { id: 'form-1' })
console.log((await customer.ask('Hello?')).text)

await desks.close()
await end()

/*
Prints:
You have written once. How can I help?
You have written 3 times. How can I help?
*/
