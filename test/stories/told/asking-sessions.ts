import { defineTool, scripted, textOf } from 'entia'
import { simulatedUser } from 'entia/sim'
import { z } from 'zod'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

const buy = defineTool({
  name: 'buy',
  description: 'Buys something.',
  input: z.object({ what: z.string() }),
  restart: 'once',
  approval: true,
  run: ({ what }) => `bought ${what}`,
})
const buyer = {
  name: 'buyer',
  model: 'buyer/x',
  tools: ['buy', 'look'],
  inheritancePolicy: { inheritTools: ['subagent'] },
}

function send(prompt: string, background: boolean) {
  return ['subagent', { category: 'buyer', prompt, background }] as const
}

/** Sessions, and sessions of theirs, that ask a user before they buy: answers find them, whatever restarts in between. */
export default teamStory({
  name: 'market',
  subagents: { buyer },
  tools: [buy],
  maxSessions: 2,
  models: {
    lead: scripted((request) => {
      if (spoken(request) === 0) return calls(send('bread and more', true), send('salt', true), send('oil', true))
      return spoken(request) === 1 ? calls(['subagent_wait', { mode: 'all' }]) : 'All is bought.'
    }),
    buyer: scripted((request) => {
      const what = textOf(request.messages.at(0))
      const isHelped = what.includes('more')
      if (spoken(request) === 0) return calls(['buy', { what }], ...(isHelped ? [send('butter', false)] : []))
      return spoken(request) === 1 ? calls(['look', {}]) : `Bought ${what}.`
    }),
  },
  users: {
    owner: simulatedUser((seen) => {
      if (seen.type !== 'approval-requested') return undefined
      return { approve: seen.tick % 4 !== 0, reason: 'It is my money.' }
    }),
  },
})
