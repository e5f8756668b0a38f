import { Archive } from '../../../components/context/archive.ts'
import { HolderDraft } from '../../../components/context/holder.ts'
import type { World } from '../../world/world.ts'
import type { Law } from '../law.ts'

/** Nothing is left behind of a turn that could not be archived. */
export const holdersAccounted: Law = {
  name: 'holders-accounted',
  meaning: 'Every holder in the store holds a turn that was archived, or is on its way.',
  watch() {
    const held = new Set<string>()
    return {
      held(holder) {
        held.add(holder.name)
        return undefined
      },
      removed: (holder) => void held.delete(holder),
      finished(all) {
        const known = new Set([...all.values()].flatMap(({ world }) => accounted(world)))
        const orphan = [...held].find((holder) => !known.has(holder))
        return orphan && `holder ${orphan} is in the store, and holds no turn of anybody`
      },
    }
  },
}

function accounted(world: World): readonly string[] {
  const archived = world.entitiesWith(Archive).flatMap((agent) => world.read(agent, Archive))
  return [
    ...archived.filter(({ status }) => status === 'archived').map(({ subagentId }) => subagentId),
    ...world.entitiesWith(HolderDraft).map((draft) => world.read(draft, HolderDraft).sessionId),
  ]
}
