import { minSeenInputs } from '../../../components/agent/host-facts.ts'
import type { Law } from '../law.ts'

/** Also across crashes: an input is posted again if its commit was not confirmed. */
export const inputsTakenOnce: Law = {
  name: 'inputs-taken-once',
  meaning: 'What is posted under an id comes into its world once, however often it is posted.',
  watch() {
    /** The newest ids of each world. Worlds forget older ids, so those may be taken again. */
    const worlds = new Map<string, Set<string>>()
    return {
      began({ world }) {
        // A new world under the same name has taken nothing.
        if (world.tick === 0 || !worlds.has(world.name)) worlds.set(world.name, new Set())
      },
      ticked({ step: { inputs }, world }) {
        for (const { id, kind } of inputs) {
          if (typeof id !== 'string') continue
          const taken = worlds.get(world.name)
          if (taken?.has(id) === true) return `the ${kind} input '${id}' is taken a second time`
          taken?.add(id)
          if (taken !== undefined && taken.size > minSeenInputs) taken.delete(taken.values().next().value as string)
        }
        return undefined
      },
    }
  },
}
