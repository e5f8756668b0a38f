import {
  agent,
  defineComponent,
  defineTool,
  Paused,
  Runner,
  scripted,
  standardSystems,
  type System,
  Usage,
  World,
} from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// A feature is a component and a system. Here: agents that pause when they have used up their tokens.

/** How many tokens an agent may use, in and out together, cached ones aside. */
const TokenBudget = defineComponent('TokenBudget', z.strictObject({ maxTokens: z.int().positive() }))

// Names of events are checked: one of your own is declared for the compiler, and by the system that emits it.
declare module 'entia' {
  interface OwnEvents {
    'budget-spent': { readonly agent: number; readonly maxTokens: number }
  }
}

/** Pauses an agent that has used up its tokens. What is under way ends; the next step does not begin. */
const tokenBudget: System = {
  name: 'token-budget',
  // Behind `reply` (-80), which counts, and before `reasoning` (0), which would start the next step.
  priority: -10,
  events: ['budget-spent'],
  run(world) {
    for (const spender of world.query(TokenBudget, Usage)) {
      const { input = 0, output = 0 } = world.read(spender, Usage)
      const { maxTokens } = world.read(spender, TokenBudget)
      if (input + output < maxTokens || world.has(spender, Paused)) continue
      world.add(spender, Paused)
      world.emit({ type: 'budget-spent', agent: spender, maxTokens })
    }
  },
}

const dig = defineTool({
  name: 'dig',
  description: 'Digs one metre deeper.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'Still no treasure.',
})
// Digs on and on: nothing in the model itself would end this.
const digger = scripted(() => ({ toolCalls: [{ name: 'dig' }] }), { usage: { input: 100, output: 10 } })

const world = new World({ systems: [...standardSystems(), tokenBudget] })
const pirate = world.spawn(
  ...agent({ model: 'script/digger', tools: [dig], messages: 'Find the treasure.' }),
  TokenBudget({ maxTokens: 500 }),
)

const runner = new Runner(world, { models: { script: digger }, tools: [dig] })
runner.on('budget-spent', () => console.log(`Spent after ${world.read(pirate, Usage).calls} calls of the model`))
await runner.start()
await runner.idle()

// While a Runner drives a world, a change from outside is made between two ticks, all of it or nothing.
await runner.change(() => {
  world.set(pirate, TokenBudget, { maxTokens: 1_000 })
  world.remove(pirate, Paused)
})
await runner.idle()
await runner.stop()

// The component is saved with the rest. Whoever restores the world names it beside the standard ones.
const copy = World.restore(world.snapshot(), { components: { ...components, TokenBudget } })
console.log(`Restored with a budget of ${copy.read(pirate, TokenBudget).maxTokens} tokens`)

/*
Prints:
Spent after 5 calls of the model
Spent after 10 calls of the model
Restored with a budget of 1000 tokens
*/
