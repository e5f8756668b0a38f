import { fail, type FailureKind, Llm, memoryStore, SessionPool } from 'entia'
import { DelegationLimits } from 'entia/components'
import { standardRetry } from 'entia/models'
import { describe, expect, it } from 'vitest'
import type { Driven } from '../turns/driving.ts'
import { after, byTask } from './pace.ts'
import { again, program, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, calls, delegate, stepwise, team, type Team, type TeamOptions, provider } from './team.ts'
import { delegations } from './told-delegations.ts'

/** Fails so many times before it answers. */
function failing(times: number, kind: FailureKind = 'rate-limited', retryAfterMs?: number): Behaviour {
  return (_, { attempt }) => (attempt <= times ? fail(kind, { message: 'boom', retryAfterMs }) : 'At last.')
}

/** A team whose lead delegates once, to a worker that does this on a provider with the standard policy. */
function delegating(worker: Behaviour, options: TeamOptions = {}): Team {
  return team({
    workerOptions: { retry: standardRetry },
    lead: stepwise(calls(delegate('a'))),
    ...options,
    worker,
  })
}

function attempts(made: Team, provider = 'worker'): number[] {
  return made.asked(provider).map(({ context }) => context.attempt)
}

const failed = "Error: Subagent 'researcher' failed: boom"

describe('a model call of a session', () => {
  it.each(['rate-limited', 'overloaded', 'timed-out'] as const)(
    'that is %s twice is made a third time, and all is one step',
    async (kind) => {
      const made = delegating(failing(2, kind), { subagents: { researcher: { maxSteps: 1 } } })
      await made.run()
      expect(made.results()['a']).toBe('At last.')
      expect(attempts(made)).toEqual([1, 2, 3])
      // A call that was cut may have been processed; one that was turned away was not.
      expect(made.sessions()[0]).toMatchObject({ status: 'succeeded', usage: { calls: kind === 'timed-out' ? 3 : 1 } })
      const ended = made.told('turn-ended').find(({ path }) => path !== undefined)
      expect(ended).toMatchObject({ stop: 'done', steps: 1 })
    },
  )

  it('waits 4 seconds and then 8, or a little longer, so that calls which failed together come apart', async () => {
    const made = delegating(failing(2))
    await made.run()
    const [first, second] = made.told('retry-scheduled').map(({ atMs }) => atMs)
    expect(made.told('retry-scheduled')[0]?.path).toEqual([made.sessions()[0]?.sessionId])
    expect(first).toBeGreaterThanOrEqual(4_000)
    expect(first).toBeLessThanOrEqual(5_001)
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(8_000)
    expect((second ?? 0) - (first ?? 0)).toBeLessThanOrEqual(10_001)
    expect(made.sessions()[0]?.finishedAtMs).toBe(second)
  })

  it('waits longer where its provider asks for it', async () => {
    const made = delegating(failing(1, 'rate-limited', 90_000))
    await made.run()
    expect(made.sessions()[0]?.status).toBe('succeeded')
    expect(made.sessions()[0]?.finishedAtMs).toBeGreaterThanOrEqual(90_000)
  })

  it('is given up after the third try', async () => {
    const made = delegating(failing(9))
    await made.run()
    expect(attempts(made)).toEqual([1, 2, 3])
    expect(made.results()['a']).toBe(failed)
  })

  it('is not made again after a failure that does not pass', async () => {
    const made = delegating(failing(1, 'refused'))
    await made.run()
    expect(attempts(made)).toEqual([1])
    expect(made.results()['a']).toBe(failed)
  })

  it('is made once by a scripted model that has no policy', async () => {
    const made = delegating(failing(1), { workerOptions: {} })
    await made.run()
    expect(attempts(made)).toEqual([1])
    expect(made.results()['a']).toBe(failed)
  })

  it('follows the standard policy where its provider says nothing', async () => {
    const { retry: _, ...plain } = provider('plain', failing(2))
    const made = delegating(stuck, {
      subagents: { researcher: { model: 'plain/x' } },
      runner: { models: { plain } },
    })
    await made.run()
    expect(made.results()['a']).toBe('At last.')
  })

  it('is made as often as its config says, over what the provider says', async () => {
    const twice = { ...standardRetry, maxAttempts: 2 }
    const made = delegating(failing(9), {
      subagents: { once: { retry: false }, twice: { retry: twice } },
      lead: stepwise(calls(delegate('a', { category: 'once' })), calls(delegate('b', { category: 'twice' }))),
    })
    await made.run()
    expect(attempts(made)).toEqual([1, 1, 2])
  })

  it('is made three times in all, whatever the policy of the parent is', async () => {
    const made = team({
      registry: { freeForm: { enabled: true } },
      leadOptions: { retry: standardRetry },
      lead: byTask({ Go: stepwise(calls(delegate('a', { category: 'poet' }))), Look: failing(20) }),
    })
    made.world.patch(made.lead, Llm, { retry: { ...standardRetry, maxAttempts: 9 } })
    await made.run()
    expect(made.results()['a']).toBe("Error: Subagent 'poet' failed: boom")
    expect(attempts(made, 'lead')).toEqual([1, 1, 2, 3, 1])
  })

  it('keeps its tries over a restart, as they are in the World of the session', async () => {
    const store = memoryStore()
    const made = delegating(failing(9), { runner: { store } })
    const scheduled = made.next('retry-scheduled')
    await made.runner.start()
    await scheduled
    await made.runner.stop()
    expect(attempts(made)).toEqual([1])
    const later = await again(store, made)
    await later.runner.idle()
    expect(attempts(made)).toEqual([1, 2, 3])
    expect(made.told('retry-scheduled')).toHaveLength(1)
  })
})

