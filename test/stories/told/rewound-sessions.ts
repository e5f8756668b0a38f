import { Conversation, scripted, textOf } from 'entia'
import { SubagentSession } from 'entia/components'
import { law, simulatedUser, standardLaws } from 'entia/sim'
import { calls, spoken } from './spoken.ts'
import { teamStory } from './team.ts'

const scout = { name: 'scout', model: 'scout/x', tools: ['look'] }
const maxTick = 30

function launch(prompt: string) {
  return ['subagent', { category: 'scout', prompt, background: true }] as const
}

const noneAlone = law('no session works that its agent does not know of any more', {
  finished: ({ worlds }) =>
    [...worlds.values()].every(({ world }) =>
      world.query(SubagentSession).every((session) => {
        const { parent, sessionId, status } = world.read(session, SubagentSession)
        if (status !== 'running' && status !== 'queued') return true
        return JSON.stringify(world.get(parent, Conversation) ?? []).includes(sessionId)
      }),
    ),
})

const toldOfKnown = law('an agent hears of no session whose launch was taken back', {
  finished: ({ worlds }) => {
    for (const { world } of worlds.values()) {
      for (const speaker of world.query(Conversation)) {
        const messages = world.read(speaker, Conversation)
        for (const [index, message] of messages.entries()) {
          if (message.role !== 'system') continue
          const before = JSON.stringify(messages.slice(0, index))
          const news = Array.from(textOf(message).matchAll(/^- (session-[0-9a-f]+) /gm), ([, id = '']) => id)
          const unknown = news.find((id) => !before.includes(id))
          if (unknown !== undefined) return `agent ${speaker} hears of ${unknown}, which nothing before says`
        }
      }
    }
    return true
  },
})

/**
 * A lead that launches two sessions in each turn, while its owner goes back by one message or several: over sessions that wait, that
 * run and that have ended, of the first launch and of the second.
 */
const story = teamStory({
  name: 'paths',
  subagents: { scout },
  maxSessions: 2,
  models: {
    lead: scripted((request) => {
      switch (spoken(request) % 3) {
        case 0:
          return calls(launch('left'), launch('right'))
        case 1:
          return calls(launch('straight'), ['look', {}])
        default:
          return 'They are on their way.'
      }
    }),
    scout: scripted((request) => (spoken(request) < 2 ? calls(['look', {}]) : 'Seen.')),
  },
  users: {
    owner: simulatedUser((seen) => {
      if ('path' in seen || !('tick' in seen) || seen.tick > maxTick) return undefined
      const { tick, type } = seen
      if (type === 'rewound') return { say: `Once more, after ${tick}.`, to: 1 }
      if (type === 'turn-ended')
        return tick % 3 === 0 ? { rewind: 1, messages: 1 + (tick % 2) } : { say: `And ${tick}?`, to: 1 }
      const isMoment = type === 'session-queued' || type === 'session-ended' || type === 'delegation-started'
      return isMoment && tick % 2 === 0 ? { rewind: 1, messages: 1 + (tick % 3) } : undefined
    }),
  },
})

export default { ...story, laws: [...standardLaws, noneAlone, toldOfKnown] }
