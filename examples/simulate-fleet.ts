/** Three processes drive the worlds of a desk together, and die, hang and are replaced. Its customers do not notice. */
import { agent, lastText, scripted, standardSystems, textOf, World } from 'entia'
import { simulate } from 'entia/sim'

const customers = ['desk/ann', 'desk/bob', 'desk/cem']

const result = await simulate({
  seed: 4,
  processes: 3,
  letters: customers.flatMap((to) => [
    { to, say: 'Where is my parcel?', atMs: 0 },
    { to, say: 'Thanks!', atMs: 20_000 },
  ]),
  models: {
    desk: scripted(({ messages }) => `You wrote: ${textOf(messages.at(-1) ?? { role: 'user', content: [] })}`),
  },
  world(seed, name = 'desk') {
    const world = new World({ name, seed, systems: standardSystems() })
    world.spawn(...agent({ model: 'desk/x' }))
    return world
  },
  faults: { crash: { perTick: 0.1 }, process: { pause: 0.02, deploy: 0.01 }, net: { cut: 0.02, unknown: 0.05 } },
})

console.log(result.violation ?? 'All laws are kept.')
for (const name of customers) {
  const world = result.worlds.get(name)?.world
  if (world !== undefined) console.log(`${name}: ${lastText(world, 1)}`)
}
console.log(`${result.crashes} processes died.`)

/* Prints:
All laws are kept.
desk/ann: You wrote: Thanks!
desk/bob: You wrote: Thanks!
desk/cem: You wrote: Thanks!
… processes died.
*/
