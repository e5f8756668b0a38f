import { agent, EntiaError, Host, Runner, SessionPool, SubagentRegistry, VirtualClock } from 'entia'
import { describe, expect, it, onTestFinished } from 'vitest'
import { driven, emptyWorld } from '../turns/driving.ts'
import { answered, hang, inBackground, statusOf } from './pace.ts'
import { calls, provider, stepwise, team, type Team } from './team.ts'

/** Tasks in the order in which their sessions were admitted. */
function started({ told }: Team): string[] {
  return told('delegation-started').map(({ task }) => task)
}

describe('the pool of the process', () => {
  it('has one cap: who asks for another is refused, who asks for the same or none shares the queue', async () => {
    const first = team({
      runner: { maxSessions: 5, clock: new VirtualClock({ auto: false }) },
      worker: hang,
      lead: stepwise(calls(...['1', '2', '3', '4', '5'].map((id) => inBackground(id, id)))),
    })
    expect(() => new Host({ maxSessions: 3 })).toThrow(
      expect.objectContaining({
        code: 'cap-conflict',
        message: 'Conflicting session pool cap: existing=5, requested=3',
      }),
    )
    const second = team({
      runner: { maxSessions: 5 },
      lead: stepwise(calls(inBackground('a', 'A'), inBackground('b', 'B')), statusOf('here', 1, 2)),
    })
    const third = plain()
    await first.runner.start()
    await first.next('turn-ended')
    await second.runner.start()
    await second.next('turn-ended')
    expect(answered(second, 'here1')).toMatchObject({ lifecycle_status: 'queued', queue_position: 0 })
    expect(answered(second, 'here2')).toMatchObject({ lifecycle_status: 'queued', queue_position: 1 })
    await third.runner.start()
    const { sessionId } = await third.runner.subagents(third.lead).spawn({ category: 'x', prompt: 'C' })
    expect(sessionId).toMatch(/^session-/)
    expect(started(second)).toEqual([])

    await first.runner.subagents(first.lead).cancel(1)
    await second.runner.idle()
    await third.runner.idle()
    expect(started(second)).toEqual(['A', 'B'])
    expect(second.sessions().map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
  })

  it('has the cap of whoever came first, and forgets it when the last Host on it is closed', () => {
    const first = new Host({ maxSessions: 2 })
    const second = new Host({ maxSessions: 2 })
    first.close()
    expect(() => new Host({ maxSessions: 4 })).toThrow('Conflicting session pool cap: existing=2, requested=4')
    second.close()
    const third = new Host({ maxSessions: 4 })
    expect(third.sessionPool.cap).toBe(4)
    third.close()
  })

  it('has room for five if nobody says', () => {
    const first = new Host()
    onTestFinished(() => first.close())
    expect(first.sessionPool.cap).toBe(5)
    expect(() => new Host({ maxSessions: 3 })).toThrow('Conflicting session pool cap: existing=5, requested=3')
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity])('has no cap of %s', (cap) => {
    const refusal = expect.objectContaining({ code: 'invalid-argument' }) as Error
    expect(() => new Host({ maxSessions: cap })).toThrow(refusal)
    expect(() => new SessionPool({ cap })).toThrow(refusal)
    // What was refused has left nothing behind.
    const next = new Host({ maxSessions: 3 })
    expect(next.sessionPool.cap).toBe(3)
    next.close()
  })

  it.each([{ maxInFlight: 0 }, { prices: { x: { input: -1 } } }, { maxInFlightPerProvider: { x: 0 } }])(
    'has no place for a Host that is refused: %j',
    (wrong) => {
      expect(() => new Host({ maxSessions: 2, ...wrong })).toThrow(EntiaError)
      expect(() => new Runner(emptyWorld(), { maxSessions: 2, maxInputsPerTick: 0 })).toThrow(EntiaError)
      const next = new Host({ maxSessions: 3 })
      expect(next.sessionPool.cap).toBe(3)
      next.close()
    },
  )

  it('is not that of a Host with a pool of its own', () => {
    const [own, other] = [new Host({ sessionPool: new SessionPool({ cap: 1 }) }), new Host({ maxSessions: 3 })]
    expect([own.sessionPool.cap, other.sessionPool.cap]).toEqual([1, 3])
    own.close()
    other.close()
  })
})

/** A world on the process's pool that says nothing of a cap. */
function plain() {
  const world = emptyWorld('third')
  const lead = world.spawn(
    ...agent({ model: 'worker/x', messages: [] }),
    SubagentRegistry({ subagents: { x: { name: 'x' } } }),
  )
  return { ...driven(world, { models: { worker: provider('worker', () => 'Done.') } }), lead }
}
