import { assistant, Conversation, lastText, LastTurn, memoryStore, user } from 'entia'
import { Ancestry, LastWords, SessionEnd } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { talksIn } from '../../../src/vitest/world-queries.ts'
import { sessionEnd } from '../../../systems/sessions/session-end.ts'
import { tickAt, worldOf } from '../../systems/one-tick.ts'
import { archiving, lastUser, looking, validSummary } from '../context/archiving.ts'
import { gate, reopened } from './driving.ts'

describe('an agent whose newest turn is archived', () => {
  it('has still said what it said last, until it says something else', async () => {
    const made = archiving({
      work: (request, context) =>
        lastUser(request).startsWith('briefly') ? 'In a word.' : looking(5)(request, context),
    })
    await made.runner.start()
    await made.say('first')
    expect(made.texts()[1]).toContain('[archived turn]')
    expect(lastText(made.world, made.agent)).toBe('Did: first')
    expect(talksIn(made.world)[0]?.answer).toBe('Did: first')
    await made.say('briefly')
    expect(lastText(made.world, made.agent)).toBe('In a word.')
    await made.say('second')
    expect(lastText(made.world, made.agent)).toBe('Did: second')
  })

  it('has said what it said in the newest of its turns, whichever of them collapsed last', async () => {
    const first = gate()
    const made = archiving({
      summary: async (request) => {
        if (JSON.stringify([...request.messages]).includes('first')) await first.promise
        return validSummary
      },
    })
    const { agent, next, runner, world } = made
    await runner.start()
    for (const text of ['first', 'second']) {
      const ended = next(text === 'first' ? 'turn-ended' : 'turn-archived')
      await runner.message(agent, text)
      await ended
    }
    expect(lastText(world, agent)).toBe('Did: second')
    first.resolve()
    await runner.idle()
    expect(made.archive()).toMatchObject([{ fromSeq: 13 }, { fromSeq: 1 }])
    expect(lastText(world, agent)).toBe('Did: second')
  })

  it('says that its model replied with nothing, where that has ended a later turn, which stays whole', async () => {
    const made = archiving({
      work: (request, context) => (lastUser(request) === 'first' ? looking(5)(request, context) : ''),
    })
    await made.runner.start()
    await made.say('first')
    await made.say('second')
    expect(made.archive()).toHaveLength(1)
    expect(made.told('archive-skipped')).toMatchObject([{ reason: 'not_finished' }])
    expect(lastText(made.world, made.agent)).toBe('[turn ended: the model replied with nothing]')
  })

  it('has said so in another process too', async () => {
    const store = memoryStore()
    const made = archiving({ runner: { store } })
    await made.runner.start()
    await made.say('first')
    await made.runner.stop()
    const later = await reopened(store, made.options)
    expect(lastText(later.world, made.agent)).toBe('Did: first')
  })
})

describe('a session whose turn was archived before it came to its end', () => {
  it('has its agent’s own words as its result', () => {
    const world = worldOf(sessionEnd)
    const agent = world.spawn(
      Ancestry({ sessions: [{ kind: 'named', sessionId: 'session-1' }] }),
      Conversation([user('Find it.'), assistant('[archived turn]\nsubagent_id: session-2\n\n{}')]),
      LastTurn({ stop: 'done', steps: 6, toolCalls: 5, startedAtMs: 0, endedAtMs: 0 }),
      LastWords({ seq: 2, text: 'Found it.' }),
    )
    tickAt(world, 0)
    expect(world.read(agent, SessionEnd)).toEqual({ ok: true, text: 'Found it.' })
  })
})
