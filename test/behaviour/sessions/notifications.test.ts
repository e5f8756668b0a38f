import { agent, Conversation, fail, LastTurn, SessionPool, type World } from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { gate } from '../turns/driving.ts'
import { expectValid, transcript } from '../../transcript.ts'
import { fromFile } from './dying-team.ts'
import { failed, launch, once, type SleepyTeam, sleepyTeam, succeeded, updates, wait } from './sleepy-team.ts'
import { type Asked, call, calls, delegate, notesIn } from './team.ts'

const { SubagentNotification, SubagentSession, UnreadBy } = components

/** Notifications by their ids, and whether they are read. */
function notifications(world: World): Record<string, string> {
  const found = world.query(SubagentNotification).map((session) => world.read(session, SubagentNotification))
  return Object.fromEntries(found.map(({ id, state }) => [id, state]))
}

describe('an agent with sessions in the background', () => {
  it('is told of three that end in one tick in one message', async () => {
    const opened = gate()
    const worker = () => opened.promise.then(() => 'Done.')
    const three = calls(launch('a', '1'), launch('b', '2'), launch('c', '3'))
    const made = sleepyTeam([three, calls(wait()), 'Told.'], { worker })
    await made.runner.start()
    await once(made, () => made.asked('worker').length === 3)
    opened.resolve()
    await made.runner.idle()
    expect(new Set(made.told('session-ended').map(({ tick }) => tick)).size).toBe(1)
    expect(made.notes()).toEqual([updates(...[1, 2, 3].map((place) => succeeded(made.id(place))))])
    const told = made.world.read(made.lead, Conversation).find(({ role }) => role === 'system')
    expect(told?.content).toHaveLength(1)
  })

  it('is told in order of finishing', async () => {
    const all = wait({ mode: 'all' })
    const made = sleepyTeam([
      calls(launch('a', '300'), launch('b', '100 boom'), launch('c', '200')),
      calls(all),
      'Told.',
    ])
    await made.run()
    const lines = [failed(made.id(2), 'boom'), succeeded(made.id(3)), succeeded(made.id(1))]
    expect(made.notes()).toEqual([updates(...lines)])
  })

  it('is told the error of one that failed', async () => {
    const made = sleepyTeam([calls(launch('a', '10 boom')), calls(wait()), 'Told.'])
    await made.run()
    const id = made.id(1)
    const line = `- ${id} failed: boom. Call subagent_result(session_id="${id}") for details.`
    expect(made.notes()).toEqual([`Background subagent updates:\n${line}`])
    expect(notifications(made.world)).toEqual({ [`${id}:failed`]: 'read' })
  })

  it('is told of one that timed out as of one that failed', async () => {
    const made = sleepyTeam([calls(launch('a', '100', 0.05)), calls(wait()), 'Told.'])
    await made.run()
    expect(made.notes()).toEqual([updates(failed(made.id(1), 'Subagent timeout after 0.05s'))])
    expect(notifications(made.world)).toEqual({ [`${made.id(1)}:timed_out`]: 'read' })
  })

  it('is told an error in one line and of at most 200 characters', async () => {
    const made = sleepyTeam([calls(launch('a', `10 one\n\ttwo  ${'x'.repeat(300)}`)), calls(wait()), 'Told.'])
    await made.run()
    expect(made.notes()).toEqual([updates(failed(made.id(1), `one two ${'x'.repeat(189)}...`))])
  })

  it('is told where a summary is to be had', async () => {
    const envelope =
      '<subagent_background_result><summary>S</summary><full_result>F</full_result></subagent_background_result>'
    const made = sleepyTeam([calls(launch('a', '10')), calls(wait()), 'Told.'], { worker: () => envelope })
    await made.run()
    const result = `subagent_result(session_id="${made.id(1)}"`
    const line = `- ${made.id(1)} succeeded. Call ${result}) for the full result or ${result}, read_method="summary") for the cached summary.`
    expect(made.notes()).toEqual([updates(line)])
  })

  it('is told nothing of those that were cancelled, of those that were synchronous, and where it is not to be', async () => {
    const made = sleepyTeam([calls(launch('a', '100'), delegate('b', { prompt: '10' })), 'Done.'])
    await made.runner.start()
    await once(made, () => made.sessions().length === 2)
    const subagents = made.runner.subagents(made.lead)
    await subagents.cancel(1)
    await subagents.spawn({ category: 'researcher', prompt: '20', notify: false })
    await made.runner.idle()
    expect(made.sessions().map(({ status }) => status)).toEqual(['cancelled', 'succeeded', 'succeeded'])
    expect(made.notes()).toEqual([])
    expect(notifications(made.world)).toEqual({})
    expect(made.steps).toHaveLength(2)
  })

  it('is not told of a result that it has read', async () => {
    const read = call('r', 'subagent_result', { session_id: '1' })
    const made = sleepyTeam([calls(launch('a', '10')), calls(read), 'Read.'])
    await made.run()
    expect(made.notes()).toEqual([])
    expect(notifications(made.world)).toEqual({ [`${made.id(1)}:succeeded`]: 'read' })
  })

  it('is told before its next step, behind the results of the calls that are open', async () => {
    const made = sleepyTeam([calls(launch('a', '10')), calls(delegate('b', { prompt: '100' })), 'Told.'])
    await made.run()
    expect(made.steps.map(({ atMs }) => atMs)).toEqual([0, 0, 100])
    const messages = [...(made.asked('lead')[2]?.request.messages ?? [])]
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'system'])
    expectValid(made.world, made.lead)
  })
})

