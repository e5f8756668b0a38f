import { agent, defineTool, Runner, scripted, standardSystems, textOf, Conversation, World } from 'entia'
import { contextStats } from 'entia/context'
import { z } from 'zod'

// An agent is stopped when it has spent as much as it may. What is in flight ends and is counted; then nothing of it begins
// until somebody has had a look.

const search = defineTool({
  name: 'search',
  description: 'Searches the archive.',
  input: z.object({ page: z.number() }),
  restart: 'pure',
  run: ({ page }) => `Page ${page}: nothing yet.`,
})

// Looks at one page after the other. Each call of it costs a cent; it finds something on page 4.
const searcher = scripted(
  ({ messages }) => {
    const page = messages.filter(({ role }) => role === 'tool').length + 1
    return page > 4 ? 'Found it on page 4.' : { toolCalls: [{ name: 'search', arguments: { page } }] }
  },
  { usage: { input: 1_000, output: 0 } },
)

const world = new World({ systems: standardSystems() })
const options = { model: 'script/searcher', tools: [search], messages: 'Find the letter.' }
const config = { ceilings: { max_session_cost_usd: 0.03 } }
const worker = world.spawn(...agent({ ...options, config }))
const runner = new Runner(world, {
  models: { script: searcher },
  tools: [search],
  prices: { 'script/searcher': { input: 10, output: 10 } },
})
runner.on('turn-error', ({ message, refused }) => console.log(refused === true ? '(refused)' : `(${message})`))
runner.on('turn-ended', ({ stop, steps }) => console.log(`(turn ended: ${stop}, ${steps} steps)`))
await runner.start()
await runner.idle()
console.log(textOf(world.read(worker, Conversation).at(-2)))

// The latch is part of the world: it is saved with it, and only a reset clears it.
await runner.message(worker, 'Go on.')

// Its life's ceiling is reached, so that a reset alone is not enough.
await runner.resetCostCeiling(worker).catch((error) => console.log(`(${error.code})`))
await runner.resetCostCeiling(worker, { addSessionUsd: 0.05 })
await runner.message(worker, 'Go on.')
await runner.idle()
await runner.stop()

console.log(textOf(world.read(worker, Conversation).at(-1)))
const { sessionUsd, turnUsd } = contextStats(world, worker).cost
console.log(`$${sessionUsd.toFixed(2)} in all, $${turnUsd.toFixed(2)} of it in the last turn`)

/*
Prints:
(cost ceiling: this session has spent $0.0300 of $0.0300.)
(turn ended: budget-spent, 3 steps)
[not run: cost ceiling reached]
(refused)
(limit-reached)
(turn ended: done, 2 steps)
Found it on page 4.
$0.05 in all, $0.02 of it in the last turn
*/
