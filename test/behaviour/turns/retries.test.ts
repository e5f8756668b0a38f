import { fail, LastTurn, memoryStore, VirtualClock } from 'entia'
import { Due, Effect } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { behaving, driven, reopened, settled, worldWith } from './driving.ts'

const retry = { maxAttempts: 4, firstDelayMs: 10_000, maxDelayMs: 60_000, kinds: ['overloaded' as const] }

describe('a call that fails for a passing reason', () => {
  it('is tried again, later each time, as long as its policy says', async () => {
    const { world, agent } = worldWith()
    const { models, requests } = behaving(() => fail('overloaded'), { retry })
    const { told } = await settled(world, { models })
    expect(requests).toHaveLength(4)
    expect(told('retry-scheduled').map(({ attempt }) => attempt)).toEqual([2, 3, 4])
    expect(world.nowMs).toBeGreaterThanOrEqual(70_000)
    expect(world.nowMs).toBeLessThanOrEqual(70_000 * 1.25 + 3)
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'failed', failure: { kind: 'overloaded' }, steps: 1 })
  })

  it('counts as one step, and leaves no trace in the conversation', async () => {
    const { world, agent } = worldWith({ maxSteps: 1 })
    const { models } = behaving((_, { attempt }) => (attempt < 4 ? fail('overloaded') : 'Hi'), { retry })
    await settled(world, { models })
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'done', steps: 1 })
  })

  it('has its attempts and what is left of its wait in the world, over a restart', async () => {
    const store = memoryStore()
    const { world } = worldWith()
    const clock = new VirtualClock({ auto: false })
    const { models } = behaving(() => fail('overloaded'), { retry })
    const first = driven(world, { models, store, clock })
    const scheduled = first.next('retry-scheduled')
    await first.runner.start()
    const { atMs } = await scheduled
    clock.advance(4_000)
    await first.runner.change(() => undefined)
    await first.runner.stop()

    const later = new VirtualClock({ auto: false })
    later.advance(123_456)
    const again = behaving(() => 'Hi', { retry })
    const second = await reopened(store, { models: again.models, clock: later })
    expect(second.world.nowMs).toBe(4_000)
    const [call = 0] = second.world.query(Due)
    expect(second.world.read(call, Effect).attempt).toBe(2)
    await second.runner.start()
    later.advance(atMs - 4_000 - 1)
    await second.runner.change(() => undefined)
    expect(again.requests).toHaveLength(0)
    later.advance(1)
    await second.runner.idle()
    expect(again.requests).toHaveLength(1)
    expect(second.world.nowMs).toBe(atMs)
  })

  it('is not tried again in a world whose Runner stands still: its time does so too', async () => {
    const { world } = worldWith()
    const clock = new VirtualClock({ auto: false })
    const { models } = behaving((_, { attempt }) => (attempt === 1 ? fail('overloaded') : 'Hi'), { retry })
    const first = driven(world, { models, clock })
    const scheduled = first.next('retry-scheduled')
    await first.runner.start()
    const { atMs } = await scheduled
    await first.runner.stop()
    clock.advance(1e6)
    const second = driven(world, { models, clock })
    await second.runner.start()
    await second.runner.change(() => undefined)
    expect(world.nowMs).toBe(0)
    clock.advance(atMs)
    await second.runner.idle()
    expect(world.nowMs).toBe(atMs)
  })
})
