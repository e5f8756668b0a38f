import { ModelCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { Seed } from '../../../components/context/holder.ts'
import type { Law } from '../law.ts'

/** A holder knows, and does nothing. */
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
