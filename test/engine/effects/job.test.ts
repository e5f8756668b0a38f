import { describe, expect, it } from 'vitest'
import { sleep } from '../../../src/engine/loop/clock.ts'
import { Job, type JobOwner } from '../../../src/engine/effects/job.ts'
import { VirtualClock } from '../../../src/engine/loop/virtual-clock.ts'

/** A clock by hand that counts the work that it has to wait for. */
class CountingClock extends VirtualClock {
  working = 0

  constructor() {
    super({ auto: false })
  }

  override begin(): void {
    this.working++
  }

  override end(): void {
    this.working--
  }
}

function waiting(clock: CountingClock): Job {
  const missing = (): never => {
    throw new Error('This job needs no owner.')
  }
  const owner: JobOwner = {
    world: { name: 'w' },
    clock,
    isStopping: false,
    get values() {
      return missing()
    },
    admit: missing,
    emit: missing,
    enter: missing,
  }
  return new Job(1, { attempt: 1, kind: 'tool', restart: 'pure' }, owner)
}

/** A job that has begun. */
function begun() {
  const clock = new CountingClock()
  const job = waiting(clock)
  expect(clock.working).toBe(0)
  job.begin()
  expect(clock.working).toBe(1)
  return { clock, job }
}

describe('a job', () => {
  it('is waited for by the clock from its begin to its end, however often it is told', () => {
    const { clock, job } = begun()
    job.finish()
    job.finish()
    job.abort('late')
    expect(clock.working).toBe(0)
    expect(job.isCalledOff).toBe(false)
  })

  it('is not waited for while it sleeps, in one place or in several', async () => {
    const { clock, job } = begun()
    const sleeps = [10, 20, 20].map((durationMs) => sleep(clock, durationMs, job))
    expect(clock.working).toBe(0)
    clock.advance(10)
    await sleeps[0]
    expect(clock.working).toBe(0)
    clock.advance(10)
    await Promise.all(sleeps)
    expect(clock.working).toBe(1)
    job.finish()
    expect(clock.working).toBe(0)
  })

  it('has an aborted signal for work that looks at it only after it was broken off or called off', () => {
    const broken = begun().job
    broken.breakOff('too long')
    expect([broken.isAborted, broken.signal.aborted, broken.isCalledOff]).toEqual([true, true, false])
    expect(broken.signal.reason).toMatchObject({ name: 'AbortError', message: 'too long' })
    const called = begun().job
    expect(called.isAborted).toBe(false)
    called.abort('cancelled')
    expect(called.isAborted).toBe(true)
    expect(called.signal.reason).toMatchObject({ name: 'AbortError', message: 'cancelled' })
  })

  it('that is over wakes nothing that it has left asleep or that falls asleep later, and leaves no timer behind', async () => {
    const { clock, job } = begun()
    let woken = 0
    const fallAsleep = (): void => void sleep(clock, 10, job).then(() => woken++)
    fallAsleep()
    fallAsleep()
    job.finish()
    fallAsleep()
    expect(clock.nextMs).toBeUndefined()
    clock.advance(10)
    await Promise.resolve()
    expect([clock.working, woken]).toEqual([0, 0])
  })

  it('that is called off is not waited for; its sleep ends, and it leaves its slot', async () => {
    const { clock, job } = begun()
    const left = sleep(clock, 10, job)
    let slotsLeft = 0
    job.leaveSlot = () => slotsLeft++
    job.abort('enough')
    await expect(left).rejects.toMatchObject({ name: 'AbortError', message: 'enough' })
    expect([clock.working, slotsLeft, job.signal.aborted]).toEqual([0, 1, true])
    await expect(sleep(clock, 10, job)).rejects.toThrow('enough')
    expect(clock.working).toBe(0)
  })

  it('that is called off ends each of its sleeps, and leaves no timer behind', async () => {
    const { clock, job } = begun()
    const sleeps = [10, 20, 30].map((durationMs) => sleep(clock, durationMs, job))
    clock.advance(10)
    await sleeps[0]
    job.abort('enough')
    for (const left of sleeps.slice(1)) await expect(left).rejects.toThrow('enough')
    expect([clock.working, clock.nextMs]).toEqual([0, undefined])
  })

  it('that is called off before it has begun never was at work', () => {
    const clock = new CountingClock()
    const job = waiting(clock)
    job.abort('enough')
    expect(clock.working).toBe(0)
    expect(job.signal.reason).toMatchObject({ message: 'enough' })
  })
})
