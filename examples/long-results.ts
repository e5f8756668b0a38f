import { agent, ask, defineTool, Runner, scripted, standardSystems, World } from 'entia'
import { Workspace } from 'entia/components'
import { builtinTools } from 'entia/runtime'
import { z } from 'zod'

// A tool gives more than a model should read. The model reads what it is, and looks at the parts that it needs.

const orders = defineTool({
  name: 'orders',
  description: 'Gives all orders.',
  input: z.strictObject({}),
  restart: 'pure',
  run: () => Array.from({ length: 500 }, (_, index) => ({ id: index + 1, eur: (index * 37) % 900 })),
})
const tools = [orders, ...builtinTools({ cwd: '.', tools: ['data'] })]

const steps = [
  { name: 'orders', arguments: {} },
  { name: 'read_handle', arguments: { handle: '.h_001', op: 'summary' } },
  { name: 'read_handle', arguments: { handle: '.h_001', op: 'print', offset: 498 } },
]
const clerk = scripted(({ messages }) => {
  const step = steps[messages.filter(({ role }) => role === 'tool').length]
  return step === undefined ? 'The dearest order costs EUR 894.' : { toolCalls: [step] }
})

const world = new World({ systems: standardSystems() })
const reader = world.spawn(...agent({ model: 'script/clerk', tools }), Workspace)
const runner = new Runner(world, { models: { script: clerk }, tools })
await runner.start()
for await (const part of ask(runner, reader, 'What does the dearest order cost?').parts) {
  if (part.type !== 'tool-result') continue
  const [block] = part.result
  console.log(`${part.tool}: ${block?.type === 'text' ? block.text : ''}`)
}
await runner.stop()

/*
Prints:
orders: table of 500 rows: id number, eur number
[stored as .h_001]
read_handle: table of 500 rows and 2 columns
  id: 500 numbers (min 1, max 500)
  eur: 500 numbers (min 0, max 894)
read_handle: {"id":499,"eur":426}
{"id":500,"eur":463}
[elements 499-500 of 500]
*/
