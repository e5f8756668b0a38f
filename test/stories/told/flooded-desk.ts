import { agent, scripted, standardSystems, World } from 'entia'
import type { SimulateOptions } from 'entia/sim'
import { everyFleetFault } from './every-fault.ts'

/** More than the letters that a world reads at once. */
const flood = 1_010

/** A desk that gets more letters at once than it reads at once, and some while it reads them. */
export default {
  processes: 3,
  letters: [
    ...Array.from({ length: flood }, (_, index) => ({ to: 'desk/1', say: `Letter ${index}.`, atMs: 0 })),
    ...Array.from({ length: 10 }, (_, index) => ({ to: 'desk/1', say: `Late letter ${index}.` })),
  ],
  models: { desk: scripted(({ messages }) => `Read: ${messages.length}.`) },
  world(seed: number, name = 'desk/1') {
    const world = new World({ name, seed, systems: standardSystems() })
    world.spawn(...agent({ model: 'desk/x' }))
    return world
  },
  faults: everyFleetFault,
} satisfies SimulateOptions
