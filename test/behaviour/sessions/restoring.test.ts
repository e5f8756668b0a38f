import { Conversation, memoryStore, SessionPool, sqliteStore, type Store, VirtualClock, World } from 'entia'
import { DelegationLimits, SubagentSession } from 'entia/components'
import { tick } from 'entia/systems'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { type Driven, turns } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { askedByTask, dyingTeam, finished, fromStore } from './dying-team.ts'
import { after, byTask } from './pace.ts'
import { launch, once, sleeper, sleepyTeam, succeeded, updates, wait } from './sleepy-team.ts'
import { type Behaviour, call, calls, delegate, notesIn, resultsIn, sessionsOf, stepwise, taskOf } from './team.ts'

const lost = 'restored_without_live_task_handle'

const stores: [string, () => Promise<Store>][] = [
  ['memory', async () => memoryStore()],
  ['SQLite', async () => sqliteStore({ folder: await tempFolder() })],
]

function statuses({ world }: Driven, lead: number): string[] {
  return sessionsOf(world, lead).map(({ status }) => status)
}

function notes({ world }: Driven, lead: number): string[] {
  return notesIn(world.read(lead, Conversation))
}

/** Works through three steps of 100 ms, with a call of a tool in each but the last. */
const threeSteps: Behaviour = (request, context) => {
  const { length } = request.messages
  return after(100, length < 5 ? calls(call(`look ${length}`, 'look')) : 'Worked.')(request, context)
}

