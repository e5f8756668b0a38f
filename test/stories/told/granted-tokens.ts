import { declare, scripted, textOf } from 'entia'
import { DelegationLimits, ToolRegistry } from 'entia/components'
import { querySubagentDeclaration } from 'entia/systems'
import { calls, spoken } from './spoken.ts'
import { look, teamStory } from './team.ts'

const inheritancePolicy = { inheritTools: ['subagent'] }
const digger = { name: 'digger', model: 'digger/x', tools: ['look'], inheritancePolicy }
/** It names what it wants; of what it does not name it is granted a quarter. */
const scout = { name: 'scout', model: 'scout/x', tools: ['look'], limits: { tokens: 260 } }
const boss = { name: 'boss', model: 'digger/x', inheritancePolicy, limits: { sessions: 3, costUsd: 0.02 } }

function send(category: string, prompt: string, background = true) {
  return ['subagent', { category, prompt, background }] as const
}

/** Sessions that have tokens, money and sessions to spend, some too little of them, and hand a part of them on. */
export default teamStory({
  name: 'grants',
  subagents: { boss, digger, scout },
  maxSessions: 3,
  parts: [
    DelegationLimits({ costUsd: 0.2, depth: 3, sessions: 16, tokens: 6_000 }),
    ToolRegistry({ tools: [...declare(look), querySubagentDeclaration] }),
  ],
  prices: {
    'lead/x': { input: 10, output: 0 },
    'digger/x': { input: 20, output: 0 },
    'scout/x': { input: 10, output: 0 },
  },
  models: {
    lead: scripted(
      (request) => {
        switch (spoken(request)) {
          case 0:
            return calls(send('digger', 'deep'), send('scout', 'far'), send('boss', 'all'))
          case 1:
            return calls(send('scout', 'near', false), ['look', {}])
          case 2:
            return calls(['subagent_wait', { mode: 'any' }])
          case 3:
            return calls(['query_subagent', { id: '2', prompt: 'Sure?' }], send('digger', 'again'), [
              'subagent_cancel',
              { session_id: '1' },
            ])
          case 4:
            return calls(['subagent_wait', { mode: 'all' }])
          default:
            return 'All is spent.'
        }
      },
      { usage: { input: 100, output: 10 } },
    ),
    digger: scripted(
      (request) => {
        if (spoken(request) === 0) return calls(send('scout', 'below'), send('scout', 'beside', false))
        return spoken(request) < 4 ? calls(['look', {}]) : `Dug ${textOf(request.messages.at(0))}.`
      },
      { usage: { input: 90, output: 30 } },
    ),
    scout: scripted((request) => (spoken(request) < 2 ? calls(['look', {}]) : 'Seen.'), {
      usage: { input: 70, output: 30 },
    }),
  },
})
