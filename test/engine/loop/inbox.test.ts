import { describe, expect, it } from 'vitest'
import { Inbox } from '../../../src/engine/loop/inbox.ts'

function kinds(inbox: Inbox): string[] {
  const { change, entries } = inbox.take()
  return [...(change === undefined ? [] : ['change()']), ...entries.map(({ input }) => input.kind)]
}

const change = () => undefined

describe('an inbox', () => {
  it('gives what came, in order, so many at a time', () => {
    const inbox = new Inbox(2)
    for (const kind of ['a', 'b', 'c']) inbox.push({ kind })
    expect([inbox.size, kinds(inbox), inbox.size, kinds(inbox), kinds(inbox)]).toEqual([3, ['a', 'b'], 1, ['c'], []])
  })

  it('gives one change at a time, before the inputs behind it and after those before it', () => {
    const inbox = new Inbox(3)
    inbox.push({ kind: 'a' })
    inbox.pushChange(change)
    inbox.push({ kind: 'b' })
    inbox.push({ kind: 'c' })
    inbox.push({ kind: 'd' })
    inbox.push({ kind: 'e' })
    inbox.pushChange(change)
    inbox.pushChange(change)
    const takes = [kinds(inbox), kinds(inbox), kinds(inbox), kinds(inbox), kinds(inbox)]
    expect(takes).toEqual([['a'], ['change()', 'b', 'c', 'd'], ['e'], ['change()'], ['change()']])
  })

  it('gives what was written before the start as the first input of its tick', () => {
    const inbox = new Inbox(5)
    inbox.push({ kind: 'change' })
    inbox.push({ kind: 'a' })
    inbox.push({ kind: 'change' })
    expect([kinds(inbox), kinds(inbox)]).toEqual([['change', 'a'], ['change']])
  })

  it('takes back what was taken too early, before all else', () => {
    const inbox = new Inbox(2)
    for (const kind of ['a', 'b', 'c', 'd']) inbox.push({ kind })
    inbox.putBack(inbox.take().entries)
    expect([kinds(inbox), kinds(inbox)]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  it('stays in order however much goes through it', () => {
    const inbox = new Inbox(256)
    const seen: string[] = []
    for (let round = 0; round < 40; round++) {
      for (let index = 0; index < 300; index++) inbox.push({ kind: `${round * 300 + index}` })
      seen.push(...kinds(inbox))
    }
    while (inbox.size > 0) seen.push(...kinds(inbox))
    expect(seen).toEqual(Array.from({ length: 12_000 }, (_, index) => `${index}`))
  })

  it('knows an id again, and forgets the oldest of more than 2,048', () => {
    const inbox = new Inbox(1)
    inbox.remember(['a'])
    expect([inbox.isNew('a'), inbox.isNew('b'), inbox.isNew('b')]).toEqual([false, true, false])
    for (let index = 0; index < 2_047; index++) inbox.isNew(`${index}`)
    expect([inbox.isNew('b'), inbox.isNew('2046')]).toEqual([false, false])
    expect(inbox.isNew('a')).toBe(true)
  })

  it('that is emptied gives those who wait', () => {
    const inbox = new Inbox(1)
    const waiter = { resolve: () => undefined, reject: () => undefined }
    inbox.push({ kind: 'a' })
    inbox.push({ kind: 'b' }, waiter)
    inbox.pushChange(change, waiter)
    expect(inbox.drain()).toEqual([waiter, waiter])
    expect([inbox.size, kinds(inbox)]).toEqual([0, []])
  })
})
