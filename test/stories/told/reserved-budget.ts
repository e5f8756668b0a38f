import { declare, scripted } from 'entia'
import { DelegationLimits, ToolRegistry } from 'entia/components'
import { calls, spoken } from './spoken.ts'
import { look, teamStory } from './team.ts'

const inheritancePolicy = { inheritTools: ['subagent'] }
const scout = { name: 'scout', model: 'scout/x', tools: ['look'], limits: { tokens: 250 } }
const boss = { name: 'boss', model: 'boss/x', inheritancePolicy, limits: { tokens: 700 } }

function send(category: string, prompt: string, background = true) {
  return ['subagent', { category, prompt, background }] as const
}

/** More sessions than the budget reaches for at once: they wait for what others leave, at two levels, with fewer slots than sessions. */
export default teamStory({
  name: 'reserved',
  subagents: { boss, scout },
  maxSessions: 2,
  parts: [DelegationLimits({ depth: 3, sessions: 24, tokens: 1_500 }), ToolRegistry({ tools: declare(look) })],
  prices: {},
  models: {
    lead: scripted(
      (request) => {
        switch (spoken(request)) {
          case 0:
            return calls(...['one', 'two', 'three'].map((prompt) => send('scout', prompt)), send('boss', 'all'))
          case 1:
            return calls(send('boss', 'more'), send('scout', 'four'), ['subagent_cancel', { session_id: '2' }])
          case 2:
            return calls(['subagent_wait', { mode: 'all' }])
          default:
            return 'All are back.'
        }
      },
      { usage: { input: 100, output: 10 } },
    ),
    boss: scripted(
      (request) => (spoken(request) === 0 ? calls(send('scout', 'a', false), send('scout', 'b', false)) : 'Led.'),
      { usage: { input: 20, output: 10 } },
    ),
    scout: scripted((request) => (spoken(request) < 2 ? calls(['look', {}]) : 'Seen.'), {
      usage: { input: 30, output: 10 },
    }),
  },
})
