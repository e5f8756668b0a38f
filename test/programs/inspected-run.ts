// Drives a recorded world, and sends its agent a message for each line on standard input; prints the tick once each has been
// answered. The message `hang` calls a tool that never ends. Usage: inspected-run.ts <folder>
import { agent, defineTool, Runner, scripted, sqliteStore, standardSystems, World } from 'entia'
import { createInterface } from 'node:readline'
import { z } from 'zod'

const hang = defineTool({
  name: 'hang',
  description: 'Never ends.',
  input: z.object({}),
  restart: 'once',
  run: () => new Promise<string>(() => process.stdout.write('hangs\n')),
})
const world = new World({ name: 'held', seed: 5, systems: standardSystems() })
const worker = world.spawn(...agent({ model: 'script/x', tools: [hang] }))
const script = scripted(({ messages }) => {
  const asked = JSON.stringify(messages.at(-1))
  return asked.includes('hang') ? { toolCalls: [{ name: 'hang', arguments: {} }] } : `Answer ${messages.length}.`
})
const store = sqliteStore({ folder: process.argv[2] ?? '' })
const runner = new Runner(world, { models: { script }, tools: [hang], store, record: true })
await runner.start()
process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  await runner.message(worker, line)
  if (line !== 'hang') await runner.idle()
  process.stdout.write(`${world.tick} ${world.hash()}\n`)
}
process.exit()
