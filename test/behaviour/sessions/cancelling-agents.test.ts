import { fail, SessionPool, VirtualClock } from 'entia'
import { SubagentNotification } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { turns } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { managedTeam } from './managed-team.ts'
import { after, answered, byTask, hang, inBackground } from './pace.ts'
import { call, calls, delegate, stepwise, taskOf, team, type Team } from './team.ts'

/** How the sessions of all levels have ended: how deep their parent lies, and the state; the outermost first. */
function ends(made: Team): [number, string][] {
  const all = made
    .told('session-ended')
    .map(({ path = [], lifecycleStatus }) => [path.length, lifecycleStatus] as const)
  return all.map(([depth, status]): [number, string] => [depth, status]).toSorted(([a], [b]) => a - b)
}

describe('a running session that is cancelled', () => {
  it('takes its own running sessions along', async () => {
    const pool = new SessionPool()
    const made = managedTeam({
      runner: { sessionPool: pool },
      lead: stepwise(
        calls(inBackground('a', 'outer', { category: 'manager' })),
        after(100, calls(call('x', 'subagent_cancel', { session_id: '1' }))),
      ),
      managers: stepwise(calls(inBackground('b', 'inner')), hang),
      worker: hang,
    })
    await made.run()
    expect(answered(made, 'x')).toMatchObject({ status: 'success', lifecycle_status: 'cancelled' })
    expect(ends(made)).toEqual([
      [0, 'cancelled'],
      [1, 'cancelled'],
    ])
    const hanging = [made.managing.at(-1), made.asked('worker').at(-1)]
    expect(hanging.map((asked) => asked?.context.signal.aborted)).toEqual([true, true])
    expect(made.world.nowMs).toBe(100)
    expect(pool.running).toBe(0)
    expect(made.runner.stats.inFlight).toBe(0)
  })
})

describe('an agent that is cancelled', () => {
  it('takes its sessions along, three levels deep, and each level tells what was stopped', async () => {
    const pool = new SessionPool({ cap: 5 })
    const began = Promise.withResolvers<AbortSignal>()
    const send = tool(
      'send',
      ({ signal, sleep }) => {
        began.resolve(signal)
        return sleep(1e12)
      },
      { restart: 'once' },
    )
    const look = tool('look', ({ sleep }) => sleep(1e12))
    const made = managedTeam({
      runner: { sessionPool: pool, tools: [send, look], clock: new VirtualClock({ auto: false }) },
      subagents: { researcher: { tools: ['send', 'look'] } },
      lead: stepwise(calls(delegate('a', { category: 'manager', prompt: 'one' })), hang),
      managers: byTask({
        one: stepwise(calls(inBackground('b', 'two', { category: 'manager' })), hang),
        two: stepwise(calls(delegate('c', { prompt: 'three' }))),
      }),
      worker: stepwise(calls(call('s', 'send'), call('l', 'look'))),
    })
    await made.runner.start()
    const signal = await began.promise
    await turns()
    expect(pool.running).toBe(2)
    await made.runner.cancel(made.lead, 'Enough.')
    await made.runner.idle()

    expect(signal.aborted).toBe(true)
    expect(ends(made)).toEqual([
      [0, 'cancelled'],
      [1, 'cancelled'],
      [2, 'cancelled'],
    ])
    const told = made.told('work-cancelled').toSorted(({ path: a = [] }, { path: b = [] }) => a.length - b.length)
    expect(told.map(({ path = [] }) => path.length)).toEqual([0, 1, 2, 3])
    const ids = told.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId))
    expect(told.at(-1)?.path).toEqual(ids)
    expect(told.map(({ sessions }) => sessions.map(({ lifecycleStatus }) => lifecycleStatus))).toEqual([
      ['running'],
      ['running'],
      ['running'],
      [],
    ])
    const stopped = told.map(({ effects }) => effects.map(({ kind, tool: name, fate }) => [name ?? kind, fate]))
    expect(stopped[1]).toEqual([['model', 'aborted']])
    expect(stopped[3]).toEqual([
      ['send', 'unknown'],
      ['look', 'aborted'],
    ])
    expect(made.managing.filter(({ context }) => context.signal.aborted)).toHaveLength(1)
    expect(pool.running).toBe(0)
    expect(made.runner.stats.inFlight).toBe(0)
    expect([made.asked('lead').length, made.managing.length, made.asked('worker').length]).toEqual([1, 3, 1])
  })

  it('when its turn is over already takes its sessions along all the same, queued ones too', async () => {
    const pool = new SessionPool({ cap: 1 })
    const made = team({
      runner: { sessionPool: pool },
      worker: async (request, context) => {
        if (taskOf(request) === 'A') await made.runner.cancel(made.lead)
        return hang(request, context)
      },
      lead: stepwise(calls(inBackground('a', 'A'), inBackground('b', 'B'))),
    })
    await made.run()
    expect(made.sessions()).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }])
    expect(made.asked('worker').map(({ request }) => taskOf(request))).toEqual(['A'])
    expect(made.told('work-cancelled').filter(({ path }) => path === undefined)).toMatchObject([
      { sessions: [{ lifecycleStatus: 'running' }, { lifecycleStatus: 'queued' }] },
    ])
    expect(made.world.query(SubagentNotification)).toEqual([])
    expect(made.asked('lead')).toHaveLength(2)
  })

  it.each(['fails', 'is despawned'])('no less than one that %s', async (fate) => {
    const pool = new SessionPool()
    const made = managedTeam({
      runner: { sessionPool: pool },
      lead: stepwise(
        calls(inBackground('a', 'outer', { category: 'manager' })),
        after(100, fail('refused', { message: 'boom' })),
      ),
      managers: stepwise(calls(delegate('b'))),
      worker: async (request, context) => {
        if (fate === 'is despawned') void made.runner.change((world) => world.despawn(made.lead))
        return hang(request, context)
      },
    })
    await made.run()
    expect(made.sessions().map(({ status }) => status)).toEqual(fate === 'fails' ? ['cancelled'] : [])
    const below = made.told('session-ended').filter(({ path }) => path !== undefined)
    expect(below.map(({ lifecycleStatus }) => lifecycleStatus)).toEqual(['cancelled'])
    expect(made.asked('worker').map(({ context }) => context.signal.aborted)).toEqual([true])
    expect(pool.running).toBe(0)
    expect(made.world.nowMs).toBe(fate === 'fails' ? 100 : 0)
  })
})

