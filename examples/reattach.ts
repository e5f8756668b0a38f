import { agent, ask, defineTool, memoryStore, Runner, scripted, standardSystems, textOf, World } from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// A reader comes back after a restart: it gets the turn from its beginning, and reads on.

const measure = defineTool({
  name: 'measure',
  description: 'Measures a side of the field.',
  input: z.object({ side: z.string() }),
  restart: 'pure',
  async run({ side }, { sleep }) {
    await sleep(100)
    return side === 'north' ? 30 : 40
  },
})
const surveyor = scripted(({ messages }) => {
  const [north, west] = messages.filter(({ role }) => role === 'tool').map((message) => Number(textOf(message)))
  if (north === undefined)
    return { text: 'North first.', toolCalls: [{ name: 'measure', arguments: { side: 'north' } }] }
  if (west === undefined) return { text: 'Then west.', toolCalls: [{ name: 'measure', arguments: { side: 'west' } }] }
  return `The field has ${north * west} square metres.`
})

const world = new World({ name: 'field', systems: standardSystems() })
const measurer = world.spawn(...agent({ model: 'script/surveyor', tools: [measure] }))
const options = { models: { script: surveyor }, tools: [measure], store: memoryStore() }
const runner = new Runner(world, options)
await runner.start()

for await (const part of ask(runner, measurer, 'How large is the field?').parts) {
  if (part.type === 'text') console.log(`read: ${part.text}`)
  // The second tool is called: the process ends here. `break` ends the reading.
  if (part.type === 'tool-call' && part.arguments['side'] === 'west') break
}
await runner.stop()

const resumed = await Runner.open({ ...options, name: 'field', systems: standardSystems(), components })
await resumed.start()
// An entity has the same number after a restart.
for await (const part of ask.attach(resumed, measurer).parts) {
  if (part.type === 'text') console.log(`read after the restart: ${part.text}`)
  if (part.type === 'tool-result')
    console.log(
      `${part.tool} gave ${part.result.map((block) => (block.type === 'text' ? block.text : block.type)).join('')}`,
    )
  if (part.type === 'end') console.log(`${part.answer.stop}: ${part.answer.text}`)
}
await resumed.stop()

/*
Prints:
read: North first.
read: Then west.
read after the restart: North first.
measure gave 30
read after the restart: Then west.
measure gave 40
read after the restart: The field has 1200 square metres.
done: The field has 1200 square metres.
*/
