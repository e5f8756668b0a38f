import fc from 'fast-check'
import { LastTurn, realClock, VirtualClock } from 'entia'
import { describe, expect, it, vi } from 'vitest'
import { behaving, calling, driven, settled, turns, worldWith } from '../../behaviour/turns/driving.ts'
import { tool, wait } from '../../behaviour/turns/tools.ts'

/** A clock that is slow and simple. */
class ListClock {
  #timers: { readonly instantMs: number; readonly fire: () => void }[] = []
  #nowMs = 0

  now(): number {
    return this.#nowMs
  }

  at(instantMs: number, fire: () => void): () => void {
    const timer = { instantMs, fire }
    this.#timers.push(timer)
    return () => void (this.#timers = this.#timers.filter((each) => each !== timer))
  }

  advance(durationMs: number): void {
    const endMs = this.#nowMs + durationMs
    for (;;) {
      const [next] = this.#timers.toSorted((a, b) => a.instantMs - b.instantMs)
      if (next === undefined || next.instantMs > endMs) break
      this.#timers = this.#timers.filter((each) => each !== next)
      this.#nowMs = next.instantMs
      next.fire()
    }
    this.#nowMs = endMs
  }
}

/** What plain JavaScript passes. */
const untyped = (value: unknown): never => value as never

describe('a virtual clock', () => {
  it('refuses an option that it does not know, such as a misspelt one', () => {
    const options = { datems: 5 } as object
    expect(() => new VirtualClock(options)).toThrow(/VirtualClock: unknown option datems\. Known: dateMs, /)
  })

  it.each<[what: string, attempt: (clock: VirtualClock) => unknown, message: string]>([
    ['a date in words', () => new VirtualClock({ dateMs: untyped('now') }), "dateMs must be a number, got 'now'"],
    ['no date', () => new VirtualClock({ dateMs: Number.NaN }), 'dateMs must be a number, got NaN'],
    ['a text for a flag', () => new VirtualClock({ auto: untyped('no') }), "auto must be true or false, got 'no'"],
    ['no function', () => new VirtualClock({ whenQuiet: untyped(1) }), 'whenQuiet must be a function, got 1'],
    ['steps back', () => new VirtualClock({ stepsWithoutTurn: -1 }), 'stepsWithoutTurn must be an integer ≥ 0, got -1'],
    ['a way back', (clock) => clock.advance(-1), 'durationMs must be a number of milliseconds of 0 or more, got -1'],
    ['no instant', (clock) => clock.at(Number.NaN, () => undefined), 'instantMs must be a number, got NaN'],
    ['nothing to fire', (clock) => clock.at(1, untyped(undefined)), 'fire must be a function, got undefined'],
  ])('refuses %s', (_, attempt, message) => {
    expect(() => attempt(new VirtualClock())).toThrow(message)
  })

  it('jumps from timer to timer while nothing is at work, in order, equal ones in order of setting', async () => {
    const clock = new VirtualClock({ dateMs: 1_000 })
    const fired: unknown[] = []
    for (const [name, at] of [
      ['c', 30],
      ['a', 10],
      ['b', 10],
    ] as const)
      clock.at(at, () => fired.push([name, clock.now()]))
    expect(fired).toEqual([])
    await turns(10)
    expect(fired).toEqual([
      ['a', 10],
      ['b', 10],
      ['c', 30],
    ])
    expect([clock.now(), clock.date()]).toEqual([30, 1_030])
  })

  it('lets the event loop turn at each jump, or after as many as it is told', async () => {
    const turnsAt = async (stepsWithoutTurn?: number): Promise<number[]> => {
      const clock = new VirtualClock(stepsWithoutTurn === undefined ? {} : { stepsWithoutTurn })
      const fired: number[] = []
      let turn = 0
      for (let at = 1; at <= 7; at++) clock.at(at, () => fired.push(turn))
      for (; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      return fired
    }
    const groups = (fired: number[]): number[] => [...Map.groupBy(fired, (turn) => turn).values()].map((g) => g.length)
    expect(groups(await turnsAt())).toEqual([1, 1, 1, 1, 1, 1, 1])
    expect(groups(await turnsAt(3))).toEqual([3, 4])
  })

  it('has no world tick, while it goes on without turns, before all timers of an instant have gone off', async () => {
    const clock = new VirtualClock({ stepsWithoutTurn: 100, together: () => true })
    const order: string[] = []
    const tick = (): void => void order.push(`tick at ${clock.now()}`)
    for (const name of ['a', 'b', 'c']) {
      clock.at(10, () => {
        order.push(name)
        clock.soon(tick)
      })
    }
    clock.at(11, () => order.push('d'))
    await turns(10)
    expect(order).toEqual(['a', 'b', 'c', 'tick at 10', 'tick at 10', 'tick at 10', 'd'])
  })

  it('has one world tick when all that follows at once from the tick of another is over', async () => {
    const clock = new VirtualClock({ stepsWithoutTurn: 100 })
    const order: string[] = []
    for (const name of ['a', 'b']) {
      clock.soon(() => {
        order.push(name)
        void Promise.resolve().then(() => order.push(`behind ${name}`))
      })
    }
    await turns()
    expect(order).toEqual(['a', 'behind a', 'b', 'behind b'])
  })

  it('jumps once for an instant at which a timer sets another one', async () => {
    const clock = new VirtualClock({ stepsWithoutTurn: 100, together: () => true })
    const order: unknown[] = []
    const beginAt = async (atMs: number): Promise<void> => {
      await new Promise<void>((resolve) => clock.at(atMs, resolve))
      clock.begin()
      order.push('begun')
    }
    clock.at(10, () => clock.at(10, () => order.push(clock.now())))
    const waiting = beginAt(20)
    clock.at(30, () => order.push('ahead of work'))
    await waiting
    await turns()
    expect(order).toEqual([10, 'begun'])
  })

  it('ticks no world that has called its tick off', async () => {
    for (const stepsWithoutTurn of [0, 10]) {
      const clock = new VirtualClock({ stepsWithoutTurn })
      const ticks: string[] = []
      clock.soon(() => ticks.push('off'))()
      clock.soon(() => ticks.push('on'))
      await turns(3)
      expect(ticks).toEqual(['on'])
    }
  })

  it('stands still while something is at work', async () => {
    const clock = new VirtualClock()
    let fired = 0
    clock.begin()
    clock.at(10, () => fired++)
    await turns(10)
    expect(fired).toBe(0)
    clock.end()
    await turns(10)
    expect(fired).toBe(1)
  })

  it('fires nothing that was called off, and never at once', async () => {
    const clock = new VirtualClock()
    const fired: string[] = []
    clock.at(5, () => fired.push('off'))()
    clock.at(0, () => fired.push('now'))
    expect(fired).toEqual([])
    await turns()
    expect([fired, clock.now()]).toEqual([['now'], 0])
  })

  it('by hand passes as much time as it is told, firing what comes due on the way', async () => {
    const clock = new VirtualClock({ auto: false })
    const fired: unknown[] = []
    clock.at(10, () => clock.at(15, () => fired.push(clock.now())))
    clock.at(90, () => fired.push(clock.now()))
    await turns()
    expect(clock.now()).toBe(0)
    clock.advance(50)
    expect([fired, clock.now()]).toEqual([[15], 50])
    clock.advance(40)
    expect(fired).toEqual([15, 90])
  })

  it('fires the same as a list that is looked through each time', () => {
    const deed = fc.record({
      does: fc.constantFrom('set', 'set', 'set', 'cancel', 'cancel', 'pass'),
      n: fc.nat(60),
      more: fc.nat(3),
    })
    const property = fc.property(fc.array(deed, { maxLength: 200, size: 'max' }), (deeds) => {
      const clock = new VirtualClock({ auto: false })
      const list = new ListClock()
      const both = [clock, list].map((each) => ({ clock: each, fired: [] as unknown[], cancels: [] as (() => void)[] }))
      for (const [name, { does, n, more }] of deeds.entries()) {
        for (const { clock: each, fired, cancels } of both) {
          const note = (): void => void fired.push([name, each.now()])
          // What fires sets another timer, or calls one off, in the midst of the passing of time.
          const act = [note, note, () => (note(), each.at(each.now() + n, note)), () => (note(), cancels[n]?.())][more]
          if (does === 'set') cancels.push(each.at(each.now() + n, act ?? note))
          else if (does === 'cancel') cancels[n]?.()
          else each.advance(n / 10)
        }
        expect(both[0]?.fired).toEqual(both[1]?.fired)
        expect(clock.now()).toBe(list.now())
      }
    })
    fc.assert(property)
  })

  it('waits for no work that has ended, whatever of it sleeps on', async () => {
    const racing = tool('race', async ({ sleep }) => {
      await Promise.race([sleep(10), sleep(5_000)])
      void sleep(100)
      return 'won'
    })
    const { world, agent } = worldWith({ tools: [racing, wait] })
    const calls = [{ name: 'race' }, { name: 'wait', arguments: { n: 9_000 } }]
    await settled(world, { models: behaving(calling(...calls)).models, tools: [racing, wait] })
    expect(world.nowMs).toBe(9_000)
    expect(world.get(agent, LastTurn)?.stop).toBe('done')
  })

  it('goes on while one piece of work sleeps in several places', async () => {
    const many = tool('many', async ({ sleep }) => {
      await Promise.all([10, 20, 30].map((durationMs) => sleep(durationMs)))
    })
    const { world } = worldWith({ tools: [many] })
    await settled(world, { models: behaving(calling({ name: 'many' })).models, tools: [many] })
    expect(world.nowMs).toBe(30)
  })

  it('is woken up in its sleep by a cancel', async () => {
    const slept: unknown[] = []
    const nap = tool('nap', ({ sleep }) => sleep(1e6).catch((error: Error) => void slept.push(error.name)))
    const { world, agent } = worldWith({ tools: [nap, wait] })
    const clock = new VirtualClock({ auto: false })
    const { runner, next } = driven(world, {
      models: behaving(calling({ name: 'nap' })).models,
      tools: [nap, wait],
      clock,
    })
    const called = next('tool-called')
    await runner.start()
    await called
    await turns()
    await runner.cancel(agent)
    await turns()
    expect(slept).toEqual(['AbortError'])
    expect(clock.now()).toBe(0)
  })
})

describe('real time', () => {
  it('goes on, and fires when an instant has come, never before and never at once', async () => {
    const begin = realClock.now()
    let fired = 0
    const at = await new Promise<number>((resolve) => {
      realClock.at(begin + 8, () => (fired++, resolve(realClock.now())))
      realClock.at(begin - 100, () => fired++)
      expect(fired).toBe(0)
    })
    expect(at).toBeGreaterThanOrEqual(begin + 8)
    await expect.poll(() => fired).toBe(2)
    const before = Date.now()
    const date = realClock.date()
    expect([before, date, Date.now()].toSorted((a, b) => a - b)[1]).toBe(date)
  })

  it('fires nothing that was called off, and takes waits of any length', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    let fired = 0
    const days = 60 * 86_400_000
    const begin = realClock.now()
    realClock.at(begin + days, () => fired++)
    realClock.at(begin + 1, () => (fired += 100))()
    vi.advanceTimersByTime(days - 1)
    expect(fired).toBe(0)
    vi.advanceTimersByTime(1)
    expect(fired).toBe(1)
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  it('fires each of many alarms far off at its instant, in order, and none that was called off near it', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const fired: [number, number][] = []
    const begin = realClock.now()
    // Later ones are set before earlier ones, and some are near.
    const offsets = Array.from({ length: 300 }, (_, index) => ((index * 7_919) % 300) * 97 + 1)
    const alarms = offsets.map((offset) => {
      return { offset, cancel: realClock.at(begin + offset, () => fired.push([offset, realClock.now() - begin])) }
    })
    for (const { cancel, offset } of alarms) if (offset % 3 === 0) cancel()
    vi.advanceTimersByTime(15_000)
    for (const { cancel, offset } of alarms) if (offset % 3 === 1 && offset > 15_000) cancel()
    vi.advanceTimersByTime(15_000)
    const kept = offsets.filter((offset) => offset % 3 === 2 || (offset % 3 === 1 && offset <= 15_000))
    expect(fired).toEqual(kept.sort((a, b) => a - b).map((offset) => [offset, offset]))
    vi.useRealTimers()
  })

  it('has one timer for all alarms far off, and keeps the process alive only while one of them waits', () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    const cancels = Array.from({ length: 100 }, (_, index) =>
      realClock.at(realClock.now() + 60_000 + index, () => undefined),
    )
    expect(timers() - before).toBe(1)
    for (const cancel of cancels) cancel()
    expect(timers() - before).toBe(0)
    const cancel = realClock.at(realClock.now() + 60_000, () => undefined)
    expect(timers() - before).toBe(1)
    cancel()
  })
})
