import { agent, LastTurn, Runner, scripted, standardSystems, textOf, World } from 'entia'
import { z } from 'zod'

// An agent whose final answer is data. The model is told the schema; an answer that does not follow it is sent back once,
// with what is wrong, and after that the turn has failed.

const Recipe = z.object({
  title: z.string(),
  minutes: z.int().positive().describe('From the first cut to the table.'),
  ingredients: z.array(z.string()).min(1),
})

const cook = scripted(({ messages }) => {
  const draft = { title: 'Omelette', minutes: 'ten', ingredients: ['eggs', 'butter'] }
  const isRepair = textOf(messages.at(-1)).startsWith('Your answer does not follow')
  return JSON.stringify(isRepair ? { ...draft, minutes: 10 } : draft)
})
const stubborn = scripted(() => 'No recipe for you.')

const world = new World({ systems: standardSystems() })
const messages = 'Something with eggs, please.'
const chef = world.spawn(...agent({ model: 'cook/chef', output: Recipe, messages }))
const rebel = world.spawn(...agent({ model: 'stubborn/rebel', output: Recipe, messages }))

const runner = new Runner(world, { models: { cook, stubborn } })
runner.on('output-rejected', ({ agent: who, problem }) => console.log(`Agent ${who} is asked again: ${problem}`))
await runner.start()
await runner.idle()
await runner.stop()

// How a turn ended stands in the world, failures too: nothing was thrown.
for (const who of [chef, rebel]) {
  const { stop, output, failure } = world.read(who, LastTurn)
  console.log(`Agent ${who}: ${stop}${failure === undefined ? '' : `, ${failure.kind}`}`)
  // The world holds JSON; zod gives it its type, and checks what JSON Schema cannot say, such as refinements.
  const recipe = Recipe.safeParse(output)
  if (recipe.success)
    console.log(`${recipe.data.title}, ${recipe.data.minutes} minutes, with ${recipe.data.ingredients.join(' and ')}`)
}

/*
Prints:
Agent 1 is asked again: minutes: expected number, received string
Agent 2 is asked again: it is no JSON
Agent 1: done
Omelette, 10 minutes, with eggs and butter
Agent 2: failed, invalid-output
*/
