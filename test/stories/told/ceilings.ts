import { declare, scripted, textOf } from 'entia'
import { ToolRegistry } from 'entia/components'
import { Ceilings, Context } from 'entia/context'
import { querySubagentDeclaration } from 'entia/systems'
import { simulatedUser } from 'entia/sim'
import { calls, spoken } from './spoken.ts'
import { look, teamStory } from './team.ts'

const digger = { name: 'digger', model: 'digger/x', tools: ['look'], inheritancePolicy: { inheritTools: ['subagent'] } }
const scout = { name: 'scout', model: 'scout/x', tools: ['look'], limits: { costUsd: 0.05 } }
/** A cent a call of the lead, three a call of a digger. */
const usage = { input: 1_000, output: 0 }
/** Users are patient for so long. */
const maxTick = 12

function ask(prompt: string) {
  return ['query_subagent', { id: '2', prompt }] as const
}

function send(category: string, prompt: string, background = true) {
  return ['subagent', { category, prompt, background }] as const
}

/**
 * A lead under ceilings, with sessions that spend as well, sessions of theirs, and summaries. Its owner lets it go on a few
 * times, with more money, and asks for more.
 */
export default teamStory({
  name: 'thrifty',
  subagents: { digger, scout },
  maxSessions: 3,
  parts: [
    Ceilings({ maxSessionCostUsd: 0.2, maxTurnCostUsd: 0.12 }),
    Context({ compaction: { threshold: 0.5 } }),
    ToolRegistry({ tools: [...declare(look), querySubagentDeclaration] }),
  ],
  prices: {
    'lead/x': { input: 10, output: 0, contextWindow: 1_800 },
    'digger/x': { input: 30, output: 0 },
    'scout/x': { input: 10, output: 0 },
  },
  models: {
    lead: scripted(
      (request) => {
        // Asked for a summary, it has no tools.
        if (request.tools.length === 0) return 'Some digging was done.'
        switch (spoken(request) % 6) {
          case 0:
            return calls(send('digger', 'deep'), send('scout', 'far'), ['look', {}])
          case 1:
            return calls(['look', { at: 'home' }], send('scout', 'near', false))
          case 2:
            return calls(['subagent_wait', { mode: 'any' }])
          case 3:
            return calls(ask('Are you sure?'), ask('Really?'), ['look', {}])
          case 4:
            return calls(['look', {}], ['look', { at: 'left' }], ['look', { at: 'right' }])
          default:
            return 'Found enough.'
        }
      },
      { usage },
    ),
    digger: scripted((request) => (spoken(request) < 3 ? calls(['look', {}], send('scout', 'below')) : 'Dug.'), {
      usage,
    }),
    scout: scripted(
      (request) => (spoken(request) < 2 ? calls(['look', {}]) : `Seen: ${textOf(request.messages.at(0))}.`),
      {
        usage,
      },
    ),
  },
  users: {
    owner: simulatedUser((seen) => {
      if (seen.type === 'turn-error' && seen.tick < maxTick && !('path' in seen)) {
        return { resetCostCeiling: 1, ...(seen.tick % 2 === 0 && { addSessionUsd: 0.1 }) }
      }
      return seen.type === 'turn-ended' && seen.tick < maxTick && !('path' in seen) ? { say: 'Go on.' } : undefined
    }),
  },
})
