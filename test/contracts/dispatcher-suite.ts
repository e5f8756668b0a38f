import { describe, expect, it } from 'vitest'
import type { Seat } from './dispatcher-seat.ts'

export interface SeatedWorker extends Seat {
  /** Its process ends without a word. */
  kill(): Promise<void>
  /** Its process stands still for longer than its lease. */
  hang(): Promise<void>
  /** It goes on, and does not know that it hung. */
  wake(): Promise<void>
}

export interface Seats {
  /** Under which the root is held. */
  readonly epoch: number
  worker(): Promise<SeatedWorker>
}

export interface DispatcherPlaces {
  readonly name: string
  /** An empty fleet. @param hasShortLease a worker that hangs is thought dead soon; otherwise only one that was killed is */
  readonly make: (options: { readonly cap: number; readonly hasShortLease?: boolean }) => Promise<Seats>
}

/** What holds of everything that gives sessions to the workers of a fleet, at once or a while later. */
export function describeDispatchers(places: readonly DispatcherPlaces[]): void {
  describe.each(places)('sessions that $name gives to workers', ({ make }) => {
    /** What a worker is given until it has so many, in this order. */
    async function given(worker: Seat, count: number, room = count): Promise<readonly string[]> {
      const all: string[] = []
      const more = async (): Promise<number> => all.push(...(await worker.next(room - all.length)))
      await expect.poll(more).toBeGreaterThanOrEqual(count)
      return all
    }

    /** Whether a session has its slot again, while its worker looks for more all the time and is given none. */
    async function grantedAgain(worker: Seat, session: string): Promise<boolean | undefined> {
      let hasSlot: boolean | undefined
      const more: string[] = []
      void worker.slotAgain(session).then((has) => (hasSlot = has))
      const looked = async (): Promise<boolean | undefined> => {
        more.push(...(await worker.next(5)))
        return hasSlot
      }
      await expect.poll(looked).toBeDefined()
      expect(more).toEqual([])
      return hasSlot
    }

    async function launched(seats: Seats, worker: Seat, sessions: readonly string[]): Promise<void> {
      for (const session of sessions) await worker.launch(session, seats.epoch)
    }

    it('come once, however often they are launched, and never again once they are finished', async () => {
      const seats = await make({ cap: 5 })
      const [one, two] = [await seats.worker(), await seats.worker()]
      await Promise.all([one.launch('a', seats.epoch), two.launch('a', seats.epoch), one.launch('a', seats.epoch)])
      expect(await given(one, 1)).toEqual(['a'])
      await two.launch('a', seats.epoch)
      await one.finished('a')
      await two.launch('a', seats.epoch)
      await launched(seats, two, ['b'])
      expect(await given(two, 1, 5)).toEqual(['b'])
      expect(await two.next(5)).toEqual([])
    })

    it('are not launched by a holder that was succeeded', async () => {
      const seats = await make({ cap: 5 })
      const worker = await seats.worker()
      await expect(worker.launch('a', seats.epoch - 1)).rejects.toMatchObject({ code: 'world-fenced' })
      await launched(seats, worker, ['b'])
      expect(await given(worker, 1, 5)).toEqual(['b'])
    })

    it('come in the order of their launches, and know how many are ahead of them', async () => {
      const seats = await make({ cap: 1 })
      const worker = await seats.worker()
      await launched(seats, worker, ['a'])
      expect(await given(worker, 1)).toEqual(['a'])
      await launched(seats, worker, ['b', 'c', 'd'])
      expect(await Promise.all(['a', 'b', 'c', 'd', 'none'].map((each) => worker.position(each)))).toEqual([
        undefined,
        0,
        1,
        2,
        undefined,
      ])
      await worker.finished('a')
      expect(await given(worker, 1, 5)).toEqual(['b'])
      await worker.finished('b')
      expect(await given(worker, 1, 5)).toEqual(['c'])
      await worker.finished('c')
      expect(await given(worker, 1, 5)).toEqual(['d'])
    })

    it('never start once they are withdrawn, and cannot be once they were given', async () => {
      const seats = await make({ cap: 1 })
      const worker = await seats.worker()
      await launched(seats, worker, ['a'])
      await given(worker, 1)
      await launched(seats, worker, ['b', 'c'])
      expect(await worker.withdraw('b')).toBe(true)
      expect(await worker.withdraw('b')).toBe(false)
      expect(await worker.withdraw('a')).toBe(false)
      expect(await worker.position('c')).toBe(0)
      await worker.finished('a')
      expect(await given(worker, 1, 5)).toEqual(['c'])
    })

    it('never have more slots than the cap, over all workers', async () => {
      const seats = await make({ cap: 3 })
      const workers = await Promise.all([seats.worker(), seats.worker()])
      const [one] = workers
      const names = Array.from({ length: 10 }, (_, each) => `s${each}`)
      await launched(seats, one, names)
      const done: string[] = []
      while (done.length < names.length) {
        const held = (
          await Promise.all(workers.map(async (worker) => [worker, await worker.next(3)] as const))
        ).flatMap(([worker, got]) => got.map((session) => ({ worker, session })))
        const all = (await Promise.all(workers.map((worker) => worker.holds()))).flat()
        expect(all.length).toBeLessThanOrEqual(3)
        for (const { session, worker } of held) {
          await worker.finished(session)
          done.push(session)
        }
      }
      expect(done.toSorted()).toEqual(names)
    })

    it('leave their slot to others while they only wait, and have it again before those that never had one', async () => {
      const seats = await make({ cap: 1 })
      const worker = await seats.worker()
      await launched(seats, worker, ['a', 'b', 'c'])
      expect(await given(worker, 1)).toEqual(['a'])
      await worker.giveBack('a')
      expect(await given(worker, 1)).toEqual(['b'])
      const again = grantedAgain(worker, 'a')
      await worker.finished('b')
      expect(await again).toBe(true)
      expect(await worker.holds()).toEqual(['a'])
      await worker.finished('a')
      expect(await given(worker, 1, 5)).toEqual(['c'])
    })

    it('that a worker lets go of come again before those that never had a slot', async () => {
      const seats = await make({ cap: 1 })
      const worker = await seats.worker()
      await launched(seats, worker, ['a', 'b'])
      await given(worker, 1)
      await worker.putBack('a')
      expect(await given(worker, 1)).toEqual(['a'])
      await worker.finished('a')
      expect(await given(worker, 1)).toEqual(['b'])
    })

    it('that a worker cannot drive come to another one', async () => {
      const seats = await make({ cap: 1 })
      const [one, two] = [await seats.worker(), await seats.worker()]
      await launched(seats, one, ['a'])
      await given(one, 1)
      await one.putBack('a', -1, 600_000)
      expect(await given(two, 1)).toEqual(['a'])
      expect(await one.next(5)).toEqual([])
    })

    it('that rest are given to no worker until they have a letter, and need no slot then', async () => {
      const seats = await make({ cap: 1 })
      const worker = await seats.worker()
      await launched(seats, worker, ['a', 'b'])
      await given(worker, 1)
      await worker.rest('a')
      expect(await given(worker, 1, 5)).toEqual(['b'])
      expect(await worker.next(5)).toEqual([])
      await worker.post('a')
      // The only slot is another's.
      expect(await given(worker, 1, 0)).toEqual(['a~'])
      const again = grantedAgain(worker, 'a')
      await worker.finished('b')
      expect(await again).toBe(true)
    })

    it('of a worker that was killed come to another one, with a slot or without, and those of living ones do not', async () => {
      const seats = await make({ cap: 3 })
      const [dead, living, next] = [await seats.worker(), await seats.worker(), await seats.worker()]
      await launched(seats, living, ['a'])
      await given(living, 1)
      await launched(seats, living, ['b', 'c'])
      expect([...(await given(dead, 2))].toSorted()).toEqual(['b', 'c'])
      await dead.giveBack('b')
      await dead.rest('c')
      await launched(seats, living, ['d'])
      await given(dead, 1)
      await dead.kill()
      await living.post('c')
      expect([...(await given(next, 3, 5))].toSorted()).toEqual(['b~', 'c~', 'd'])
      expect(await next.next(5)).toEqual([])
      expect(await living.holds()).toEqual(['a'])
    })

    it('of a worker that hangs come to another one, and nothing that it says of them afterwards counts', async () => {
      const seats = await make({ cap: 2, hasShortLease: true })
      const [hung, next] = [await seats.worker(), await seats.worker()]
      await launched(seats, next, ['a'])
      await given(hung, 1)
      await hung.hang()
      expect(await given(next, 1, 5)).toEqual(['a'])
      await hung.wake()
      await expect.poll(() => hung.holds()).toEqual([])
      await hung.finished('a')
      await hung.putBack('a')
      expect(await hung.slotAgain('a')).toBe(false)
      expect(await next.holds()).toEqual(['a'])
      // It is a worker again.
      await launched(seats, next, ['b'])
      expect(await given(hung, 1, 5)).toEqual(['b'])
      await next.finished('a')
    })

    it('that come a second time are not changed by claims of the first', async () => {
      const seats = await make({ cap: 1 })
      const worker = await seats.worker()
      await launched(seats, worker, ['a', 'b'])
      await given(worker, 1)
      await worker.putBack('a')
      await given(worker, 1)
      for (const late of ['finished', 'rest', 'putBack', 'giveBack'] as const) await worker[late]('a', 0)
      expect(await worker.holds()).toEqual(['a'])
      expect(await worker.next(5)).toEqual([])
      await worker.finished('a')
      expect(await given(worker, 1)).toEqual(['b'])
    })
  })
}
