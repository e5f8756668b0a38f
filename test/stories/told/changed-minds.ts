import { scripted } from 'entia'
import { simulatedUser } from 'entia/sim'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

const scout = { name: 'scout', model: 'scout/x', tools: ['look'] }

/** The owner speaks for so long. */
const maxTick = 16

/**
 * A lead whose owner changes their mind: steps are stopped and messages taken back at any moment, and work goes on with the next
 * message.
 */
export default teamStory({
  name: 'minds',
  subagents: { scout },
  maxSessions: 2,
  models: {
    lead: scripted((request) => {
      switch (spoken(request) % 5) {
        case 0:
          return calls(['look', {}], ['subagent', { category: 'scout', prompt: 'near', background: false }])
        case 1:
          return calls(['subagent', { category: 'scout', prompt: 'far', background: true }], ['look', {}])
        case 2:
          return calls(['subagent_wait', { mode: 'all', timeout: 60 }])
        default:
          return 'Enough.'
      }
    }),
    scout: scripted((request) => (spoken(request) === 0 ? calls(['look', {}]) : 'Seen.')),
  },
  users: {
    owner: simulatedUser((seen) => {
      if ('path' in seen || !('tick' in seen) || !('agent' in seen)) return undefined
      if (seen.type === 'rewound') return { say: `Once more, after ${seen.tick}.`, to: 1 }
      if (seen.type === 'model-replied' && seen.tick % 7 === 0) return { rewind: 1, messages: 1 + (seen.tick % 3) }
      if (seen.type === 'turn-ended' && seen.tick % 2 === 0) return { rewind: 1 }
      if (seen.type === 'step-stopped') return { say: `Another way, after ${seen.tick}.`, to: 1 }
      if (seen.type === 'turn-ended' && seen.tick < maxTick) return { say: `And ${seen.tick}?`, to: 1 }
      if (seen.type === 'model-called') return seen.tick % 3 === 0 ? { stopStep: 1 } : undefined
      if (seen.type === 'tool-called' && seen.tick % 5 === 0) return { say: `Mind ${seen.tick}.`, to: 1 }
      return seen.type === 'tool-called' && seen.tick % 4 === 0 ? { stopStep: 1 } : undefined
    }),
  },
})
