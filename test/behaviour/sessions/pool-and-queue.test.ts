import { fail, memoryStore, type RunnerOptions, SessionPool } from 'entia'
import { DelegationLimits } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { tool } from '../turns/tools.ts'
import { watchedStore } from '../stores/watched-store.ts'
import { managedTeam } from './managed-team.ts'
import { after, answered, byTask, hang, inBackground, statusOf, taking } from './pace.ts'
import { type Behaviour, call, calls, delegate, stepwise, taskOf, type Team, team } from './team.ts'

/** Tasks in the order in which their sessions were admitted. */
function started({ told }: Team): string[] {
  return told('delegation-started').map(({ task }) => task)
}

function pooled(cap: number): RunnerOptions {
  return { sessionPool: new SessionPool({ cap }) }
}

describe('a session pool', () => {
  it('with room for two runs two of three sessions and tells the third its place, until one of the two ends', async () => {
    const made = team({
      runner: pooled(2),
      worker: taking({ short: 100, long: 1_000, third: 1_000 }),
      lead: stepwise(
        calls(inBackground('a', 'short'), inBackground('b', 'long'), inBackground('c', 'third')),
        after(50, statusOf('before', 1, 2, 3)),
        after(100, statusOf('after', 3)),
      ),
    })
    await made.run()
    expect(answered(made, 'before1')).toMatchObject({ lifecycle_status: 'running' })
    expect(answered(made, 'before2')).toMatchObject({ lifecycle_status: 'running' })
    expect(answered(made, 'before3')).toMatchObject({ lifecycle_status: 'queued', queue_position: 0 })
    expect(answered(made, 'after3')).toMatchObject({ lifecycle_status: 'running' })
    for (const id of ['before1', 'before2', 'after3']) expect(answered(made, id)).not.toHaveProperty('queue_position')
    expect(made.sessions().map(({ startedAtMs }) => startedAtMs)).toEqual([0, 0, 100])
  })

  it('with room for one starts sessions in the order of their launches, and counts who waits ahead', async () => {
    const made = team({
      runner: pooled(1),
      worker: taking({ A: 100, B: 100, C: 100 }),
      lead: stepwise(
        calls(inBackground('a', 'A'), inBackground('b', 'B'), inBackground('c', 'C')),
        after(50, statusOf('first', 1, 2, 3)),
        after(100, statusOf('second', 1, 2, 3)),
      ),
    })
    await made.run()
    const place = (id: string): unknown => answered(made, id)['queue_position']
    expect(['first1', 'first2', 'first3'].map(place)).toEqual([undefined, 0, 1])
    expect(['second1', 'second2', 'second3'].map(place)).toEqual([undefined, undefined, 0])
    expect(started(made)).toEqual(['A', 'B', 'C'])
    expect(made.sessions().map(({ startedAtMs }) => startedAtMs)).toEqual([0, 100, 200])
  })

  it('takes sessions of both modes in one line, by the order of the calls', async () => {
    const made = team({
      runner: pooled(1),
      worker: taking({ A: 10, B: 10, C: 10 }),
      lead: stepwise(calls(inBackground('a', 'A'), delegate('b', { prompt: 'B' }), inBackground('c', 'C'))),
    })
    await made.run()
    expect(started(made)).toEqual(['A', 'B', 'C'])
    expect(made.results()['b']).toBe('Done: B')
  })

  it.each<[string, Behaviour, Readonly<Record<string, number>>]>([
    ['succeeded', after(100, 'Done.'), {}],
    ['failed', after(100, fail('refused', { message: 'boom' })), {}],
    ['timed_out', hang, { timeout: 0.1 }],
    ['cancelled', hang, {}],
  ])('starts the next session when the one before it has %s', async (status, behaviour, more) => {
    const made = team({
      runner: pooled(1),
      worker: byTask({ first: behaviour }),
      lead: stepwise(
        calls(inBackground('a', 'first', more), inBackground('b', 'second')),
        after(100, status === 'cancelled' ? calls(call('x', 'subagent_cancel', { session_id: '1' })) : 'Done.'),
      ),
    })
    await made.run()
    expect(made.sessions()).toMatchObject([
      { status, finishedAtMs: 100 },
      { status: 'succeeded', startedAtMs: 100, resultExcerpt: 'Done: second' },
    ])
  })

  it('keeps the order of a thousand sessions, and never runs more than five', { timeout: 60_000 }, async () => {
    const count = 1_000
    const pool = new SessionPool()
    let most = 0
    const behaviour: Behaviour = async (request, context) => {
      most = Math.max(most, pool.running)
      return after(10, taskOf(request))(request, context)
    }
    const made = team({
      runner: { sessionPool: pool },
      agent: { messages: [] },
      parts: [DelegationLimits({ depth: 1, sessions: count })],
      worker: behaviour,
    })
    await made.runner.start()
    const sessions = made.runner.subagents(made.lead)
    const tasks = Array.from({ length: count }, (_, index) => `task ${index}`)
    await Promise.all(tasks.map((prompt) => sessions.spawn({ category: 'researcher', prompt, notify: false })))
    await made.runner.idle()
    expect(started(made)).toEqual(tasks)
    expect(made.asked('worker').map(({ request }) => taskOf(request))).toEqual(tasks)
    expect(made.sessions().every(({ status }) => status === 'succeeded')).toBe(true)
    expect(most).toBe(5)
    expect(made.world.nowMs).toBe((count / 5) * 10)
  })
})

