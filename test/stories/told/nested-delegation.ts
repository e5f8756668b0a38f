import { scripted, textOf } from 'entia'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

const inheritancePolicy = { inheritTools: ['subagent'] }
const digger = { name: 'digger', model: 'digger/x', inheritancePolicy }
const scout = { name: 'scout', model: 'scout/x', tools: ['look'] }

function delegate(category: string, prompt: string, background: boolean) {
  return ['subagent', { category, prompt, background }] as const
}

/** Diggers that send diggers that send scouts, with room for one session at a time: who waits gives their slot away. */
export default teamStory({
  name: 'nested',
  subagents: { digger, scout },
  maxSessions: 1,
  models: {
    lead: scripted((request) =>
      spoken(request) === 0 ? calls(delegate('digger', '2', false), delegate('digger', '1', true)) : 'Dug.',
    ),
    digger: scripted((request) => {
      const depth = Number(textOf(request.messages.at(0)).replaceAll(/\D/g, ''))
      switch (spoken(request)) {
        case 0:
          return depth > 0
            ? calls(delegate('digger', `${depth - 1}`, depth % 2 === 1), delegate('scout', 'left', true))
            : calls(delegate('scout', 'right', false))
        case 1:
          return calls(['subagent_wait', { mode: 'all', timeout: 3_600 }])
        default:
          return `Dug ${depth} deep.`
      }
    }),
    scout: scripted((request) => (spoken(request) === 0 ? calls(['look', {}]) : 'Nothing there.')),
  },
})
