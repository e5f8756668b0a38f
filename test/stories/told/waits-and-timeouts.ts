import { scripted, textOf } from 'entia'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

const slow = { name: 'slow', model: 'slow/x', tools: ['look'] }

/** Sessions that take longer than they have, and waits that end before what they wait for. */
export default teamStory({
  name: 'waits',
  subagents: { slow },
  maxSessions: 3,
  models: {
    lead: scripted((request) => {
      switch (spoken(request)) {
        case 0:
          return calls(
            ...[5, 60, 600].map((timeout, n) => {
              return ['subagent', { category: 'slow', prompt: `task ${n}`, background: true, timeout }] as const
            }),
          )
        case 1:
          return calls(['subagent_wait', { mode: 'all', timeout: 10 }])
        case 2:
          return calls(['subagent_result', { session_id: '3', block: true, timeout: 2 }])
        case 3:
          return calls(['subagent_wait', { mode: 'any', session_ids: ['2', '3'], timeout: 30 }])
        case 4:
          return calls(['subagent_wait', { mode: 'all' }])
        case 5:
          return calls(['subagent', { category: 'slow', prompt: 'again', background: false, timeout: 1 }])
        default:
          return 'Waited enough.'
      }
    }),
    slow: scripted(
      (request) => (spoken(request) < 2 ? calls(['look', {}]) : `Done with ${textOf(request.messages.at(0))}.`),
      { latencyMs: [500, 30_000] },
    ),
  },
})
