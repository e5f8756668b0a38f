import { DBOSClient } from '@dbos-inc/dbos-sdk'
import { agent, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { dbosDispatcher } from 'entia/dbos'
import { defineFleet } from 'entia/postgres'
import { openDatabase } from './fleet/database.ts'

// A fleet whose sessions stand in a queue of DBOS Transact, for who runs DBOS already: each session is a workflow there.
// It needs two packages: npm install pg @dbos-inc/dbos-sdk
const database = await openDatabase(process.env['DATABASE_URL'])

/** A travel agency that has a scout look at each city. */
function agency(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'script/planner' }),
    SubagentRegistry({ subagents: { scout: { name: 'scout', model: 'script/scout' } } }),
  )
  return world
}

// Stands in for a model, so that this runs without a key.
const script = scripted(({ messages, model }) => {
  const [first] = messages.filter(({ role }) => role === 'user').map(textOf)
  if (model === 'scout') return `${first} is worth two days.`
  const answers = messages.filter(({ role }) => role === 'tool').map(textOf)
  if (answers.length > 0) return answers.toSorted().join(' ')
  const cities = (first ?? '').split(' and ')
  return { toolCalls: cities.map((city) => ({ name: 'subagent', arguments: { category: 'scout', prompt: city } })) }
})

const fleet = defineFleet({
  database: database.url,
  worlds: { agency },
  models: { script },
  maxSessions: 10,
  dispatcher: dbosDispatcher(),
})
const worker = await fleet.work()
console.log((await fleet.agent('agency/1').ask('Bergen and Oslo')).text)

// What DBOS knows of it, as its console and its command line show it.
const dbos = await DBOSClient.create({ systemDatabaseUrl: database.url, applicationName: 'entia' })
for (const { queueName, status, workflowID } of await dbos.listWorkflows({ workflow_id_prefix: 'entia/agency/1/' }))
  console.log(`${workflowID} in ${queueName}: ${status}`)

await dbos.destroy()
await worker.stop()
await fleet.close()
await database.close()

/*
Prints:
Bergen is worth two days. Oslo is worth two days.
entia/agency/1/session-… in entia-sessions: SUCCESS
entia/agency/1/session-… in entia-sessions: SUCCESS
*/
