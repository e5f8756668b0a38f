import { Conversation, SessionPool, VirtualClock } from 'entia'
import { SubagentWait } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { type Driven, turns } from '../turns/driving.ts'
import { askedByTask, finished, fromFile } from './dying-team.ts'
import { statusOf } from './pace.ts'
import { failed, launch, once, sleepyTeam, succeeded, updates, wait } from './sleepy-team.ts'
import { calls, delegate, notesIn, resultsIn, sessionsOf } from './team.ts'

const lost = 'restored_without_live_task_handle'

function statuses({ world }: Driven, lead: number): string[] {
  return sessionsOf(world, lead).map(({ status }) => status)
}

describe('a world that is restored from one file', () => {
  it('runs the queued sessions in the order of their launches, each once', async () => {
    const held = new SessionPool({ cap: 1 })
    await held.enter('somebody else', 'first')
    const made = sleepyTeam([calls(launch('b', '200'), launch('a', '10')), 'Launched.', statusOf('s', 2), 'Told.'], {
      registry: { wakeIdle: false },
      runner: { sessionPool: held },
    })
    await made.runner.start()
    await once(made, () => made.steps.length === 2)
    await made.runner.stop()
    const clock = new VirtualClock({ auto: false })
    const again = fromFile(made, new SessionPool({ cap: 1 }), clock)
    await again.runner.start()
    await again.runner.change(() => undefined)
    await turns()
    expect(again.runner.stats.ticks).toBe(2)
    expect(statuses(again, made.lead)).toEqual(['running', 'queued'])
    await again.runner.message(made.lead, 'Well?')
    await turns()
    const answer = resultsIn(again.world.read(made.lead, Conversation))['s2'] ?? ''
    expect(JSON.parse(answer)).toMatchObject({ lifecycle_status: 'queued', queue_position: 0 })
    expect(askedByTask(made)).toEqual({ '200': [1] })
    for (const durationMs of [200, 10]) {
      clock.advance(durationMs)
      await turns()
    }
    expect(askedByTask(made)).toEqual({ '200': [1], '10': [1] })
    expect(statuses(again, made.lead)).toEqual(['succeeded', 'succeeded'])
  })

  it('takes sessions that were running for failed, which are told of, answer their calls and wake who sleeps', async () => {
    const made = sleepyTeam([calls(launch('a', '100'), launch('b', '5')), calls(wait()), 'Woken.'], {
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.runner.start()
    await once(made, () => made.world.has(made.lead, SubagentWait) && made.asked('worker').length === 1)
    const again = fromFile(made, new SessionPool({ cap: 1 }))
    await made.runner.stop()
    expect(statuses(again, made.lead)).toEqual(['running', 'queued'])
    await finished(again)
    const [a, b] = sessionsOf(again.world, made.lead)
    expect(a).toMatchObject({ status: 'failed', error: lost })
    expect(b).toMatchObject({ status: 'succeeded' })
    const notes = notesIn(again.world.read(made.lead, Conversation))
    expect(notes).toEqual([updates(failed(made.id(1), lost)), updates(succeeded(made.id(2)))])
    expect(askedByTask(made)).toEqual({ '100': [1], '5': [1] })
  })

  it('answers the call that was waiting for a session that was running', async () => {
    const made = sleepyTeam([calls(delegate('a', { prompt: '100' })), 'Answered.'])
    await made.runner.start()
    await once(made, () => made.asked('worker').length === 1)
    const again = fromFile(made)
    await made.runner.stop()
    await finished(again)
    const answer = `Error: Subagent 'researcher' failed: ${lost}`
    expect(resultsIn(again.world.read(made.lead, Conversation))).toEqual({ a: answer })
  })
})
