import { agent, Llm, scripted, standardSystems, World } from 'entia'
import { standardRetry } from 'entia/models'
import type { SimulateOptions } from 'entia/sim'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'
import { look } from './team.ts'

/** A try has three seconds, and the model needs about as long. */
const timeoutMs = 3_000
const latencyMs = [2_200, 3_600] as const
const patient = { ...standardRetry, firstDelayMs: 400, maxAttempts: 5, maxDelayMs: 2_000 }

/**
 * Agents whose model is often too late, on a store that is often slow: what a try has come to is on its way while the world
 * has given it up, and arrives at a later one. Each has another policy of trying again.
 */
export default {
  tools: [look],
  models: {
    slow: scripted((request) => (spoken(request) < 4 ? calls(['look', {}]) : 'Seen.'), { latencyMs }),
    hasty: scripted((request) => (spoken(request) < 4 ? calls(['look', {}]) : 'Seen.'), {
      latencyMs,
      retry: { ...patient, kinds: ['timed-out', 'overloaded'], maxAttempts: 2 },
    }),
  },
  world(seed) {
    const world = new World({ name: 'tries', seed, systems: standardSystems() })
    const task = { tools: [look], messages: 'Look.' }
    for (const retry of [patient, { ...patient, kinds: [...patient.kinds, 'refused' as const] }, false as const]) {
      const one = world.spawn(...agent({ ...task, model: 'slow/x' }))
      world.patch(one, Llm, { retry, timeoutMs })
    }
    world.patch(world.spawn(...agent({ ...task, model: 'hasty/x' })), Llm, { timeoutMs })
    world.patch(world.spawn(...agent({ ...task, model: 'slow/y' })), Llm, { timeoutMs })
    return world
  },
  faults: {
    ...everyFault,
    delivery: { duplicated: 0.05, late: 0.4, reordered: 0.05 },
    store: { fails: 0.05, full: 0.05, torn: 0.005 },
  },
} satisfies SimulateOptions
