import { scripted, textOf } from 'entia'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

function isFork(text: string): boolean {
  return text.includes('side ')
}

/** A lead that looks around, then works on two sides of the matter at once, as forks of itself. */
export default teamStory({
  name: 'forks',
  subagents: {},
  registry: { fork: { maxSteps: 6 }, defaultCategory: 'fork' },
  models: {
    lead: scripted((request) => {
      const lastUser = textOf(request.messages.findLast(({ role }) => role === 'user'))
      if (isFork(lastUser)) {
        const own = request.messages.at(-1)?.role === 'tool'
        return own ? `Seen from ${lastUser.slice(-5)}.` : calls(['look', { at: lastUser.slice(-5) }])
      }
      switch (spoken(request)) {
        case 0:
          return calls(['look', { at: 'north' }])
        case 1:
          return calls(
            ['subagent', { prompt: 'side A', background: true }],
            ['subagent', { prompt: 'side B', background: false }],
          )
        case 2:
          return calls(['subagent_wait', { mode: 'all' }])
        default:
          return 'Both sides are seen.'
      }
    }),
  },
})
