import { describe, expect, it } from 'vitest'
import {
  Archive,
  Boundary,
  Busy,
  Conversation,
  Limits,
  Llm,
  ModelCall,
  Overflowed,
  OwnedBy,
  SideCall,
  Summarizing,
  SummaryTask,
  Turn,
} from '../../components/index.ts'
import type { BoundaryEntry } from '../../src/protocol/context.ts'
import type { Message } from '../../src/protocol/message.ts'
import { budgetKept } from '../../src/sim/laws/budget-kept.ts'
import { nothingWaitsInVain } from '../../src/sim/laws/nothing-waits-in-vain.ts'
import { prefixHolds } from '../../src/sim/laws/prefix-holds.ts'
import type { World } from '../../src/world/world.ts'
import { underLaw, watched, worldOf } from './law-under-test.ts'

type Step = (world: World) => unknown

const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const all =
  (...steps: readonly Step[]) =>
  (world: World) => {
    for (const step of steps) step(world)
  }
const called = (world: World): void =>
  world.emit({ type: 'model-called', agent: 1, messages: world.read(1, Conversation).length })

/** What a law says of the last of these ticks of agent 1; of those before it, nothing. */
function lastOf(law: Parameters<typeof underLaw>[0], ...steps: readonly Step[]) {
  const world = worldOf(...steps)
  world.spawn(Llm({ model: 'a/b' }), Limits({ maxSteps: 1 }), Conversation(['One', 'Two', 'Three'].map(says)))
  const under = underLaw(law, world)
  under.begin()
  for (const _ of steps.slice(1)) expect(under.tick()).toBeUndefined()
  return under.tick()
}

describe('prefix-holds, with a boundary', () => {
  const entry = (text: string, seq: number): BoundaryEntry => {
    return { atMs: 0, by: 'auto', kind: 'summary', missingHeadings: [], seq, text, truncated: false, usage: {} }
  }
  const bounds =
    (text: string, seq = 2) =>
    (world: World) =>
      world.append(1, Boundary, entry(text, seq))
  const more = (world: World): void => world.append(1, Conversation, says('Four'))
  const tells = (world: World): void => world.emit({ type: 'prefix-broken', agent: 1, component: 'Boundary' })

  it('is kept by a conversation that grows behind it', () => {
    expect(lastOf(prefixHolds, all(bounds('T'), called), all(more, called))).toBeUndefined()
  })

  it('is broken by a boundary of which no event tells', () => {
    expect(lastOf(prefixHolds, called, all(bounds('T'), called))).toMatch(/its Boundary is another one/)
    expect(lastOf(prefixHolds, all(bounds('T'), called), all(bounds('U'), called))).toMatch(/its Boundary is another/)
    const takesAway = (world: World): void => world.splice(1, Boundary, 0, 1, [])
    expect(lastOf(prefixHolds, all(bounds('T'), called), all(takesAway, called))).toMatch(/its Boundary is another/)
  })

  it('is kept by one of which an event tells', () => {
    expect(lastOf(prefixHolds, called, all(bounds('T'), tells, called))).toBeUndefined()
  })

  it('is broken by an event that tells of none', () => {
    expect(lastOf(prefixHolds, all(bounds('T'), called), all(more, tells, called))).toBe(
      'the request of agent 1 is said to be broken by a boundary, and it begins with the same',
    )
  })

  it('is kept by what replaces messages that it covers, and broken by what replaces others', () => {
    const gap = { atMs: 0, fromSeq: 1, reason: 'tokens', status: 'archived', subagentId: 's', task: 't' } as const
    const collapses = (toSeq: number) => (world: World) => {
      world.splice(1, Conversation, 1, toSeq - 1, [{ role: 'assistant', content: [] }])
      world.append(1, Archive, { ...gap, toSeq })
    }
    const four = all(more, bounds('T', 3), called)
    expect(lastOf(prefixHolds, four, all(collapses(3), called))).toBeUndefined()
    const rewrites = (world: World): void => world.splice(1, Conversation, 2, 1, [says('Other')])
    expect(lastOf(prefixHolds, all(bounds('T'), called), all(rewrites, called))).toMatch(
      /message 0 of its Conversation/,
    )
  })
})

describe('nothing-waits-in-vain, for a summary', () => {
  const call = { agent: 1, ask: '', fromSeq: 0, maxOutputTokens: 1, model: 'a/b', system: '', toSeq: 1 } as const
  const task = { by: 'auto', headings: [], kind: 'summary', requests: [] } as const
  const begins = (world: World): void => {
    world.add(1, Summarizing)
    world.spawn(SideCall({ ...call, purpose: 'compaction' }), SummaryTask(task))
  }

  it('is kept while somebody writes it', () => {
    expect(lastOf(nothingWaitsInVain, begins)).toBeUndefined()
  })

  it('is broken if nobody does, or the agent takes a step', () => {
    const forgets = (world: World): void => world.despawn(2)
    expect(lastOf(nothingWaitsInVain, all(begins, forgets))).toBe(
      'agent 1 waits for a summary that is not being written',
    )
    const steps = (world: World): void => {
      world.add(1, Busy)
      world.spawn(OwnedBy({ agent: 1 }), ModelCall({ messages: 1 }))
    }
    expect(lastOf(nothingWaitsInVain, all(begins, steps))).toBe(
      'agent 1 takes a step while a summary of it is being written',
    )
  })

  it('is broken at the end by an agent that still waits', () => {
    const world = worldOf(begins)
    world.spawn(Llm({ model: 'a/b' }), Conversation([]))
    const under = underLaw(nothingWaitsInVain, world)
    under.begin()
    under.tick()
    expect(under.watch.finished?.(new Map([['world', watched(world)]]))).toMatch(/agent 1 waits for a summary$/)
  })
})

describe('budget-kept, of steps that are taken back', () => {
  const step = (world: World): unknown => world.spawn(ModelCall({ messages: 1 }), OwnedBy({ agent: 1 }))
  const opens = (world: World): void => world.add(1, Turn({ startedAtMs: 0, steps: 1, toolCalls: 0 }))
  const fails = (world: World): void => world.emit({ type: 'model-failed', agent: 1, effect: 2 })
  const takesBack = (world: World): void =>
    world.add(1, Overflowed({ failure: { kind: 'context-overflow', message: '' } }))

  it('is kept if the step is tried once more', () => {
    expect(lastOf(budgetKept, all(opens, step), all(fails, takesBack), step)).toBeUndefined()
  })

  it('is broken by a further step behind any other failure', () => {
    expect(lastOf(budgetKept, all(opens, step), fails, step)).toBe('agent 1 takes step 2 of a turn that may have 1')
  })
})
