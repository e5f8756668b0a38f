import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, defineTool, lastText, Runner, scripted, sqliteStore, standardSystems, World } from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// A run that is stopped in the middle of a tool call and goes on from its journal. No call that had ended is made again.

const orderReport = defineTool({
  name: 'order_report',
  description: 'Orders a report. Each order costs money.',
  input: z.object({}),
  restart: 'once',
  run: () => console.log('  (a report is ordered)'),
})
const readReport = defineTool({
  name: 'read_report',
  description: 'Waits for the report and reads it.',
  input: z.object({}),
  restart: 'pure',
  async run(_, { sleep }) {
    console.log('  (reading begins)')
    await sleep(50)
    console.log('  (reading ends)')
    return 'Sales are up.'
  },
})
const tools = [orderReport, readReport]

// Calls one tool after the other, then answers.
const analyst = scripted(({ messages }) => {
  const step = messages.filter(({ role }) => role === 'assistant').length
  console.log(`  (the model is asked for step ${step + 1})`)
  const tool = tools[step]
  return tool === undefined ? 'Sales are up, says the report.' : { toolCalls: [{ name: tool.declaration.name }] }
})
const host = { models: { script: analyst }, tools }

const folder = await mkdtemp(join(tmpdir(), 'entia-'))

console.log('First start:')
const world = new World({ name: 'sales', systems: standardSystems() })
world.spawn(...agent({ model: 'script/analyst', tools, messages: 'How are sales?' }))
const store = sqliteStore({ folder })
const runner = new Runner(world, { ...host, store })
const isReading = new Promise<void>((resolve) => {
  runner.on('tool-called', ({ tool }) => {
    if (tool === 'read_report') resolve()
  })
})
await runner.start()
await isReading
// What is under way is aborted, not settled: to the journal this is the same as a process that is killed.
await runner.stop()
await store.close()

console.log('Second start:')
// Nothing is taken from the first but the name of the world and the folder: this could be another process.
const systems = standardSystems()
const secondStore = sqliteStore({ folder })
const resumed = await Runner.open({ ...host, store: secondStore, name: 'sales', systems, components })
await resumed.start()
await resumed.idle()
await resumed.stop()
await secondStore.close()

for (const speaker of resumed.world.query(components.Llm)) console.log(lastText(resumed.world, speaker))

// A world can also be saved by hand, at any tick: lines of JSON, and for the same state always the same.
const lines = [...resumed.world.snapshot()]
const copy = World.restore(lines, { systems, components })
console.log(`Restored from ${lines.length} lines, the same: ${copy.hash() === resumed.world.hash()}`)

await rm(folder, { recursive: true })

/*
Prints:
First start:
  (the model is asked for step 1)
  (a report is ordered)
  (the model is asked for step 2)
  (reading begins)
Second start:
  (reading begins)
  (reading ends)
  (the model is asked for step 3)
Sales are up, says the report.
Restored from 4 lines, the same: true
*/
