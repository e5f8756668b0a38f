import { thrownMessage } from '../../base/thrown-message.ts'
import { knownComponents, postedInputs } from '../../world/inspection.ts'
import { World } from '../../world/world.ts'
import type { Finding, Law } from '../law.ts'
import { Shadows, ShadowWorld } from './shadow-world.ts'

/** Unless a run is thorough, every 32nd world is restored at its end. The seed selects: the root under 1, 33, 65 … */
const worldsPerRestore = 32

export const restoredEqualsSaved: Law = {
  name: 'restored-equals-saved',
  meaning: 'A world that is restored, from its store or from a snapshot, is the world that was saved.',
  watch(run) {
    const shadows = run.shared(Shadows)
    return {
      began({ world }) {
        const difference = shadows.began(world)
        return difference && `the restored world is not what was committed: ${difference}`
      },
      ticked(tick) {
        shadows.ticked(tick)
        return undefined
      },
      finished(worlds) {
        const every = run.isThorough ? 1 : worldsPerRestore
        let place = run.seed - 1
        for (const { world, label } of worlds.values()) {
          if (place++ % every !== 0) continue
          const difference = restoredDiffers(world)
          if (difference !== undefined) return `${label}, made again of its snapshot: ${difference}`
        }
        return undefined
      },
    }
  },
}

function restoredDiffers(world: World): Finding {
  let again: World
  try {
    again = World.restore(world.snapshot(), { components: knownComponents(world).values() })
  } catch (error) {
    return `it cannot be: ${thrownMessage(error)}`
  }
  if (again.name !== world.name || again.seed !== world.seed) {
    return `it is '${again.name}' of seed ${again.seed}, and was '${world.name}' of seed ${world.seed}`
  }
  if (postedInputs(again) !== postedInputs(world)) return 'what has arrived is lost'
  return new ShadowWorld(world).difference(again)
}
