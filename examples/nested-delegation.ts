import { agent, lastText, Runner, scripted, SessionPool, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { DelegationLimits } from 'entia/components'

// Agents that delegate to agents that delegate, with room for one session at a time. Whoever only waits for a session of
// its own gives its slot to it and gets one back, so nobody waits for ever.

const parts: Record<string, string> = {
  house: 'wall',
  wall: 'brick',
  brick: 'grain of sand',
  'grain of sand': 'crystal',
}
const pool = new SessionPool({ cap: 1 })
const holders: string[] = []

// Each lets another one make the main part of its thing, and then makes the thing.
const builder = scripted(({ messages }) => {
  const thing = textOf(messages.at(0)).replace('Make a ', '').replace('.', '')
  if (thing !== 'house' && holders.at(-1) !== thing) holders.push(thing)
  const last = messages.at(-1)
  if (last?.role === 'tool') return `${thing} made (${textOf(last)})`
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'builder', prompt: `Make a ${parts[thing]}.` } }] }
})

const world = new World({ systems: standardSystems() })
// A subagent may delegate in turn if it inherits the tool for it.
const inheritancePolicy = { inheritTools: ['subagent'] }
const master = world.spawn(
  ...agent({ model: 'script/builder', messages: 'Make a house.' }),
  SubagentRegistry({ subagents: { builder: { name: 'builder', inheritancePolicy } } }),
  // Three levels of sessions below it.
  DelegationLimits({ depth: 3 }),
)

const runner = new Runner(world, { models: { script: builder }, sessionPool: pool })
let most = 0
runner.on('*', () => void (most = Math.max(most, pool.running)))
runner.on('delegation-started', ({ task, depth }) => console.log(`Level ${depth} begins: ${task}`))
runner.on('slot-released', ({ path = [] }) => console.log(`Level ${path.length} gives its slot back: it only waits`))
runner.on('delegation-completed', ({ depth, lifecycleStatus }) => console.log(`Level ${depth} has ${lifecycleStatus}`))
await runner.start()
await runner.idle()
await runner.stop()

console.log(lastText(world, master))
console.log(`Thought with the slot, in this order: ${holders.join(', ')}`)
console.log(`Sessions that held a slot at once: ${most} at most`)

/*
Prints:
Level 1 begins: Make a wall.
Level 1 gives its slot back: it only waits
Level 2 begins: Make a brick.
Level 2 gives its slot back: it only waits
Level 3 begins: Make a grain of sand.
Level 3 has succeeded
Level 2 has succeeded
Level 1 has succeeded
house made (wall made (brick made (grain of sand made (Error: Delegation limit reached: depth))))
Thought with the slot, in this order: wall, brick, grain of sand, brick, wall
Sessions that held a slot at once: 1 at most
*/
