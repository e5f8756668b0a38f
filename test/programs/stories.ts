import { agent, defineTool, type ModelRequest, scripted, standardSystems, World } from 'entia'
import { law } from 'entia/sim'
import { z } from 'zod'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.number() }),
  restart: 'pure',
  run: ({ at }) => `seen ${at}`,
})

function behaviour({ messages }: ModelRequest) {
  return messages.length < 3 ? { toolCalls: [{ name: 'look', arguments: { at: messages.length } }] } : 'Seen.'
}

function lookout(seed: number, system?: string): World {
  const made = new World({ name: 'lookout', seed, systems: standardSystems() })
  made.spawn(...agent({ model: 'script/x', messages: 'Look.', tools: [look], ...(system !== undefined && { system }) }))
  return made
}

/** An agent that looks once. */
export const calm = {
  world: (seed: number) => lookout(seed),
  models: { script: scripted(behaviour) },
  tools: [look],
  laws: [],
}

/** The same, told how. */
export const told = { ...calm, world: (seed: number) => lookout(seed, 'Look well.') }

const stormy = { ...calm, faults: { tool: { throws: 0.3 }, crash: { perTick: 0.05 } } }

/** Stories that a command line can run, of which one breaks a law from seed 7 on. */
export default {
  calm,
  stormy,
  unlucky: { ...stormy, laws: [law('seeds are below 7', ({ seed }) => seed < 7 || `it is ${seed}`)] },
}
