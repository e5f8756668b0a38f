import { SessionPool, VirtualClock } from 'entia'
import { SubagentNotification, SubagentSession } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { turns } from '../turns/driving.ts'
import { managedTeam } from './managed-team.ts'
import { after, answered, byTask, hang, statusOf, taking } from './pace.ts'
import { calls, delegate, stepwise, team } from './team.ts'

const short = delegate('short', { prompt: 'hang', timeout: 0.05 })
const shortInBackground = delegate('short', { prompt: 'hang', timeout: 0.05, background: true })

describe('the time-out of a session', () => {
  it('does not run while the session is queued, and begins with its admission', async () => {
    const made = team({
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
      worker: taking({ long: 10_000, late: 1_001 }),
      lead: stepwise(
        calls(
          delegate('a', { prompt: 'long', background: true }),
          delegate('b', { prompt: 'late', background: true, timeout: 1 }),
        ),
        after(9_999, statusOf('queued', 2)),
        after(1_000, statusOf('running', 2)),
      ),
    })
    await made.run()
    expect(answered(made, 'queued2')).toMatchObject({ lifecycle_status: 'queued', error: null })
    expect(answered(made, 'running2')).toMatchObject({ lifecycle_status: 'running', error: null })
    expect(made.sessions()[1]).toMatchObject({
      status: 'timed_out',
      timeoutMs: 1_000,
      startedAtMs: 10_000,
      deadlineMs: 11_000,
      finishedAtMs: 11_000,
    })
  })

  it('is that of the call, else the default', async () => {
    const made = team({
      systems: { defaultTimeoutMs: 60_000 },
      worker: hang,
      lead: stepwise(calls(short, delegate('long', { prompt: 'hang' }))),
    })
    await made.run()
    expect(made.sessions()).toMatchObject([
      { timeoutMs: 50, status: 'timed_out', finishedAtMs: 50 },
      { timeoutMs: 60_000, status: 'timed_out', finishedAtMs: 60_000 },
    ])
    expect(made.results()['long']).toBe("Error: Subagent 'researcher' failed: Subagent timeout after 60s")
  })

  it('is none if neither the call nor the systems name one', async () => {
    // A model call of its own has ten minutes.
    const longMs = 9 * 60_000
    const made = team({
      worker: byTask({ hang, long: after(longMs, 'Slept.') }),
      lead: stepwise(calls(short, delegate('long', { prompt: 'long' }))),
    })
    await made.run()
    const [timed, free] = made.sessions()
    expect(timed).toMatchObject({ timeoutMs: 50, finishedAtMs: 50 })
    expect(free).toMatchObject({ status: 'succeeded', finishedAtMs: longMs })
    expect(free).not.toHaveProperty('timeoutMs')
    expect(free).not.toHaveProperty('deadlineMs')
  })

  it('of a launch from code is that of the launch, else the default', async () => {
    const made = team({ systems: { defaultTimeoutMs: 60_000 }, agent: { messages: [] }, worker: hang })
    await made.runner.start()
    const sessions = made.runner.subagents(made.lead)
    await sessions.spawn({ category: 'researcher', prompt: 'hang', timeoutMs: 50 })
    await sessions.spawn({ category: 'researcher', prompt: 'hang' })
    await made.runner.idle()
    expect(made.sessions()).toMatchObject([{ finishedAtMs: 50 }, { finishedAtMs: 60_000 }])
  })
})

describe('a session that times out', () => {
  it('says so once: in its record, an unread notification, and an event', async () => {
    const made = team({
      registry: { wakeIdle: false },
      worker: hang,
      lead: stepwise(calls(shortInBackground)),
    })
    await made.run()
    const [record] = made.sessions()
    expect(record).toMatchObject({ status: 'timed_out', error: 'Subagent timeout after 0.05s' })
    const told = made.world.query(SubagentNotification).map((session) => made.world.read(session, SubagentNotification))
    expect(told).toEqual([{ id: `${record?.sessionId}:timed_out`, state: 'unread' }])
    expect(made.told('delegation-completed')).toMatchObject([
      {
        sessionId: record?.sessionId,
        lifecycleStatus: 'timed_out',
        success: false,
        durationMs: 50,
        result: null,
        error: 'Subagent timeout after 0.05s',
        artifactId: null,
      },
    ])
  })

  it('has its model call aborted, and frees its slot', async () => {
    const pool = new SessionPool()
    const made = team({ runner: { sessionPool: pool }, worker: hang, lead: stepwise(calls(short)) })
    await made.run()
    expect(made.asked('worker').map(({ context }) => context.signal.aborted)).toEqual([true])
    expect(pool.running).toBe(0)
    expect(made.runner.stats.inFlight).toBe(0)
    expect(made.world.nowMs).toBe(50)
  })

  it('takes its own sessions along: they are cancelled, and their model calls aborted', async () => {
    const made = managedTeam({
      managers: stepwise(calls(delegate('inner', { prompt: 'hang' }))),
      worker: hang,
      lead: stepwise(calls(delegate('outer', { category: 'manager', prompt: 'Manage', timeout: 1 }))),
    })
    await made.run()
    expect(made.results()['outer']).toBe("Error: Subagent 'manager' failed: Subagent timeout after 1s")
    const ends = made.told('session-ended').map(({ path = [], lifecycleStatus }) => [path.length, lifecycleStatus])
    expect(ends).toContainEqual([0, 'timed_out'])
    expect(ends).toContainEqual([1, 'cancelled'])
    expect(ends).toHaveLength(2)
    expect(made.asked('worker').map(({ context }) => context.signal.aborted)).toEqual([true])
  })

  it('at the very moment of its end has ended', async () => {
    const clock = new VirtualClock({ auto: false })
    const end = Promise.withResolvers<void>()
    const made = team({
      runner: { clock },
      worker: async () => {
        await end.promise
        return 'Just in time.'
      },
      lead: stepwise(calls(short)),
    })
    const begun = made.next('delegation-started')
    await made.runner.start()
    await begun
    await turns()
    const settled = made.next('session-settled')
    end.resolve()
    await settled
    // The deadline is due in the tick that the outcome comes in, and comes in before it.
    clock.advance(50)
    await made.runner.idle()
    expect(made.world.nowMs).toBe(50)
    expect(made.results()['short']).toBe('Just in time.')
    const [session] = made.world.query(SubagentSession)
    expect(session !== undefined && made.world.read(session, SubagentSession).finishedAtMs).toBe(50)
  })
})
