import { type Entity, World } from 'entia'
import { Archive } from 'entia/components'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countUpTo, seqAt } from '../../../src/rules/projection/places.ts'

const turn = { atMs: 0, reason: 'tool_calls', subagentId: 's', task: 'Archive: a' } as const

function archive(world: World, agent: Entity, fromSeq: number, toSeq: number): void {
  world.append(agent, Archive, { ...turn, fromSeq, status: 'archived', toSeq })
}

describe('the seq of a message', () => {
  it('is its place where nothing was archived', () => {
    const world = new World()
    const agent = world.spawn()
    expect([0, 1, 9].map((index) => seqAt(world, agent, index))).toEqual([1, 2, 10])
    expect([0, 1, 9].map((seq) => countUpTo(world, agent, seq))).toEqual([0, 1, 9])
  })

  it('of what stands behind an archived turn stays', () => {
    const world = new World()
    const agent = world.spawn()
    archive(world, agent, 3, 7)
    expect([0, 1, 2, 3, 4].map((index) => seqAt(world, agent, index))).toEqual([1, 2, 3, 7, 8])
    expect([2, 3, 4, 6, 7, 8].map((seq) => countUpTo(world, agent, seq))).toEqual([2, 3, 3, 3, 4, 5])
  })

  it('is not moved by a turn that could not be archived', () => {
    const world = new World()
    const agent = world.spawn()
    world.append(agent, Archive, { ...turn, fromSeq: 1, status: 'failed', toSeq: 9 })
    expect(seqAt(world, agent, 5)).toBe(6)
  })

  it('is that of a list that turns are taken out of, in whatever order they are archived', () => {
    const lengths = fc.array(fc.integer({ min: 2, max: 6 }), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(lengths, fc.infiniteStream(fc.nat()), fc.boolean(), (turns, dice, looksBetween) => {
        const world = new World()
        const agent = world.spawn()
        let first = 1
        const open = turns.map((length) => ({ fromSeq: first, toSeq: (first += length) - 1 }))
        let seqs = Array.from({ length: first + 2 }, (_, index) => index + 1)
        const all = seqs
        while (open.length > 0) {
          const [taken] = open.splice((dice.next().value as number) % open.length, 1)
          if (taken === undefined) break
          const { fromSeq, toSeq } = taken
          archive(world, agent, fromSeq, toSeq)
          seqs = seqs.filter((seq) => seq <= fromSeq || seq >= toSeq)
          if (!looksBetween && open.length > 0) continue
          expect(seqs.map((_, index) => seqAt(world, agent, index))).toEqual(seqs)
          const counts = all.map((seq) => seqs.filter((each) => each <= seq).length)
          expect(all.map((seq) => countUpTo(world, agent, seq))).toEqual(counts)
        }
      }),
    )
  })
})
