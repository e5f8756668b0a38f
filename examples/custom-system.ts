import { agent, defineComponent, Paused, Runner, scripted, standardSystems, type System, Usage, World } from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// A feature is a component and a system. Here: agents that stop to ask when their tokens run out.

/** How many tokens an agent may use, in and out together. */
const TokenBudget = defineComponent('TokenBudget', z.strictObject({ maxTokens: z.int().positive() }))

/** Pauses an agent that has used up its tokens. What is under way ends; the next step does not begin. */
const tokenBudget: System = {
  name: 'token-budget',
  // Behind `reply` (-80), which counts, and before `reasoning` (0), which would start the next step.
  priority: -10,
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

// Never ends of itself: each turn counts one further, and calls a tool that is not there.
const counter = scripted(({ messages }) => ({ text: `${messages.length}`, toolCalls: [{ name: 'count_on' }] }), {
  usage: { input: 100, output: 10 },
})

const world = new World({ systems: [...standardSystems(), tokenBudget], components: [TokenBudget] })
const spender = world.spawn(
  ...agent({ model: 'script/counter', messages: 'Count as far as you can.', maxSteps: 100 }),
  TokenBudget({ maxTokens: 500 }),
)

const runner = new Runner(world, { models: { script: counter } })
runner.on('budget-spent', () => console.log(`${world.read(spender, Usage).calls} calls: the budget is spent`))
await runner.start()
await runner.idle()

// From outside, a world that runs is changed between two ticks, all or nothing.
await runner.change(() => {
  world.set(spender, TokenBudget, { maxTokens: 1_000 })
  world.remove(spender, Paused)
})
await runner.idle()
await runner.stop()

// What is saved holds the component as well: whoever restores the world passes it along with the standard ones.
const copy = World.restore(world.snapshot(), { components: [...Object.values(components), TokenBudget] })
console.log(`Restored with a budget of ${copy.read(spender, TokenBudget).maxTokens} tokens`)

/*
Prints:
*/
