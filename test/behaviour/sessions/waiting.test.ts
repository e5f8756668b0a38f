import { Conversation, Limits, sqliteStore, memoryStore, SessionPool, type Store, VirtualClock } from 'entia'
import { SubagentSession, SubagentWait, WaitDeadline } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { reopened, turns } from '../turns/driving.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { failed, launch, once, sleepyTeam, succeeded, updates, wait } from './sleepy-team.ts'
import { call, calls, notesIn } from './team.ts'

const waiting = 'Waiting for background subagents. Will be notified when they complete.'

describe('a wait without ids', () => {
  it('ends with the first session that ends, and the others run on', async () => {
    const made = sleepyTeam([calls(launch('a', '100'), launch('b', '1000')), calls(wait()), 'Woken.'])
    await made.run()
    expect(made.results()['wait']).toBe(waiting)
    expect(made.steps[2]).toEqual({ atMs: 100, statuses: ['succeeded', 'running'] })
    expect(made.notes()[0]).toBe(updates(succeeded(made.id(1))))
    expect(made.sessions()[1]?.status).toBe('succeeded')
  })

  it('is for all that were active when it began, if it is for all', async () => {
    const made = sleepyTeam([calls(launch('a', '100'), launch('b', '1000')), calls(wait({ mode: 'all' })), 'Woken.'])
    await made.run()
    expect(made.steps[2]).toEqual({ atMs: 1000, statuses: ['succeeded', 'succeeded'] })
    expect(made.notes()).toEqual([updates(succeeded(made.id(1)), succeeded(made.id(2)))])
  })

  it('sleeps on when one of two is cancelled, and tells of it when the other has ended', async () => {
    const made = sleepyTeam([calls(launch('a', '100'), launch('b', '1000')), calls(wait()), 'Woken.'])
    await made.runner.start()
    await once(made, () => made.world.has(made.lead, SubagentWait))
    await made.runner.subagents(made.lead).cancel(1)
    await made.runner.idle()
    expect(made.steps[2]?.atMs).toBe(1000)
    expect(made.notes()).toEqual([updates(`- ${made.id(1)} cancelled.`, succeeded(made.id(2)))])
  })

  it('does not begin where there is no session, and the agent goes on', async () => {
    const made = sleepyTeam([calls(wait()), 'There is none.'])
    await made.run()
    expect(made.results()['wait']).toBe('No background subagent sessions to wait for.')
    expect(made.steps).toHaveLength(2)
    expect(made.world.has(made.lead, SubagentWait)).toBe(false)
  })

  it('names those that have ended and that nobody was told of, which the next step is then told once', async () => {
    const made = sleepyTeam([calls(launch('a', '10'), launch('b', '20 boom')), calls(wait()), 'Told.'], {
      leadOptions: { latencyMs: 100 },
    })
    await made.run()
    const [a, b] = [made.id(1), made.id(2)]
    expect(made.results()['wait']).toBe(`Already finished: ${a} (succeeded), ${b} (failed)`)
    expect(made.notes()).toEqual([updates(succeeded(a), failed(b, 'boom'))])
    expect(notesIn(made.asked('lead')[2]?.request.messages ?? [])).toEqual(made.notes())
    expect(made.steps).toHaveLength(3)
  })
})

describe('a wait that begins in the last step of a turn', () => {
  it('ends with the turn, and what has ended meanwhile is told at once', async () => {
    const steps = [calls(launch('a', '10'), launch('b', '10000')), calls(wait({ session_ids: ['2'] })), 'Told of a.']
    const made = sleepyTeam([...steps, 'Told of b.'], {
      leadOptions: { latencyMs: 100 },
      parts: [Limits({ maxSteps: 2 })],
    })
    await made.run()
    expect(made.told('turn-ended').filter(({ stop }) => stop === 'max-steps')).toHaveLength(1)
    expect(made.steps[2]?.atMs).toBe(200)
    expect(made.notes()).toEqual([updates(succeeded(made.id(1))), updates(succeeded(made.id(2)))])
  })
})

