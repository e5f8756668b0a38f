import { agent, ask, defineTool, EntiaError, fail, Runner, scripted, standardSystems, World } from 'entia'
import { z } from 'zod'

// How a turn can end: with an answer, at a limit, cancelled, or failed. Two of these reject, the others are answers.

const look = defineTool({
  name: 'look',
  description: 'Looks for the key.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'Not here.',
})

const models = {
  // Looks on and on.
  finder: scripted(() => ({ toolCalls: [{ name: 'look' }] })),
  slow: scripted(() => 'At last.', { latencyMs: 60_000 }),
  closed: scripted(() => fail('unauthorized', { message: 'The key is not valid.' })),
}

const world = new World({ systems: standardSystems() })
const finder = world.spawn(
  ...agent({
    model: 'finder/any',
    system: 'You find what people have lost.',
    tools: [look],
    maxSteps: 3, // model calls in a turn
    maxToolCalls: 10,
  }),
)
const slow = world.spawn(...agent({ model: 'slow/any' }))
const closed = world.spawn(...agent({ model: 'closed/any', retry: false }))

const runner = new Runner(world, { models, tools: [look] })
await runner.start()

// A limit is no error: the answer says where the turn was stopped.
const { stop, steps, text } = await ask(runner, finder, 'Where is my key?')
console.log(`${stop} after ${steps} steps: ${text}`)

// A signal cancels the turn when it aborts.
const hurried = await ask(runner, slow, 'What is the time?', { signal: AbortSignal.timeout(50) })
console.log(`${hurried.stop}: ${hurried.text}`)

// A turn that failed rejects. The failure is data: its kind is one of a closed list.
try {
  await ask(runner, closed, 'Hello?')
} catch (error) {
  if (!(error instanceof EntiaError) || error.code !== 'turn-failed') throw error
  console.log(error.message)
}

await runner.stop()

/*
Prints:
max-steps after 3 steps: [Max turns reached]
cancelled: [turn cancelled]
The turn of agent 3 failed: unauthorized: The key is not valid.
*/
