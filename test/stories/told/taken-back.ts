import { simulatedUser } from 'entia/sim'
import { archivalStory } from './archival.ts'

const story = archivalStory()

/**
 * An agent whose finished turns are archived and whose conversation is compacted, while somebody takes back what was said: turns
 * on their way to a holder, archived ones, and what a summary covers.
 */
export default {
  ...story,
  users: {
    ...story.users,
    ben: simulatedUser((seen) => {
      if ('path' in seen || !('tick' in seen) || seen.tick > 60) return undefined
      const isMoment = ['turn-archived', 'boundary-written', 'tool-called', 'turn-ended'].includes(seen.type)
      return isMoment && seen.tick % 3 === 0 ? { rewind: 1, messages: 1 + (seen.tick % 4) } : undefined
    }),
    cid: simulatedUser((seen) =>
      seen.type === 'rewound' && !('path' in seen) ? { say: `dig once more ${seen.tick}`, to: 1 } : undefined,
    ),
  },
}
