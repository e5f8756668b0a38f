import {
  agent,
  defineComponent,
  defineTool,
  type Entity,
  type Input,
  type OwnInputs,
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

// Names of events and inputs are checked. Declare your own twice: their shapes for the compiler, here, and their names in
// the system that emits or takes them, below.
declare module 'entia' {
  interface OwnEvents {
    'budget-spent': { readonly agent: number; readonly maxTokens: number }
  }
  interface OwnInputs {
    'budget-raised': { readonly agent: number; readonly byTokens: number }
  }
}

/** Gives an agent more tokens, and lets it go on. */
function raise(world: World, spender: Entity, byTokens: number): void {
  world.set(spender, TokenBudget, { maxTokens: world.read(spender, TokenBudget).maxTokens + byTokens })
  if (world.has(spender, Paused)) world.remove(spender, Paused)
}

/** Pauses an agent that has used up its tokens. What is under way ends; the next step does not begin. */
const tokenBudget: System = {
  name: 'token-budget',
  // Behind `reply` (-80), which counts, and before `reasoning` (0), which would start the next step.
  priority: -10,
  events: ['budget-spent'],
  inputs: ['budget-raised'],
  // Runs in ticks that bring such an input, or while the world has both components. Without `wakes`: in every tick.
  wakes: ['budget-raised', [TokenBudget, Usage]],
  run(world) {
    for (const input of world.inputs) {
      if (input.kind !== 'budget-raised') continue
      const { agent: spender, byTokens } = input as Input & OwnInputs['budget-raised']
      if (world.has(spender, TokenBudget)) raise(world, spender, byTokens)
    }
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

// What comes from outside is an input. It is kept with the run, so that a recording of it can be replayed.
await runner.post({ kind: 'budget-raised', agent: pirate, byTokens: 500 })
await runner.idle()

// Without an input of your own: a change between two ticks, all of it or nothing.
await runner.change(() => raise(world, pirate, 200))
await runner.idle()
await runner.stop()

// The component is saved with the rest. Whoever restores the world names it beside the standard ones.
const copy = World.restore(world.snapshot(), { components: { ...components, TokenBudget } })
console.log(`Restored with a budget of ${copy.read(pirate, TokenBudget).maxTokens} tokens`)

/*
Prints:
Spent after 5 calls of the model
Spent after 10 calls of the model
Spent after 11 calls of the model
Restored with a budget of 1200 tokens
*/
