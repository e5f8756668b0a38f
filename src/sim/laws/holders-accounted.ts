import { Archive } from '../../../components/context/archive.ts'
import { HolderDraft, Seed } from '../../../components/context/holder.ts'
import type { World } from '../../world/world.ts'
import type { Law } from '../law.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'

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

export const holdersWithoutTools: Law = {
  name: 'holders-without-tools',
  meaning: "No holder's request declares a tool, or has a call in it.",
  watch: () => ({
    called({ effect, label, request, world }) {
      if (request === undefined || !world.has(effect, ModelCall)) return undefined
      if (!world.has(world.read(effect, OwnedBy).agent, Seed)) return undefined
      const { messages, options, tools } = request
      if (tools.length > 0 || options.extra?.['tools'] !== undefined) return `the holder ${label} declares tools`
      const hasCalls = messages.some(
        ({ content, role }) => role === 'tool' || content.some(({ type }) => type === 'tool-call'),
      )
      return hasCalls ? `the request of holder ${label} has calls in it` : undefined
    },
  }),
}