/** Types of events in the order in which they were told, the child's marked. */
function inOrder({ events }: Driven, ...types: readonly string[]): string[] {
  const wanted = events.filter(({ type }) => types.includes(type))
  return wanted.map((event) => ('path' in event && event.path !== undefined ? `child: ${event.type}` : event.type))
}

describe('a delegation', () => {
  it('is told of before the first model call of the session, and once more after its end', async () => {
    const startedBefore: number[] = []
    const made = team({
      lead: stepwise(calls(delegate('a'))),
      worker: () => {
        startedBefore.push(made.told('delegation-started').length)
        return 'Found.'
      },
    })
    await made.run()
    expect(startedBefore).toEqual([1])
    const types = ['delegation-started', 'model-called', 'turn-ended', 'delegation-completed']
    expect(inOrder(made, ...types)).toEqual([
      'model-called',
      'delegation-started',
      'child: model-called',
      'child: turn-ended',
      'delegation-completed',
      'model-called',
      'turn-ended',
    ])
  })

  it('is told of with what it is, and at its end with what came of it', async () => {
    const made = team({ lead: stepwise(calls(delegate('a', { prompt: 'Look hard' }))), worker: after(250, 'Found.') })
    await made.run()
    const { sessionId, correlationId, artifactId } = made.sessions()[0] ?? {}
    const number = expect.any(Number) as number
    const place = { world: 'world', tick: number, index: number, nowMs: number, dateMs: number }
    const facts = {
      sessionId,
      correlationId,
      parent: made.lead,
      category: 'researcher',
      kind: 'named',
      mode: 'sync',
      task: 'Look hard',
      depth: 1,
    }
    expect(made.told('delegation-started')).toEqual([{ type: 'delegation-started', ...place, ...facts }])
    expect(made.told('delegation-completed')).toEqual([
      {
        type: 'delegation-completed',
        ...place,
        ...facts,
        lifecycleStatus: 'succeeded',
        success: true,
        durationMs: 250,
        result: 'Found.',
        error: null,
        artifactId,
      },
    ])
    expect(artifactId).toMatch(/^subagent_/)
  })

  it('has one id of its own in both events, however many run at once', async () => {
    const lead = stepwise(calls(...['a', 'b', 'c'].map((id) => delegate(id, { background: true, prompt: id }))))
    const made = team({ lead, worker: byTask({ a: after(300, 'A'), b: after(200, 'B'), c: after(100, 'C') }) })
    await made.run()
    const ids = made.told('delegation-started').map(({ correlationId }) => correlationId)
    expect(new Set(ids).size).toBe(3)
    expect(made.told('delegation-completed').map(({ correlationId }) => correlationId)).toEqual(ids.toReversed())
    expect(made.sessions().map(({ correlationId }) => correlationId)).toEqual(ids)
  })

  it('lasts from its admission, not from its launch', async () => {
    const made = await program({
      worker: after(100, 'Found.'),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    for (const prompt of ['a', 'b']) await made.subagents.spawn({ category: 'researcher', prompt })
    await made.runner.idle()
    expect(made.told('delegation-completed').map(({ durationMs }) => durationMs)).toEqual([100, 100])
  })

  it.each([8_192, 8_193])('tells a result of %s bytes if it has no more than 8192', async (bytes) => {
    const made = await program({ worker: () => 'ä'.repeat(4_095) + 'x'.repeat(bytes - 8_190) })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    const [completed] = made.told('delegation-completed')
    expect(completed?.artifactId).toBe(made.sessions()[0]?.artifactId)
    const told = completed?.result ?? null
    expect(told === null ? null : Buffer.byteLength(told)).toBe(bytes > 8_192 ? null : bytes)
  })

  it.each([
    ['failed', 'boom'],
    ['timed_out', 'Subagent timeout after 0.5s'],
    ['cancelled', 'Session was cancelled'],
  ] as const)('that ends as %s is told of without success, with its error', async (status, error) => {
    const worker: Behaviour = async (_, { sleep }) => {
      await sleep(status === 'failed' ? 100 : 1_000)
      return fail('refused', { message: 'boom' })
    }
    const made = await program({ worker })
    const timeoutMs = status === 'timed_out' ? 500 : undefined
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look', timeoutMs })
    await once(made, () => made.asked('worker').length === 1)
    if (status === 'cancelled') await made.subagents.cancel(1)
    await made.runner.idle()
    expect(made.told('delegation-completed')).toMatchObject([
      { lifecycleStatus: status, success: false, result: null, error, artifactId: null },
    ])
  })

  it('that never began is told of in neither way', async () => {
    const made = await program({
      worker: after(100, 'Found.'),
      parts: [DelegationLimits({ tokens: 100 })],
      subagents: { researcher: {}, greedy: { limits: { tokens: 101 } } },
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    for (const category of ['researcher', 'greedy', 'researcher']) await made.subagents.spawn({ category, prompt: 'x' })
    await made.subagents.cancel(3)
    await made.runner.idle()
    expect(made.sessions().map(({ status }) => status)).toEqual(['succeeded', 'failed', 'cancelled'])
    expect(delegations(made).map(({ type, sessionId }) => [type, sessionId])).toEqual([
      ['delegation-started', made.sessions()[0]?.sessionId],
      ['delegation-completed', made.sessions()[0]?.sessionId],
    ])
  })
})