describe('a Runner that is stopped', () => {
  it('gives back all slots and places in line, those of sessions that have just ended too', async () => {
    const pool = new SessionPool({ cap: 2 })
    const committing = Promise.withResolvers<void>()
    const store = watchedStore(memoryStore(), {
      before: (ticks) => {
        if (!ticks.some(({ inputs }) => inputs.some(({ kind }) => kind === 'outcome'))) return undefined
        committing.resolve()
        throw new Error('The disk is gone.')
      },
    })
    const made = team({ runner: { sessionPool: pool, store }, agent: { messages: [] }, worker: taking({ B: 100 }) })
    await made.runner.start()
    const sessions = made.runner.subagents(made.lead)
    for (const prompt of ['A', 'B', 'C']) await sessions.spawn({ category: 'researcher', prompt })
    await committing.promise
    await made.runner.stop()
    expect(pool.running).toBe(0)
    expect(await pool.enter('next', 'first')).toBe(true)
    expect(await pool.enter('next but one', 'first')).toBe(true)
  })
})

/** A team with managers, and what its model calls saw of the pool. */
function chain(cap: number, options: Parameters<typeof managedTeam>[0]) {
  const pool = new SessionPool({ cap })
  const order: string[] = []
  const running: number[] = []
  const noted = (behaviour: Behaviour): Behaviour => {
    return (request, context) => {
      order.push(taskOf(request))
      running.push(pool.running)
      return behaviour(request, context)
    }
  }
  const { managers, worker = taking({}) } = options
  const made = managedTeam({
    ...options,
    runner: { ...options.runner, sessionPool: pool },
    managers: noted(managers),
    worker: noted(worker),
  })
  return { made, order, running, pool }
}

describe('a session that waits for its own', () => {
  it('lends its slot, so that a pool with room for one runs both, one at a time', async () => {
    const { made, order, running, pool } = chain(1, {
      worker: taking({ inner: 100 }),
      managers: stepwise(calls(delegate('m', { prompt: 'inner' })), after(100, 'Managed.')),
      lead: stepwise(calls(delegate('a', { category: 'manager', prompt: 'outer' }))),
    })
    await made.run()
    expect(made.results()).toEqual({ a: 'Managed.' })
    expect(order).toEqual(['outer', 'inner', 'outer'])
    expect(Math.max(...running)).toBe(1)
    expect(made.told('session-ended').map(({ lifecycleStatus }) => lifecycleStatus)).toEqual(['succeeded', 'succeeded'])
    expect(made.world.nowMs).toBe(200)
    expect(pool.running).toBe(0)
  })

  it('stays running meanwhile, and its deadline stands', async () => {
    const { made } = chain(1, {
      worker: hang,
      managers: stepwise(calls(delegate('m', { prompt: 'inner' }))),
      lead: stepwise(
        calls(inBackground('a', 'outer', { category: 'manager', timeout: 1 })),
        after(500, statusOf('half', 1)),
      ),
    })
    await made.run()
    expect(answered(made, 'half1')).toMatchObject({ lifecycle_status: 'running' })
    expect(made.sessions()).toMatchObject([{ status: 'timed_out', finishedAtMs: 1_000 }])
  })

  it('goes on ahead of all sessions that have not begun', async () => {
    const { made, order, running } = chain(1, {
      worker: taking({ inner: 10, one: 100, two: 100 }),
      managers: stepwise(calls(delegate('m', { prompt: 'inner' })), 'Managed.'),
      lead: stepwise(
        calls(inBackground('a', 'outer', { category: 'manager' })),
        after(5, calls(inBackground('b', 'one'), inBackground('c', 'two'))),
      ),
    })
    await made.run()
    expect(order).toEqual(['outer', 'inner', 'outer', 'one', 'two'])
    expect(Math.max(...running)).toBe(1)
    expect(made.sessions().every(({ status }) => status === 'succeeded')).toBe(true)
  })
})

describe('a session that waits for a person', () => {
  const buying = () => {
    const boughtAtMs: number[] = []
    const buy = tool('buy', () => boughtAtMs.push(made.world.nowMs), { approval: true, approvalTimeoutMs: 60_000 })
    const { made, order, running, pool } = chain(1, {
      subagents: { researcher: {}, buyer: { model: 'manager/x', tools: ['buy'] } },
      managers: stepwise(calls(call('m', 'buy')), 'Bought.'),
      worker: taking({ one: 100, two: 100 }),
      lead: stepwise(
        calls(inBackground('a', 'Buy it.', { category: 'buyer' })),
        after(5, calls(inBackground('b', 'one'), inBackground('c', 'two'))),
      ),
      runner: { tools: [buy], approve: 'by-input' },
      agent: { tools: [buy] },
    })
    return { boughtAtMs, made, order, running, pool }
  }

  it('lends its slot, and runs what was approved once it has one again, ahead of those that have not begun', async () => {
    const { boughtAtMs, made, order, pool, running } = buying()
    const { runner, world } = made
    runner.on('approval-requested', ({ approval }) => {
      // While the first of the others has the slot.
      runner.on('delegation-started', ({ task }) => {
        if (task === 'one') void runner.post({ kind: 'answer', approval, approved: true })
      })
    })
    await made.run()
    expect(order).toEqual(['Buy it.', 'one', 'Buy it.', 'two'])
    // When the other has ended.
    expect(boughtAtMs).toEqual([105])
    expect(Math.max(...running)).toBe(1)
    expect(made.told('slot-released')).toHaveLength(1)
    expect(made.sessions().map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect([world.nowMs, pool.running]).toEqual([205, 0])
  })

  it('goes on when the question has reached its deadline, and the call has not run', async () => {
    const { boughtAtMs, made } = buying()
    await made.run()
    expect(boughtAtMs).toEqual([])
    expect(made.sessions().map(({ finishedAtMs, status }) => [status, finishedAtMs])).toEqual([
      ['succeeded', 60_000],
      ['succeeded', 105],
      ['succeeded', 205],
    ])
  })
})
