import type { RetryPolicy } from 'entia'
import { standardRetry } from 'entia/models'
import { Effect, HostFacts, Outcome, Pending, Running } from 'entia/components'
import { restart } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { tickAt, worldOf } from '../one-tick.ts'

function started(retry?: Record<string, RetryPolicy | false>) {
  return { kind: 'started', dateMs: 1_000_000, ...(retry && { host: { retry } }) }
}

describe('a world that is taken up', () => {
  it('interrupts every `once` effect that had begun, and no other', () => {
    const world = worldOf(restart)
    const begun = world.spawn(Effect({ kind: 'tool', restart: 'once', attempt: 1 }), Running({ sinceMs: 0 }))
    const waiting = world.spawn(Effect({ kind: 'tool', restart: 'once', attempt: 1 }), Pending)
    tickAt(world, 0, started())
    expect(world.read(begun, Outcome)).toMatchObject({ ok: false, failure: { kind: 'interrupted' } })
    expect(world.has(begun, Running)).toBe(false)
    expect(world.has(waiting, Pending)).toBe(true)
    expect(world.has(waiting, Outcome)).toBe(false)
  })

  it('gives the tool calls that may have begun before another try', () => {
    const world = worldOf(restart)
    const call = world.spawn(Effect({ kind: 'tool', restart: 'keyed', attempt: 1 }), Pending)
    const other = world.spawn(Effect({ kind: 'tool', restart: 'keyed', attempt: 1 }), Pending)
    const gone = world.spawn()
    tickAt(world, 0, { ...started(), reruns: [call, gone] })
    expect([world.read(call, Effect).attempt, world.read(other, Effect).attempt]).toEqual([2, 1])
    tickAt(world, 0, started())
    expect(world.read(call, Effect).attempt).toBe(2)
  })

  it('interrupts nothing in any other tick', () => {
    const world = worldOf(restart)
    const begun = world.spawn(Effect({ kind: 'tool', restart: 'once', attempt: 1 }), Running({ sinceMs: 0 }))
    tickAt(world, 5)
    expect(world.has(begun, Running)).toBe(true)
  })

  it('takes its date from the host, and counts on from there', () => {
    const world = worldOf(restart)
    tickAt(world, 40, started())
    expect(world.dateMs).toBe(1_000_000)
    tickAt(world, 100)
    expect(world.dateMs).toBe(1_000_060)
  })

  it('knows the retry policies of its host, as it was last told', () => {
    const world = worldOf(restart)
    tickAt(world, 0, started({ a: standardRetry }))
    const [facts = 0] = world.query(HostFacts)
    expect(world.read(facts, HostFacts)).toEqual({ retry: { a: standardRetry } })
    expect(tickAt(world, 0, started({ a: standardRetry })).delta.set).toBeUndefined()
    tickAt(world, 0, started({ b: false }))
    tickAt(world, 0, started({}))
    tickAt(world, 0, started())
    expect(world.query(HostFacts)).toEqual([facts])
    expect(world.read(facts, HostFacts)).toEqual({ retry: {} })
  })

  it('notes nothing about a host of which there is nothing to know', () => {
    const world = worldOf(restart)
    tickAt(world, 0, started())
    expect(world.entities()).toEqual([])
  })
})