describe('an agent whose turn is over when its session ends', () => {
  const replies = [calls(launch('a', '100')), 'Over to you.', 'Told.', 'Later.']

  it('is told, and asks its model once', async () => {
    const made = sleepyTeam(replies)
    await made.run()
    expect(made.steps.map(({ atMs }) => atMs)).toEqual([0, 0, 100])
    expect(notesIn(made.asked('lead')[2]?.request.messages ?? [])).toEqual([updates(succeeded(made.id(1)))])
    const turns = made.told('turn-ended').filter(({ path }) => path === undefined)
    expect(turns.map(({ stop }) => stop)).toEqual(['done', 'done'])
  })

  it('is left alone where it is not to be woken, and told in its next turn', async () => {
    const made = sleepyTeam(replies, { registry: { wakeIdle: false } })
    await made.run()
    expect(made.steps).toHaveLength(2)
    expect(made.notes()).toEqual([])
    expect(notifications(made.world)).toEqual({ [`${made.id(1)}:succeeded`]: 'unread' })
    await made.runner.message(made.lead, 'And?')
    await made.runner.idle()
    expect(made.steps).toHaveLength(3)
    expect(notesIn(made.asked('lead')[2]?.request.messages ?? [])).toEqual([updates(succeeded(made.id(1)))])
  })

  it('is told nothing once it was cancelled', async () => {
    const made = sleepyTeam([calls(launch('a', '100')), calls(wait()), 'Never.'])
    await made.runner.start()
    await once(made, () => made.world.has(made.lead, components.SubagentWait))
    await made.runner.cancel(made.lead)
    await expectNothingTold(made)
  })

  it('is told nothing once it has failed', async () => {
    const made = sleepyTeam([calls(launch('a', '100')), fail('refused'), 'Never.'])
    await made.runner.start()
    await once(made, () => made.world.has(made.lead, LastTurn))
    await expectNothingTold(made)
  })
})

/** Its sessions were cancelled with it, and one that a program launches later is none of its business. */
async function expectNothingTold(made: SleepyTeam): Promise<void> {
  await made.runner.subagents(made.lead).spawn({ category: 'researcher', prompt: '50' })
  await made.runner.idle()
  expect(made.sessions().map(({ status }) => status)).toEqual(['cancelled', 'succeeded'])
  expect(made.steps).toHaveLength(2)
  expect(made.notes()).toEqual([])
}

describe('a notification', () => {
  it('that was delivered is not delivered again after a restore', async () => {
    const made = sleepyTeam([calls(launch('a', '100')), calls(wait()), 'Told.', 'Again.'])
    await made.run()
    await made.runner.stop()
    const again = fromFile(made)
    await again.runner.start()
    await again.runner.message(made.lead, 'And?')
    await again.runner.idle()
    expect(made.steps).toHaveLength(4)
    expect(notesIn(again.world.read(made.lead, Conversation))).toEqual([updates(succeeded(made.id(1)))])
  })

  it('that was not delivered is delivered exactly once after a restore', async () => {
    const made = sleepyTeam([calls(launch('a', '100')), 'Busy.', 'Told.', 'Again.'], {
      leadOptions: { latencyMs: 1_000 },
    })
    await made.runner.start()
    await once(made, () => made.sessions()[0]?.status === 'succeeded')
    await made.runner.stop()
    expect(notifications(made.world)).toEqual({ [`${made.id(1)}:succeeded`]: 'unread' })
    const again = fromFile(made)
    await again.runner.start()
    await again.runner.idle()
    await again.runner.message(made.lead, 'And?')
    await again.runner.idle()
    expect(notesIn(again.world.read(made.lead, Conversation))).toEqual([updates(succeeded(made.id(1)))])
    expect(again.world.query(UnreadBy)).toEqual([])
  })

  it('for an agent that is gone disturbs nothing, and its sessions are aborted', async () => {
    const sessionPool = new SessionPool({ cap: 1 })
    const made = sleepyTeam([calls(launch('a', '100'), launch('b', '100')), calls(wait({ timeout: 60 })), 'Never.'], {
      runner: { sessionPool },
    })
    const other = made.world.spawn(...agent({ model: 'worker/x' }))
    await made.runner.start()
    await once(made, () => made.asked('worker').length === 1)
    const [{ context }] = made.asked('worker') as [Asked]
    await made.runner.change((world) => world.despawn(made.lead))
    await made.runner.idle()
    expect(context.signal.aborted).toBe(true)
    expect(made.world.query(SubagentSession)).toEqual([])
    expect(sessionPool.running).toBe(0)
    expect(made.asked('worker')).toHaveLength(1)
    await made.runner.message(other, '5')
    await made.runner.idle()
    expect(transcript(made.world, other)).toEqual(['user: 5', 'assistant: Slept 5'])
  })
})
