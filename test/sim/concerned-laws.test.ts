import { describe, expect, it } from 'vitest'
import { Busy, Conversation, Paused } from '../../components/index.ts'
import type { Message } from '../../src/protocol/message.ts'
import { concerning, type Law, LawBook, type RunFacts } from '../../src/sim/law.ts'
import { EntitySet } from '../../src/sim/laws/entity-set.ts'
import { type Concern, look, touchedLogOf, touchedOf } from '../../src/sim/touched.ts'
import { tick } from '../../src/world/tick.ts'
import type { World } from '../../src/world/world.ts'
import { watched, worldOf } from './law-under-test.ts'

const run: RunFacts = { seed: 1, maxSessions: 5, isKept: true, services: {} }
const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

/** The ticks of a world of which a law with a concern is asked, and what its book counts. */
function askedOf(concern: Concern, ...steps: readonly ((world: World) => unknown)[]) {
  const ticks: number[] = []
  const given: Law = {
    name: 'a law',
    meaning: 'It listens.',
    watch: () => ({ ticked: ({ step }) => void ticks.push(step.delta.tick) }),
  }
  const book = new LawBook([concerning(concern, given)], run)
  const world = worldOf(...steps)
  for (const _ of steps) {
    const { again, delta, events, inputs } = tick(world)
    book.ticked({ ...watched(world), step: { again, delta, events, inputs } })
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

describe('what a tick has touched', () => {
  it('is that of the tick that was looked at last', () => {
    const [busy, conversations] = [touchedOf(Busy), touchedLogOf(Conversation)]
    const world = worldOf(...all)
    const [first, second] = [tick(world), tick(world)]
    look(first)
    expect(busy.set).toEqual([[1, true]])
    expect(conversations.set).toEqual([[1, [says('Go')]]])
    expect(conversations.appended).toEqual([])
    look(second)
    expect(busy.set).toEqual([])
    expect(conversations.set).toEqual([])
    expect(conversations.appended).toEqual([[1, [says('More')]]])
    look(first)
    expect(busy.set).toEqual([[1, true]])
  })
})

describe('a set of entities', () => {
  it('has what was added to it, near and far, and nothing else', () => {
    const entities = new EntitySet()
    const added = [1, 31, 32, 33, 63, 64, 1_000, 1_000_000]
    for (const entity of added) entities.add(entity)
    for (const entity of added) {
      expect([entity - 1, entity, entity + 1].map((each) => entities.has(each))).toEqual([
        added.includes(entity - 1),
        true,
        added.includes(entity + 1),
      ])
    }
    expect(entities.has(2_000_000)).toBe(false)
  })
})
