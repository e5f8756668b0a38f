import { scripted, textOf } from 'entia'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

const scout = { name: 'scout', model: 'scout/x', tools: ['look'] }
const task = (prompt: string) => ['subagent', { category: 'scout', prompt, background: true }] as const

/** A lead that launches scouts in the background, waits for one, then for all, and reads what they found. */
export default teamStory({
  name: 'background',
  subagents: { scout },
  maxSessions: 2,
  models: {
    lead: scripted((request) => {
      switch (spoken(request)) {
        case 0:
          return calls(task('alpha'), task('beta'), task('gamma'))
        case 1:
          return calls(['subagent_wait', { mode: 'any' }])
        case 2:
          return calls(['subagent_status', {}], task('delta'))
        case 3:
          return calls(['subagent_wait', { mode: 'all' }])
        case 4:
          return calls(...[1, 2, 3, 4].map((n) => ['subagent_result', read(n)] as const))
        case 5:
          return calls(['subagent_query', { session_id: '1', prompt: 'Are you sure?' }])
        default:
          return 'All are back.'
      }
    }),
    scout: scripted((request) => {
      const asked = textOf(request.messages.findLast(({ role }) => role === 'user'))
      const before = spoken(request)
      if (before === 0) return calls(['look', { at: asked }])
      if (before === 1) return calls(['look', {}], ['look', { at: 'home' }])
      return `Found ${asked}.`
    }),
  },
})

function read(session: number): object {
  return { session_id: `${session}`, read_method: 'full' }
}
