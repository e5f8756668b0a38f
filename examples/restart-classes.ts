import {
  agent,
  Conversation,
  defineTool,
  Llm,
  memoryStore,
  Runner,
  scripted,
  standardSystems,
  textOf,
  World,
} from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// Three tools, one of each restart class, are at work when the program stops. What happens to their calls afterwards?

const input = z.object({})
/** What a payment service remembers: the amounts by idempotency key. */
const paid = new Map<string, number>()

const readPrice = defineTool({
  name: 'read_price',
  description: 'Reads the price.',
  input,
  // Changes nothing: it runs again.
  restart: 'pure',
  async run(_, { sleep }) {
    console.log('  read_price')
    await sleep(200)
    return 'EUR 90'
  },
})
const pay = defineTool({
  name: 'pay',
  description: 'Pays the bill.',
  input,
  // The service takes a key and does nothing twice under the same one: it runs again.
  restart: 'keyed',
  async run(_, { key, attempt, sleep }) {
    console.log(`  pay, attempt ${attempt}`)
    paid.set(key, 90)
    await sleep(200)
    return `Paid ${paid.get(key)}.`
  },
})
const { promise: atWork, resolve: isAtWork } = Promise.withResolvers<void>()
const sendLetter = defineTool({
  name: 'send_letter',
  description: 'Prints a letter and posts it.',
  input,
  // A second letter would be wrong: it never runs again.
  restart: 'once',
  async run(_, { sleep }) {
    console.log('  send_letter')
    isAtWork()
    await sleep(200)
    return 'Posted.'
  },
})

const tools = [readPrice, pay, sendLetter]
const clerk = scripted(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return 'Done, but look whether the letter was posted.'
  return { toolCalls: tools.map(({ declaration }) => ({ name: declaration.name })) }
})
const host = { models: { script: clerk }, tools, store: memoryStore() }

console.log('First start:')
const world = new World({ name: 'office', systems: standardSystems() })
world.spawn(...agent({ model: 'script/clerk', tools, messages: 'Settle the bill.' }))
const runner = new Runner(world, host)
await runner.start()
await atWork
// Aborts the work without an outcome: to the store this is the same as a process that is killed.
await runner.stop()

console.log('Second start:')
const resumed = await Runner.open({ ...host, name: 'office', systems: standardSystems(), components })
await resumed.start()
await resumed.idle()
await resumed.stop()

const [agentOfOffice = 0] = resumed.world.query(Llm)
for (const message of resumed.world.read(agentOfOffice, Conversation)) {
  if (message.role === 'tool') console.log(`${message.name}: ${textOf(message)}`)
}
console.log(`Payments: ${paid.size}`)

/*
Prints:
First start:
  read_price
  pay, attempt 1
  send_letter
Second start:
  read_price
  pay, attempt 2
read_price: EUR 90
pay: Paid 90.
send_letter: [interrupted] The process ended while this ran: it may have happened, or not, or in part.
Payments: 1
*/
