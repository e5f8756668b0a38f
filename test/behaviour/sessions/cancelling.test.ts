import { type ScriptedReply, SessionPool, VirtualClock } from 'entia'
import { Delegated, DelegationLimits, SubagentNotification } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { turns } from '../turns/driving.ts'
import { heldStore } from './held-store.ts'
import { after, answered, byTask, hang, inBackground, statusOf, taking } from './pace.ts'
import { call, calls, delegate, stepwise, taskOf, team, type Team } from './team.ts'

function cancel(id: string, sequence: number): ScriptedReply {
  return calls(call(id, 'subagent_cancel', { session_id: `${sequence}` }))
}

/** Tasks of the worker's model calls, in order. */
function workedOn(made: Team): string[] {
  return made.asked('worker').map(({ request }) => taskOf(request))
}

describe('a queued session that is cancelled', () => {
  it('is never started and never told of, and those behind it move up by one', async () => {
    const made = team({
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
      worker: taking({ A: 100, B: 100, C: 100 }),
      lead: stepwise(
        calls(inBackground('a', 'A'), inBackground('b', 'B'), inBackground('c', 'C')),
        after(10, statusOf('before', 3)),
        cancel('x', 2),
        statusOf('after', 2, 3),
      ),
    })
    await made.run()
    const { sessionId } = made.sessions()[1] ?? {}
    expect(answered(made, 'before3')).toMatchObject({ queue_position: 1 })
    expect(answered(made, 'x')).toEqual({ status: 'success', session_id: sessionId, lifecycle_status: 'cancelled' })
    expect(answered(made, 'after3')).toMatchObject({ lifecycle_status: 'queued', queue_position: 0 })
    expect(answered(made, 'after2')).toEqual({
      status: 'success',
      session_id: sessionId,
      category: 'researcher',
      lifecycle_status: 'cancelled',
      error: 'Session was cancelled',
    })
    expect(workedOn(made)).toEqual(['A', 'C'])
    expect(made.told('delegation-started').map(({ task }) => task)).toEqual(['A', 'C'])
    expect(made.told('delegation-completed').map(({ task }) => task)).toEqual(['A', 'C'])
    const notified = made.world.query(SubagentNotification)
    expect(notified.map((session) => made.world.read(session, SubagentNotification).id)).not.toContain(
      expect.stringContaining(String(sessionId)),
    )
    expect(notified).toHaveLength(2)
  })

  it.each(['before', 'behind'] as const)('in the tick of its admission, %s it, never begins', async (place) => {
    const { store, hold } = heldStore()
    const pool = new SessionPool({ cap: 1 })
    const made = team({ runner: { store, sessionPool: pool }, agent: { messages: [] }, worker: taking({ A: 100 }) })
    await made.runner.start()
    const sessions = made.runner.subagents(made.lead)
    for (const prompt of ['A', 'B', 'C']) await sessions.spawn({ category: 'researcher', prompt, notify: false })
    // The tick that takes A's outcome is held up, while B has A's slot already.
    const release = await hold(({ inputs }) => inputs.some(({ kind }) => kind === 'outcome'))
    const cancelled = place === 'before' ? sessions.cancel(2) : turns(20).then(() => sessions.cancel(2))
    await turns(30)
    release()
    expect(await cancelled).toBe(true)
    await made.runner.idle()
    expect(made.sessions().map(({ status }) => status)).toEqual(['succeeded', 'cancelled', 'succeeded'])
    expect(workedOn(made)).toEqual(['A', 'C'])
    expect(pool.running).toBe(0)
  })
})

