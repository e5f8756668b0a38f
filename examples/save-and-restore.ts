import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agent, defineTool, lastText, Runner, scripted, sqliteStore, standardSystems, World } from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// A run that is stopped in the middle of a tool call and goes on from a file, as after a crash. The second half shares
// nothing with the first but the folder.

const input = z.object({})
const report = defineTool({
  name: 'order_report',
  description: 'Orders a report. Each order costs money.',
  input,
  restart: 'once',
  run: () => console.log('  (a report is ordered)'),
})
const read = defineTool({
  name: 'read_report',
  description: 'Waits for the report and reads it.',
  input,
  restart: 'pure',
  async run(_, { sleep }) {
    console.log('  (reading begins)')
    await sleep(50)
    console.log('  (reading ends)')
    return 'Sales are up.'
  },
})
const tools = [report, read]

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
  runner.on('tool-called', ({ tool }) => tool === 'read_report' && resolve())
})
await runner.start()
await isReading
// What is under way is aborted, not settled: to the journal this is the same as a process that was killed.
await runner.stop()
await store.close()

console.log('Second start:')
const systems = standardSystems()
const secondStore = sqliteStore({ folder })
const resumed = await Runner.open({ ...host, store: secondStore, name: 'sales', systems, components })
await resumed.start()
await resumed.idle()
await resumed.stop()
await secondStore.close()

const [speaker = 0] = resumed.world.query(components.Llm)
console.log(lastText(resumed.world, speaker))

// A world can also be written and read by hand, at any tick: lines of JSON, the same for the same state.
const lines = [...resumed.world.snapshot()]
const copy = World.restore(lines, { systems, components })
console.log(`Restored from ${lines.length} lines, the same: ${copy.hash() === resumed.world.hash()}`)

await rm(folder, { recursive: true })

/*
Prints:
*/
