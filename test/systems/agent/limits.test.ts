import { Conversation, LastTurn, Limits, Paused, user } from 'entia'
import { Busy, LastStep, Turn, Unread } from 'entia/components'
import { limits } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { type Part, thinker, tickAt, told, worldOf } from '../one-tick.ts'

/** An agent that has taken its last step, and has something left to answer. */
function spent(...parts: readonly Part[]) {
  const world = worldOf(limits)
  const { agent, call } = thinker(world, LastStep, ...parts)
  world.despawn(call)
  world.remove(agent, Busy)
  world.append(agent, Conversation, user('Go on'))
  return { world, agent }
}

describe('a turn that has used up its steps', () => {
  it('ends, and says so', () => {
    const { world, agent } = spent(Limits({ maxSteps: 1 }))
    const result = tickAt(world, 4)
    expect(transcript(world, agent).at(-1)).toBe('assistant: [Max turns reached]')
    expect(world.read(agent, LastTurn)).toMatchObject({
      stop: 'max-steps',
      failure: { kind: 'step-limit', message: 'Step limit reached (1)' },
      steps: 1,
      endedAtMs: 4,
    })
    expect([Turn, Unread, LastStep].filter((token) => world.has(agent, token))).toEqual([])
    expect(told(result)).toEqual(['turn-ended'])
  })

  it('waits for what its last step has under way', () => {
    const { world, agent } = spent(Limits({ maxSteps: 1 }))
    world.add(agent, Busy)
    expect(told(tickAt(world, 0))).toEqual([])
    expect(world.has(agent, Turn)).toBe(true)
  })

  it('waits while its agent is paused', () => {
    const { world, agent } = spent(Limits({ maxSteps: 1 }), Paused)
    tickAt(world, 0)
    expect(world.has(agent, Turn)).toBe(true)
  })

  it('has 50 of them where nobody has said otherwise', () => {
    const { world, agent } = spent()
    tickAt(world, 0)
    expect(world.read(agent, LastTurn).failure?.message).toBe('Step limit reached (50)')
  })
})

describe('a turn that has steps left', () => {
  it('goes on', () => {
    const { world, agent } = spent()
    world.remove(agent, LastStep)
    expect(tickAt(world, 0).delta.set).toBeUndefined()
    expect(world.has(agent, Turn)).toBe(true)
  })
})
