import {
  agent,
  Conversation,
  defineTool,
  lastText,
  Runner,
  scripted,
  standardSystems,
  textOf,
  VirtualClock,
  World,
} from 'entia'
import { z } from 'zod'

// What tools can do: run at once, fail in a way that the model can read, and wait for a person.

const fares = new Map([
  ['Rome', 120],
  ['Oslo', 90],
])

const quoteFare = defineTool({
  name: 'quote_fare',
  description: 'Quotes the fare to a city, in EUR.',
  input: z.object({ city: z.string() }),
  restart: 'pure',
  async run({ city }, { sleep }) {
    // A slow service. `sleep` waits on the Runner's clock, and ends when the call is called off.
    await sleep(2_000)
    const fare = fares.get(city)
    if (fare === undefined) throw new Error(`No flights to ${city}. Known: ${[...fares.keys()].join(', ')}.`)
    return { city, fare }
  },
})

const bookFlight = defineTool({
  name: 'book_flight',
  description: 'Books a flight. Cannot be taken back.',
  input: z.object({ city: z.string(), fare: z.number().max(500) }),
  // Never twice: after a crash in the middle of it, the model is told that it may have happened.
  restart: 'once',
  // A person has to agree to each call.
  approval: true,
  run: ({ city }) => `Booked a seat to ${city}.`,
})

// One answer for each step of the turn.
const travelAgent = scripted(({ messages }) => {
  switch (messages.filter(({ role }) => role === 'assistant').length) {
    case 0:
      return { toolCalls: ['Rome', 'Oslo', 'Atlantis'].map((city) => ({ name: 'quote_fare', arguments: { city } })) }
    case 1:
      return {
        toolCalls: [
          { name: 'book_flight', arguments: { city: 'Oslo', fare: '90 EUR' } },
          { name: 'book_flight', arguments: { city: 'Rome', fare: 120 } },
          { name: 'book_flight', arguments: { city: 'Oslo', fare: 90 } },
        ],
      }
    default:
      return 'You are going to Oslo.'
  }
})

const tools = [quoteFare, bookFlight]
const world = new World({ systems: standardSystems() })
const clerk = world.spawn(...agent({ model: 'script/travel', tools, messages: 'Book me the cheapest trip.' }))

const runner = new Runner(world, {
  models: { script: travelAgent },
  tools,
  // The person. Left out, nobody is there, and what needs approval does not run; `by-input` lets the question stand,
  // over restarts too, until an input answers it.
  approve: ({ arguments: { city } }) => (city === 'Rome' ? { approved: false, reason: 'too far south' } : true),
  // Time that passes as soon as everybody waits for it: this program takes no two seconds.
  clock: new VirtualClock(),
})
runner.on('tool-called', ({ tool }) => console.log(`${world.nowMs} ms: ${tool} is called`))
await runner.start()
await runner.idle()
await runner.stop()

// Every call has exactly one result, in the order of the calls, whatever became of it.
for (const message of world.read(clerk, Conversation)) {
  if (message.role === 'tool') console.log(`${message.name}: ${textOf(message)}`)
}
console.log(lastText(world, clerk))

/*
Prints:
0 ms: quote_fare is called
0 ms: quote_fare is called
0 ms: quote_fare is called
2000 ms: book_flight is called
quote_fare: {"city":"Rome","fare":120}
quote_fare: {"city":"Oslo","fare":90}
quote_fare: Error: No flights to Atlantis. Known: Rome, Oslo.
book_flight: Error: Invalid arguments for 'book_flight': fare: expected number, received string
book_flight: [user declined: too far south]
book_flight: Booked a seat to Oslo.
You are going to Oslo.
*/
