import { scripted } from 'entia'
import { everyFault } from './every-fault.ts'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

const digger = { name: 'digger', model: 'digger/x', inheritancePolicy: { inheritTools: ['subagent'] } }
const scout = { name: 'scout', model: 'scout/x', tools: ['look'] }
const cancel = (session: number) => ['subagent_cancel', { session_id: `${session}` }] as const

function delegate(category: string, background: boolean) {
  return ['subagent', { category, prompt: 'dig', background }] as const
}

const story = teamStory({
  name: 'storm',
  subagents: { digger, scout },
  maxSessions: 2,
  models: {
    lead: scripted((request) => {
      switch (spoken(request) % 5) {
        case 0:
          return calls(delegate('digger', true), delegate('scout', true), delegate('digger', true))
        case 1:
          return calls(cancel(1), cancel(2), cancel(99))
        case 2:
          return calls(delegate('digger', true), cancel(3), cancel(4))
        case 3:
          return calls(['subagent_wait', { mode: 'all', timeout: 120 }])
        default:
          return 'Enough.'
      }
    }),
    digger: scripted((request) =>
      spoken(request) === 0 ? calls(delegate('scout', false), delegate('scout', true)) : 'Dug.',
    ),
    scout: scripted((request) => (spoken(request) === 0 ? calls(['look', {}]) : 'Seen.')),
  },
})

/** Sessions are ended by their agents and by users, queued or running, with sessions of their own or without. */
export default { ...story, faults: { ...everyFault, users: { ...everyFault.users, cancel: 0.08, message: 0.04 } } }
