import { describe, expect, it } from 'vitest'
import { SeenInputs } from 'entia/components'
import { receipts } from 'entia/systems'
import { tickAt, worldOf } from '../one-tick.ts'

const first = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ kind: 'news', id: `id-${from + index}` }))

describe('an input that was posted under an id', () => {
  it('is remembered by it, in order of arrival, in one place', () => {
    const world = worldOf(receipts)
    tickAt(world, 0, { kind: 'news', id: 'b' }, { kind: 'news' }, { kind: 'news', id: 'a' })
    tickAt(world, 0, { kind: 'other', id: 'c' })
    const [keeper, ...others] = world.query(SeenInputs)
    expect(others).toEqual([])
    expect(world.read(keeper ?? 0, SeenInputs)).toEqual(['b', 'a', 'c'])
  })

  it('is forgotten when more than 2,048 are remembered: the newest 1,024 stay', () => {
    const world = worldOf(receipts)
    tickAt(world, 0, ...first(0, 2_048))
    const [keeper = 0] = world.query(SeenInputs)
    expect(world.read(keeper, SeenInputs)).toHaveLength(2_048)
    tickAt(world, 0, ...first(2_048, 1))
    expect(world.read(keeper, SeenInputs)).toEqual(first(1_025, 1_024).map(({ id }) => id))
  })
})

describe('an input without an id', () => {
  it('leaves nothing behind', () => {
    const world = worldOf(receipts)
    expect(tickAt(world, 0, { kind: 'news' }, { kind: 'news', id: 7 }).delta).not.toHaveProperty('set')
    expect(world.entities()).toEqual([])
  })
})
