import { describe, expect, it } from 'vitest'
import { Busy, Conversation, Paused } from '../../components/index.ts'
import { type Law, LawBook } from '../../src/sim/law.ts'
import type { Message } from '../../src/protocol/message.ts'
import { type Concern, TickChanges } from '../../src/sim/tick-changes.ts'
import { tick } from '../../src/world/tick.ts'
import type { World } from '../../src/world/world.ts'
import { run, watched, worldOf } from './law-under-test.ts'

const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

/** The ticks of a world of which a law with a concern is asked, and what its book counts. */
function askedOf(concern: Concern, ...steps: readonly ((world: World) => unknown)[]) {
  const ticks: number[] = []
  const given: Law = {
    name: 'a law',
    meaning: 'It listens.',
    concern,
    watch: () => ({ ticked: ({ step }) => void ticks.push(step.delta.tick) }),
  }
  const book = new LawBook([given], run())
  const world = worldOf(...steps)
  for (const _ of steps) {
    const { again, delta, events, inputs } = tick(world)
    book.ticked(watched(world), { again, delta, events, inputs })
  }
  return { ticks, checks: book.checks }
}

/** One kind of change after the other. */
const all = [
  (world: World) => world.spawn(Conversation([says('Go')]), Busy),
  (world: World) => world.append(1, Conversation, says('More')),
  (world: World) => world.splice(1, Conversation, 0, 1, [says('Less')]),
  (world: World) => world.remove(1, Busy),
  (world: World) => world.emit({ type: 'bell-rung' }),
  (world: World) => world.despawn(1),
  () => undefined,
]

describe('a law with a concern', () => {
  it.for<[what: string, Concern, ticks: readonly number[]]>([
    ['sets a component', { set: [Busy] }, [1]],
    ['sets a log', { set: [Conversation] }, [1]],
    ['appends to a log', { appended: [Conversation] }, [2]],
    ['edits a log', { spliced: [Conversation] }, [3]],
    ['takes a component away', { removed: [Busy] }, [4]],
    ['tells of something', { events: ['bell-rung'] }, [5]],
    ['despawns somebody', { despawned: true }, [6]],
    ['does any of it', { set: [Busy], spliced: [Conversation], despawned: true }, [1, 3, 6]],
    ['does nothing of it', { set: [Paused] }, []],
  ])('is asked of a tick that %s, and counts as asked of all', ([, concern, ticks]) => {
    expect(askedOf(concern, ...all)).toEqual({ ticks, checks: all.length })
  })
})

describe('many laws with a concern', () => {
  it('each see the ticks that concern them, however many there are', () => {
    const types = Array.from({ length: 100 }, (_, index) => `event-${index}`)
    const seen = types.map(() => new Set<number>())
    const laws = types.map((type, index): Law => ({
      name: type,
      meaning: 'It listens.',
      concern: { events: [type] },
      watch: () => ({ ticked: ({ step }) => void seen[index]?.add(step.delta.tick) }),
    }))
    const world = worldOf(...types.map((type) => (made: World) => made.emit({ type })))
    const book = new LawBook(laws, run())
    for (const _ of types) book.ticked(watched(world), tick(world))
    for (const [index, ticks] of seen.entries()) expect(ticks).toContain(index + 1)
  })
})

describe('what a tick has changed', () => {
  it('is that of the tick that was looked at last', () => {
    const changes = new TickChanges()
    const [busy, conversations] = [changes.of(Busy), changes.ofLog(Conversation)]
    const world = worldOf(...all)
    const [first, second] = [tick(world), tick(world)]
    changes.look(first)
    expect(busy.set).toEqual([[1, true]])
    expect(conversations.set).toEqual([[1, [says('Go')]]])
    expect(conversations.appended).toEqual([])
    changes.look(second)
    expect(busy.set).toEqual([])
    expect(conversations.set).toEqual([])
    expect(conversations.appended).toEqual([[1, [says('More')]]])
    changes.look(first)
    expect(busy.set).toEqual([[1, true]])
  })

  it('is that of one run: another one has looked at nothing', () => {
    const [changes, others] = [new TickChanges(), new TickChanges()]
    changes.look(tick(worldOf(...all)))
    expect(changes.concern({ set: [Busy] })).toBe(true)
    expect(others.concern({ set: [Busy] })).toBe(false)
    expect(others.of(Busy).set).toEqual([])
  })
})
