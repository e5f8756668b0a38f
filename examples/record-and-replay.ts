import {
  agent,
  defineTool,
  memoryStore,
  not,
  recordingOf,
  replay,
  run,
  scripted,
  standardSystems,
  type System,
  SystemPrompt,
  World,
} from 'entia'
import * as components from 'entia/components'
import { z } from 'zod'

// Everything that enters a world is an input, and inputs can be kept. Replayed, they make the same world again, with no
// model called and no tool run. So a change can be tried on what happened yesterday: here, a change of the system that gives
// agents their prompt.

/** Gives each new agent its system prompt. */
function houseRules(template: string): System {
  return {
    name: 'house-rules',
    priority: -30,
    run(world) {
      for (const newcomer of world.query(components.Llm, not(SystemPrompt)))
        world.add(newcomer, SystemPrompt({ template }))
    },
  }
}

let calls = 0
const roll = defineTool({
  name: 'roll_dice',
  description: 'Rolls a die.',
  input: z.object({}),
  restart: 'pure',
  run: () => Math.ceil(Math.random() * 6),
})
const croupier = scripted(({ messages }) => {
  calls++
  return messages.length === 1 ? { toolCalls: [{ name: 'roll_dice' }] } : 'Well rolled.'
})

const store = memoryStore()
const world = new World({ name: 'casino', systems: [...standardSystems(), houseRules('Be brief.')] })
world.spawn(...agent({ model: 'script/croupier', tools: [roll], messages: 'Roll, please.' }))
await run(world, { models: { script: croupier }, tools: [roll], store, record: true })
console.log(`Ran: ${world.tick} ticks, ${calls} calls of the model`)

const recording = await recordingOf(store, 'casino')

const again = replay(recording, { systems: [...standardSystems(), houseRules('Be brief.')], components })
console.log(`Replayed: ${again.ticks} ticks, ${calls} calls still; the same world: ${again.hash === world.hash()}`)

const edited = replay(recording, { systems: [...standardSystems(), houseRules('Be kind.')], components })
const { tick, system, component, recorded, replayed } = edited.difference ?? {}
console.log(`Edited: differs in tick ${tick}, where ${system} writes ${component}`)
console.log(`  recorded ${JSON.stringify(recorded)}`)
console.log(`  replayed ${JSON.stringify(replayed)}`)

/*
Prints:
Ran: 4 ticks, 2 calls of the model
Replayed: 4 ticks, 2 calls still; the same world: true
Edited: differs in tick 1, where house-rules writes SystemPrompt
  recorded {"set":[[1,{"template":"Be brief."}]]}
  replayed {"set":[[1,{"template":"Be kind."}]]}
*/