describe('a running session that is cancelled', () => {
  it('has its model call aborted and its slot freed, and what comes of it late is dropped and counted', async () => {
    const pool = new SessionPool()
    const late = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<AbortSignal>()
    const made = team({
      runner: { sessionPool: pool },
      worker: async (_, { signal }) => {
        begun.resolve(signal)
        await late.promise
        return 'Too late.'
      },
      lead: stepwise(calls(inBackground('a', 'A'))),
    })
    await made.runner.start()
    const signal = await begun.promise
    expect([signal.aborted, pool.running]).toEqual([false, 1])
    expect(await made.runner.subagents(made.lead).cancel(1)).toBe(true)
    expect([signal.aborted, pool.running]).toEqual([true, 0])
    await made.runner.idle()
    await turns(20)
    const [record] = made.sessions()
    expect(record).toMatchObject({ status: 'cancelled', error: 'Session was cancelled' })
    late.resolve()
    await turns(20)
    await made.runner.idle()
    expect(made.sessions()).toEqual([record])
    expect(made.runner.stats.dropped).toBe(1)
    expect(made.told('delegation-completed')).toMatchObject([{ success: false, lifecycleStatus: 'cancelled' }])
    expect(made.world.query(SubagentNotification)).toEqual([])
  })

  it.each([
    ['in the tick of its end, before it,', 'message', 'session'],
    ['with its agent, in the tick of its end, before it,', 'message', 'agent'],
    ['in a tick that is written down when it ends', 'session-cancel', 'session'],
  ])(
    '%s stays cancelled: its outcome is dropped and counted, and what it has spent is known',
    async (_, kind, which) => {
      const { store, hold } = heldStore()
      const end = Promise.withResolvers<void>()
      const made = team({
        runner: { store },
        agent: { messages: [] },
        parts: [DelegationLimits({ depth: 1, sessions: 9, tokens: 1_000 })],
        workerOptions: { usage: { input: 20, output: 10 } },
        worker: async () => {
          await end.promise
          return 'Done.'
        },
      })
      await made.runner.start()
      const sessions = made.runner.subagents(made.lead)
      await sessions.spawn({ category: 'researcher', prompt: 'A' })
      await turns(10)
      expect(made.world.read(made.lead, Delegated)).toMatchObject({ reservedTokens: 250 })
      const reached = hold(({ inputs }) => inputs.some((input) => input.kind === kind))
      if (kind === 'message') void made.runner.message(made.lead, 'Wait')
      else void sessions.cancel(1)
      const release = await reached
      if (kind === 'message') void (which === 'session' ? sessions.cancel(1) : made.runner.cancel(made.lead))
      end.resolve()
      await turns(30)
      release()
      await made.runner.idle()
      expect(made.sessions()).toMatchObject([{ status: 'cancelled', error: 'Session was cancelled' }])
      expect(made.told('input-dropped').filter(({ path }) => path === undefined)).toMatchObject([{ kind: 'outcome' }])
      expect(made.runner.stats.dropped).toBe(1)
      expect(made.world.read(made.lead, Delegated)).toMatchObject({ reservedTokens: 0, spentTokens: 30 })
    },
  )

  it.each(['cancelled', 'timed_out'])('and times out in the same tick is %s if that came first', async (first) => {
    const clock = new VirtualClock({ auto: false })
    const { store, hold } = heldStore()
    const made = team({ runner: { store, clock }, agent: { messages: [] }, worker: hang })
    await made.runner.start()
    const sessions = made.runner.subagents(made.lead)
    await sessions.spawn({ category: 'researcher', prompt: 'A', timeoutMs: 50 })
    await turns(20)
    const reached = hold(({ inputs }) => inputs.some(({ kind }) => kind === 'message'))
    void made.runner.message(made.lead, 'Wait')
    const release = await reached
    if (first === 'timed_out') clock.advance(50)
    const cancelled = sessions.cancel(1)
    clock.advance(50)
    release()
    await cancelled
    await made.runner.idle()
    expect(made.sessions()).toMatchObject([{ status: first }])
  })

  it('answers a synchronous call that waits for it', async () => {
    const made = team({ worker: hang, lead: stepwise(calls(delegate('a'))) })
    const begun = made.next('delegation-started')
    await made.runner.start()
    await begun
    await made.runner.subagents(made.lead).cancel(1)
    await made.runner.idle()
    expect(made.results()).toEqual({ a: "Error: Subagent 'researcher' failed: Session was cancelled" })
  })
})

describe('a session that has ended', () => {
  it('is not cancelled any more, and says how it ended', async () => {
    const made = team({
      worker: byTask({ B: hang }),
      lead: stepwise(
        calls(inBackground('a', 'A'), delegate('b', { prompt: 'B', timeout: 1 })),
        calls(...[1, 2].map((n) => call(`x${n}`, 'subagent_cancel', { session_id: `${n}` }))),
      ),
    })
    await made.run()
    const [a, b] = made.sessions()
    expect(answered(made, 'x1')).toEqual({
      status: 'error',
      session_id: a?.sessionId,
      lifecycle_status: 'succeeded',
      error: 'Session already terminal: succeeded',
    })
    expect(answered(made, 'x2')).toEqual({
      status: 'error',
      session_id: b?.sessionId,
      lifecycle_status: 'timed_out',
      error: 'Session already terminal: timed_out',
    })
    expect([a?.status, b?.status]).toEqual(['succeeded', 'timed_out'])
    expect(made.told('work-cancelled').filter(({ path }) => path === undefined)).toEqual([])
  })

  it('is not cancelled from code either', async () => {
    const made = team({
      worker: byTask({ B: hang }),
      lead: stepwise(calls(inBackground('a', 'A'), inBackground('b', 'B'))),
    })
    await made.runner.start()
    await made.next('delegation-completed')
    const sessions = made.runner.subagents(made.lead)
    const [before] = made.sessions()
    expect(await sessions.cancel(1)).toBe(false)
    expect(made.sessions()[0]).toEqual(before)
    expect(await sessions.cancel(2)).toBe(true)
    expect(await sessions.cancel(2)).toBe(false)
    await expect(sessions.cancel(3)).rejects.toMatchObject({ code: 'unknown-session' })
  })
})
