import { Conversation, Llm, user } from 'entia'
import { Ancestry, Archival, EndedTurn, Turn } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { endTurn } from '../../../systems/agent/end-turn.ts'
import { asking, model, type Part, saying, worldOf } from '../one-tick.ts'

type Trigger = NonNullable<Parameters<typeof Archival>[0]['trigger']>

/** Is the turn of an agent to be looked at when it ends like that? */
function isLookedAt(trigger: Trigger, stop: 'done' | 'cancelled' = 'done', ...parts: readonly Part[]): boolean {
  const world = worldOf()
  const result = { role: 'tool', callId: 'call-0', name: 'look', content: [] } as const
  const agent = world.spawn(
    Llm({ model }),
    Conversation([user('Go.'), asking({ name: 'look' }), result, saying('Done.')]),
    Archival({ enabled: true, trigger }),
    Turn({ fromSeq: 1, startedAtMs: 0, steps: 2, toolCalls: 1 }),
    ...parts,
  )
  endTurn(world, agent, { stop })
  return world.query(EndedTurn).length === 1
}

describe('a turn that ends, of an agent whose turns are archived', () => {
  it('is looked at if it may be heavy', () => {
    expect(isLookedAt({ tokenThreshold: 1 })).toBe(true)
    expect(isLookedAt({ tokenThreshold: null, toolCallThreshold: 1 })).toBe(true)
  })

  it('is looked at if it has not ended well, or if more than its size decides', () => {
    expect(isLookedAt({}, 'cancelled')).toBe(true)
    expect(isLookedAt({ depthCap: 0 })).toBe(true)
    expect(isLookedAt({}, 'done', Ancestry({ sessions: [{ kind: 'named', sessionId: 'session-a' }] }))).toBe(true)
  })

  it('is not looked at if its size says that it is light', () => {
    expect(isLookedAt({})).toBe(false)
    expect(isLookedAt({ tokenThreshold: null, toolCallThreshold: 2 })).toBe(false)
  })
})