describe('a wait for named sessions', () => {
  const both = calls(launch('a', '1000'), launch('b', '100'))

  it('sleeps on when another one ends, and then tells of both', async () => {
    const made = sleepyTeam([both, calls(wait({ session_ids: ['1'] })), 'Woken.'])
    await made.run()
    expect(made.steps[2]?.atMs).toBe(1000)
    expect(made.notes()).toEqual([updates(succeeded(made.id(2)), succeeded(made.id(1)))])
  })

  it('wakes with any of them, if any will do', async () => {
    const made = sleepyTeam([both, calls(wait({ session_ids: ['1', '2'] })), 'Woken.'])
    await made.run()
    expect(made.steps[2]).toEqual({ atMs: 100, statuses: ['running', 'succeeded'] })
  })

  it('wakes with the last of them, if it is for all', async () => {
    const made = sleepyTeam([both, calls(wait({ mode: 'all', session_ids: ['1', '2'] })), 'Woken.'])
    await made.run()
    expect(made.steps[2]?.atMs).toBe(1000)
    expect(made.notes()).toHaveLength(1)
  })

  it('wakes with one that was cancelled when no other is left, and says so', async () => {
    const made = sleepyTeam([both, calls(wait({ session_ids: ['1'] })), 'Woken.'])
    await made.runner.start()
    await once(made, () => made.world.has(made.lead, SubagentWait))
    await made.runner.subagents(made.lead).cancel(1)
    await once(made, () => made.steps.length === 3)
    expect(made.steps[2]).toEqual({ atMs: 0, statuses: ['cancelled', 'running'] })
    expect(made.notes()).toEqual([updates(`- ${made.id(1)} cancelled.`)])
  })

  it('takes one that is named twice for one', async () => {
    const made = sleepyTeam([
      both,
      ({ messages }) => {
        const id = made.id(1)
        expect(messages.length).toBe(4)
        return calls(wait({ mode: 'all', session_ids: [id, '1', id.slice(0, 14)] }))
      },
      'Woken.',
    ])
    await made.runner.start()
    await once(made, () => made.world.has(made.lead, SubagentWait))
    const [a] = made.world.query(SubagentSession)
    expect(made.world.read(made.lead, SubagentWait).sessions).toEqual([a])
    await made.runner.idle()
    expect(made.steps[2]?.atMs).toBe(1000)
  })

  it('does not begin when one of the ids is unknown', async () => {
    const made = sleepyTeam([both, calls(wait({ session_ids: ['1', 'session-nobody'] })), 'Awake.'])
    await made.runner.start()
    await once(made, () => made.steps.length === 3)
    expect(made.results()['wait']).toBe('Error: Session not found: session-nobody')
    expect(made.world.has(made.lead, SubagentWait)).toBe(false)
    expect(made.steps[2]).toEqual({ atMs: 0, statuses: ['running', 'running'] })
  })

  it('does not begin where what it is for is there, and names that', async () => {
    const later = calls(wait({ session_ids: ['2'] }, 'again'))
    const made = sleepyTeam([both, calls(wait()), later, 'Awake.'])
    await made.run()
    expect(made.results()['again']).toBe(`Already finished: ${made.id(2)} (succeeded)`)
    expect(made.steps[3]?.atMs).toBe(100)
  })
})