describe('an agent that waits for two sessions', () => {
  /** With a third one in the background, which ends by itself. */
  async function waiting(act: (made: Team) => Promise<unknown>): Promise<Team> {
    const pool = new SessionPool()
    const made = team({
      runner: { sessionPool: pool },
      worker: byTask({ A: hang, B: hang, C: after(100, 'Done: C') }),
      lead: stepwise(calls(delegate('a', { prompt: 'A' }), inBackground('c', 'C'), delegate('b', { prompt: 'B' }))),
    })
    await made.runner.start()
    while (made.asked('worker').length < 3) await turns(1)
    await act(made)
    await made.runner.idle()
    expect(pool.running).toBe(0)
    expect(made.runner.stats.inFlight).toBe(0)
    return made
  }

  function ended(made: Team): Record<string, readonly [status: string | undefined, isAborted: boolean]> {
    const records = Object.fromEntries(made.sessions().map(({ prompt, status }) => [prompt, status]))
    const calls = made.asked('worker').map(({ context, request }) => [taskOf(request), context.signal.aborted] as const)
    return Object.fromEntries(calls.map(([task, isAborted]) => [task, [records[task], isAborted]]))
  }

  it('and whose step is stopped takes both along, and not the one in the background', async () => {
    const made = await waiting(({ lead, runner }) => runner.stopStep(lead))
    expect(ended(made)).toEqual({ A: ['cancelled', true], B: ['cancelled', true], C: ['succeeded', false] })
    expect(made.results()).toMatchObject({ a: '[cancelled by the user]', b: '[cancelled by the user]' })
    expect(made.world.nowMs).toBe(100)
  })

  it('and is cancelled takes all of them along', async () => {
    const made = await waiting(({ lead, runner }) => runner.cancel(lead))
    expect(ended(made)).toEqual({ A: ['cancelled', true], B: ['cancelled', true], C: ['cancelled', true] })
    expect(made.world.nowMs).toBe(0)
  })
})
