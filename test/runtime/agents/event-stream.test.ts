import { describe, expect, it } from 'vitest'
import type { RunnerEvent } from '../../../src/engine/loop/events.ts'
import { EventStream } from '../../../src/runtime/agents/event-stream.ts'

function streamOfEvents() {
  let write: (event: RunnerEvent) => void = () => undefined
  let hasEnded = false
  const stream = new EventStream((listener) => {
    write = listener
    return () => void (hasEnded = true)
  })
  const event = (tick: number) => ({ type: 'turn-started', world: 'w', tick, agent: 1 }) as RunnerEvent
  return { stream, write: (tick: number) => write(event(tick)), hasEnded: () => hasEnded }
}

describe('a stream of events', () => {
  it('gives a slow reader the newest 10,000, and says how many it skipped', async () => {
    const { stream, write } = streamOfEvents()
    for (let tick = 1; tick <= 10_005; tick++) write(tick)
    expect((await stream.next()).value).toEqual({ type: 'events-skipped', count: 5 })
    expect((await stream.next()).value).toMatchObject({ tick: 6 })
  })

  it('wakes a reader that waits', async () => {
    const { stream, write } = streamOfEvents()
    const next = stream.next()
    write(1)
    expect((await next).value).toMatchObject({ tick: 1 })
  })

  it('ends its listener when the reader stops', async () => {
    const { stream, hasEnded } = streamOfEvents()
    await stream.return()
    expect(hasEnded()).toBe(true)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })
})