describe('an agent that waits', () => {
  const slow = calls(launch('a', '100000'))

  it('does not wait a second time, and the first wait stays', async () => {
    const made = sleepyTeam([slow, calls(wait({ timeout: 60 }, 'first'), wait({ timeout: 1 }, 'second')), 'Woken.'])
    await made.run()
    expect(made.results()).toMatchObject({
      first: waiting,
      second: 'Error: Already waiting for background subagents',
    })
    expect(made.steps[2]?.atMs).toBe(60_000)
  })

  it("is woken by a user's message, and the sessions go on", async () => {
    const made = sleepyTeam([slow, calls(wait({ timeout: 60 })), 'Here I am.'])
    await made.runner.start()
    await once(made, () => made.world.has(made.lead, SubagentWait))
    await made.runner.message(made.lead, 'Are you there?')
    expect(made.world.has(made.lead, SubagentWait)).toBe(false)
    expect(made.world.query(WaitDeadline)).toEqual([])
    await once(made, () => made.steps.length === 3)
    expect(made.steps[2]).toEqual({ atMs: 0, statuses: ['running'] })
    await made.runner.idle()
    expect(made.notes()).toEqual([updates(succeeded(made.id(1)))])
  })

  it('ticks no more and asks no model in 10,000 seconds of waiting', async () => {
    let steps = 0
    const made = sleepyTeam([calls(launch('a', 'Go on')), calls(wait()), 'Woken.'], {
      subagents: { researcher: { maxSteps: 200, inheritancePolicy: { inheritTools: ['subagent'] } } },
      worker: async (_request, { sleep }) => {
        await sleep(100_000)
        return ++steps <= 101 ? calls(call(`status ${steps}`, 'subagent_status')) : 'Done.'
      },
    })
    await made.runner.start()
    await once(made, () => steps === 1)
    expect(made.world.has(made.lead, SubagentWait)).toBe(true)
    const before = [made.runner.stats.ticks, made.asked('lead').length]
    await once(made, () => steps === 101)
    expect([made.runner.stats.ticks, made.asked('lead').length]).toEqual(before)
    await made.runner.idle()
    expect(made.steps[2]?.atMs).toBe(10_200_000)
    expect(made.world.read(made.lead, Conversation).at(-1)?.role).toBe('assistant')
  })
})

describe('a wait with a time-out', () => {
  const all = calls(wait({ mode: 'all', timeout: 60 }))

  it('tells of what has ended and of what has not, ends nothing, and the agent goes on', async () => {
    const made = sleepyTeam([calls(launch('a', '10000'), launch('b', '100000')), all, 'Woken.'])
    await made.run()
    const [a, b] = [made.id(1), made.id(2)]
    const timedOut = `Subagent wait timed out after 60s.\n- ${b} is still running.\n${succeeded(a)}`
    expect(made.steps[2]).toEqual({ atMs: 60_000, statuses: ['succeeded', 'running'] })
    expect(made.notes()).toEqual([timedOut, updates(succeeded(b))])
    expect(made.told('turn-ended').filter(({ stop }) => stop !== 'done')).toEqual([])
    expect(made.told('session-ended').map(({ lifecycleStatus }) => lifecycleStatus)).toEqual(['succeeded', 'succeeded'])
  })

  it('tells by sequence of those that still run and of those that still wait for a slot', async () => {
    const made = sleepyTeam([calls(launch('a', '100000'), launch('b', '1')), all, 'Woken.'], {
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.run()
    const lines = [`- ${made.id(1)} is still running.`, `- ${made.id(2)} is still queued.`]
    expect(made.notes()[0]).toBe(['Subagent wait timed out after 60s.', ...lines].join('\n'))
  })

  it('takes no longer than it says when it says a fraction', async () => {
    const made = sleepyTeam([calls(launch('a', '10000')), calls(wait({ timeout: '0.05' })), 'Woken.'])
    await made.run()
    expect(made.steps[2]?.atMs).toBe(50)
    expect(made.notes()[0]).toContain('Subagent wait timed out after 0.05s.\n')
  })

  it.each([
    ['memory', async () => memoryStore()],
    ['SQLite', async () => sqliteStore({ folder: await tempFolder() })],
  ] as [string, () => Promise<Store>][])('lasts as long as was left when it is restored from %s', async (_, open) => {
    const store = await open()
    const clock = new VirtualClock({ auto: false })
    const made = sleepyTeam([calls(launch('a', '100000')), calls(wait({ timeout: 60 })), 'Woken.'], {
      runner: { clock, store },
    })
    await made.runner.start()
    await once(made, () => made.asked('worker').length === 1)
    await once(made, () => made.world.has(made.lead, SubagentWait))
    clock.advance(40_000)
    await turns()
    await made.runner.stop()
    const elsewhere = new VirtualClock({ dateMs: 3_640_000 })
    const again = await reopened(store, { ...made.options, clock: elsewhere, sessionPool: new SessionPool() })
    await again.runner.start()
    await once(again, () => made.asked('lead').length === 3)
    expect(elsewhere.now()).toBe(20_000)
    const notes = notesIn(again.world.read(made.lead, Conversation))
    expect(notes).toEqual([`Subagent wait timed out after 60s.\n- ${made.id(1)} is still running.`])
    await again.runner.idle()
  })
})