describe.each(stores)('sessions in %s whose process was killed', (_, open) => {
  it('go on, each from where it was; those that had ended stay, and no finished model call is made again', async () => {
    const kept = await open()
    const looks: string[] = []
    const tools = [tool('look', ({ key }) => void looks.push(key))]
    const launches = calls(...['10', 'work', '5000', '30', '40'].map((task) => launch(task, task)))
    const made = dyingTeam([launches, calls(wait({ mode: 'all' })), 'Woken.'], {
      kept,
      subagents: { researcher: { tools: ['look'] } },
      worker: (request, context) => (taskOf(request) === 'work' ? threeSteps : sleeper)(request, context),
      runner: { tools, sessionPool: new SessionPool({ cap: 2 }) },
    })
    await made.runner.start()
    await once(made, () => askedByTask(made)['work']?.length === 2)
    await made.die()
    const again = await fromStore(kept, made, new SessionPool({ cap: 2 }))
    expect(statuses(again, made.lead)).toEqual(['succeeded', 'running', 'running', 'queued', 'queued'])
    await finished(again)
    expect(statuses(again, made.lead)).toEqual(Array.from({ length: 5 }, () => 'succeeded'))
    expect(askedByTask(made)).toEqual({ '10': [1], work: [1, 3, 3, 5], '5000': [1, 1], '30': [1], '40': [1] })
    expect(looks).toHaveLength(2)
    expect(made.asked('lead')).toHaveLength(3)
    const [first, ...others] = notes(again, made.lead)
    expect(others).toEqual([])
    for (const { sessionId } of sessionsOf(again.world, made.lead)) {
      expect(first?.split('\n').filter((line) => line === succeeded(sessionId))).toHaveLength(1)
    }
  })

  it('take their slots back ahead of those that wait for a first one', async () => {
    const kept = await open()
    const made = dyingTeam([calls(launch('a', '100'), launch('b', '10'), launch('c', '20')), 'Launched.'], {
      kept,
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.runner.start()
    await once(made, () => made.asked('worker').length === 1)
    await made.die()
    const pool = new SessionPool({ cap: 1 })
    const again = await fromStore(kept, made, pool)
    let most = 0
    again.runner.on('*', () => void (most = Math.max(most, pool.running)))
    await finished(again)
    expect(most).toBe(1)
    expect(again.told('session-ended').map(({ sessionId }) => sessionId)).toEqual(
      sessionsOf(again.world, made.lead).map(({ sessionId }) => sessionId),
    )
    expect(askedByTask(made)).toEqual({ '100': [1, 1], '10': [1], '20': [1] })
  })

  it('that had ended before their parent knew deliver their outcome without a model call', async () => {
    const kept = await open()
    const made = dyingTeam([calls(launch('a', '10')), calls(wait()), 'Woken.'], {
      kept,
      diesBefore: ({ inputs }) => JSON.stringify(inputs).includes('artifactId'),
    })
    await made.runner.start()
    await made.dead
    const again = await fromStore(kept, made)
    expect(statuses(again, made.lead)).toEqual(['running'])
    await finished(again)
    expect(statuses(again, made.lead)).toEqual(['succeeded'])
    expect(made.asked('worker')).toHaveLength(1)
    expect(notes(again, made.lead)).toEqual([updates(succeeded(made.id(1)))])
    const started = new Set([...made.told('delegation-started'), ...again.told('delegation-started')].map(place))
    const completed = new Set([...made.told('delegation-completed'), ...again.told('delegation-completed')].map(place))
    expect([started.size, completed.size]).toEqual([1, 1])
  })

  it('answer the call that was waiting for them', async () => {
    const kept = await open()
    const made = dyingTeam([calls(delegate('a', { prompt: '100' })), 'Answered.'], { kept })
    await made.runner.start()
    await once(made, () => made.asked('worker').length === 1)
    await made.die()
    const again = await fromStore(kept, made)
    await finished(again)
    expect(resultsIn(again.world.read(made.lead, Conversation))).toEqual({ a: 'Slept 100' })
    expect(made.asked('lead')).toHaveLength(2)
  })

  it.each(['sync', 'background'])('go on in a line of parent, child and grandchild on one slot (%s)', async (mode) => {
    const kept = await open()
    const background = mode === 'background'
    const task = { category: 'deep', prompt: 'child', background }
    const made = dyingTeam([calls(delegate('a', task)), ...(background ? [calls(wait())] : []), 'Woken.'], {
      kept,
      subagents: { deep: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      worker: byTask({
        child: stepwise(calls(delegate('b', { category: 'deep', prompt: 'grandchild' })), 'Child done.'),
        grandchild: after(100, 'Grandchild done.'),
      }),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.runner.start()
    await once(made, () => askedByTask(made)['grandchild'] !== undefined)
    await made.die()
    const pool = new SessionPool({ cap: 1 })
    const again = await fromStore(kept, made, pool)
    let most = 0
    again.runner.on('*', () => void (most = Math.max(most, pool.running)))
    await finished(again)
    expect(most).toBe(1)
    expect(askedByTask(made)).toEqual({ child: [1, 3], grandchild: [1, 1] })
    expect(statuses(again, made.lead)).toEqual(['succeeded'])
    const result = resultsIn(again.world.read(made.lead, Conversation))['a']
    const heard = background ? notes(again, made.lead) : [result]
    expect(heard).toEqual([background ? updates(succeeded(made.id(1))) : 'Child done.'])
  })

  it('go on below one that goes on before any that waits for a first slot', async () => {
    const kept = await open()
    const deep = delegate('a', { category: 'deep', prompt: 'child', background: true })
    const made = dyingTeam([calls(deep), calls(launch('c', '10')), 'Launched.'], {
      kept,
      leadOptions: { latencyMs: 50 },
      subagents: { researcher: {}, deep: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      worker: byTask({
        child: stepwise(calls(delegate('b', { prompt: 'grandchild' })), 'Child done.'),
        grandchild: after(1_000, 'Grandchild done.'),
      }),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.runner.start()
    await once(made, () => made.steps.length === 3)
    await made.die()
    const tasks = (): string[] => made.asked('worker').map(({ request }) => taskOf(request))
    expect(tasks()).toEqual(['child', 'grandchild'])
    const again = await fromStore(kept, made, new SessionPool({ cap: 1 }))
    expect(statuses(again, made.lead)).toEqual(['running', 'queued'])
    await finished(again)
    expect(tasks()).toEqual(['child', 'grandchild', 'grandchild', 'child', '10'])
  })

  it('are bound by what they were granted, even if they had not been told yet', async () => {
    const kept = await open()
    const inner = calls(delegate('b', { category: 'deep', prompt: 'grandchild' }))
    const made = dyingTeam([calls(delegate('a', { category: 'deep', prompt: 'child' })), 'Answered.'], {
      kept,
      diesBefore: ({ inputs }) => inputs.some(({ kind }) => kind === 'granted'),
      parts: [DelegationLimits({ depth: 1 })],
      subagents: { deep: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      worker: stepwise(inner, ({ messages }) => resultsIn(messages)['b'] ?? 'No answer.'),
    })
    await made.runner.start()
    await made.dead
    const again = await fromStore(kept, made)
    expect(statuses(again, made.lead)).toEqual(['running'])
    await finished(again)
    const answer = 'Error: Delegation limit reached: depth'
    expect(resultsIn(again.world.read(made.lead, Conversation))).toEqual({ a: answer })
    expect(askedByTask(made)).toEqual({ child: [1, 3] })
  })

  it('whose own worlds are gone have failed, and wake who sleeps on them', async () => {
    const kept = await open()
    const made = dyingTeam([calls(launch('a', '100')), calls(wait()), 'Woken.'], { kept })
    await made.runner.start()
    await once(made, () => made.asked('worker').length === 1 && made.world.has(made.lead, components.SubagentWait))
    await made.die()
    await kept.delete(made.id(1))
    const again = await fromStore(kept, made)
    await finished(again)
    expect(sessionsOf(again.world, made.lead)[0]).toMatchObject({ status: 'failed', error: lost })
    expect(made.asked('lead')).toHaveLength(3)
  })
})

/** What tells an event from one that is told again. */
function place({ world, tick, index }: { world: string; tick: number; index: number }): string {
  return `${world} ${tick} ${index}`
}

describe('a session that goes on after a restore', () => {
  it('has what was left of its timeout', async () => {
    const kept = memoryStore()
    const clock = new VirtualClock({ auto: false })
    const made = sleepyTeam([calls(launch('a', '100000', 60)), 'Launched.'], { runner: { clock, store: kept } })
    await made.runner.start()
    await once(made, () => made.asked('worker').length === 1)
    clock.advance(40_000)
    await turns()
    await made.runner.stop()
    const again = await fromStore(kept, made)
    await again.runner.start()
    await again.runner.idle()
    expect(sessionsOf(again.world, made.lead)[0]).toMatchObject({
      status: 'timed_out',
      error: 'Subagent timeout after 60s',
      finishedAtMs: 60_000,
    })
    expect(again.told('delegation-completed').map(({ durationMs }) => durationMs)).toEqual([60_000])
  })
})

describe('a live session', () => {
  it('is never taken for a restored one, however many ticks pass', async () => {
    const made = sleepyTeam([calls(launch('a', '100'), launch('b', '100')), 'Launched.'], {
      runner: { sessionPool: new SessionPool({ cap: 1 }), clock: new VirtualClock({ auto: false }) },
    })
    await made.runner.start()
    await once(made, () => made.steps.length === 2 && made.asked('worker').length === 1)
    const { ticks } = made.runner.stats
    for (let count = 0; count < 100; count++) await made.runner.change(() => undefined)
    expect(made.runner.stats.ticks).toBeGreaterThanOrEqual(ticks + 100)
    expect(made.sessions().map(({ status }) => status)).toEqual(['running', 'queued'])
    expect(made.asked('worker')).toHaveLength(1)
    expect(made.told('session-ended')).toEqual([])
  })
})

describe('a session that has ended', () => {
  it('is refused any other state when a system asks for it, and its record stays', async () => {
    const made = sleepyTeam([calls(delegate('a', { prompt: '10' })), 'Done.'])
    await made.run()
    await made.runner.stop()
    const tampering = {
      name: 'tampering',
      priority: 20,
      run: (world: World) =>
        world.query(SubagentSession).forEach((one) => world.patch(one, SubagentSession, { status: 'running' })),
    }
    const world = World.restore(made.world.snapshot(), { systems: [tampering], components })
    const before = sessionsOf(world, made.lead)
    const cause: unknown = expect.objectContaining({ code: 'illegal-transition' })
    expect(() => tick(world, [])).toThrow(expect.objectContaining({ code: 'system-failed', cause }))
    expect(sessionsOf(world, made.lead)).toEqual(before)
    expect(before[0]?.status).toBe('succeeded')
  })
})
