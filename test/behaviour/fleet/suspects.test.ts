import { memoryStore, World } from 'entia'
import { describe, expect, it } from 'vitest'
import type { Claim } from '../../../src/engine/fleet/board.ts'
import { SimulatedBoard } from '../../../src/sim/fleet/simulated-board.ts'

const asking = { room: 10, hasSuspect: false }
const namesOf = (claims: readonly Claim[]): readonly string[] => claims.map(({ order }) => order.sessionId)

/** A simulated board with sessions that so many workers in a row have died with. */
async function boardWith(strikes: number, sessions: readonly string[]) {
  const board = new SimulatedBoard({ store: memoryStore(), cap: 10, date: () => 0 })
  const launcher = board.of('launcher')
  for (const sessionId of sessions) {
    const order = { root: 'desk', sessionId, parent: 'desk', path: [sessionId] }
    await launcher.launch(order, new World({ name: sessionId }), 1)
  }
  for (let death = 0; death < strikes; death++) {
    const worker = board.of(`dead ${death}`)
    for (const _ of sessions) await worker.next(asking)
    board.suspect(`dead ${death}`)
  }
  return board
}

describe('a session that two simulated workers in a row have died with', () => {
  it('is given to no worker that holds another one', async () => {
    const board = await boardWith(2, ['a', 'b', 'c'])
    await board
      .of('launcher')
      .launch({ root: 'desk', sessionId: 'd', parent: 'desk', path: ['d'] }, new World({ name: 'd' }), 1)
    const [one, two] = [board.of('one'), board.of('two')]
    const [first] = await one.next(asking)
    expect(first).toMatchObject({ order: { sessionId: 'a' }, isSuspect: true })
    expect(namesOf(await one.next({ room: 10, hasSuspect: true }))).toEqual(['d'])
    expect(namesOf(await one.next({ room: 10, hasSuspect: true }))).toEqual([])
    expect(namesOf(await two.next(asking))).toEqual(['b'])
  })

  it('is none yet after one death, and is given with others', async () => {
    const board = await boardWith(1, ['a', 'b'])
    const one = board.of('one')
    expect(await one.next({ room: 10, hasSuspect: true })).toMatchObject([{ isRecovered: true, isSuspect: false }])
    expect(namesOf(await one.next({ room: 10, hasSuspect: true }))).toEqual(['b'])
  })
})
