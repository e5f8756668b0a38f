import type { Entity, World } from 'entia'
import { Approval, Due, Effect, Outcome, Pending, Running } from 'entia/components'
import { settlement } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { tickAt, told, worldOf } from '../one-tick.ts'

const ok = (value: string) => ({ ok: true, value })

function effect(world: World, data: Partial<Parameters<typeof Effect>[0]> = {}): Entity {
  return world.spawn(Effect({ kind: 'tool', restart: 'pure', attempt: 2, ...data }), Pending)
}

function outcome(entity: Entity, value = 'done', attempt = 2) {
  return { kind: 'outcome', effect: entity, attempt, outcome: ok(value) }
}

describe('an effect', () => {
  it.each([['pending'], ['running']])('that is %s is settled by its outcome', (state) => {
    const world = worldOf(settlement)
    const entity = effect(world)
    if (state === 'running') {
      world.remove(entity, Pending)
      world.add(entity, Running({ sinceMs: 0 }))
    }
    const result = tickAt(world, 0, outcome(entity))
    expect(world.read(entity, Outcome)).toEqual(ok('done'))
    expect([world.has(entity, Pending), world.has(entity, Running)]).toEqual([false, false])
    expect(told(result)).toEqual([])
  })

  it('is settled once: whatever comes behind is dropped', () => {
    const world = worldOf(settlement)
    const entity = effect(world)
    const result = tickAt(world, 0, outcome(entity, 'first'), outcome(entity, 'second'))
    expect(world.read(entity, Outcome)).toEqual(ok('first'))
    expect(result.events).toEqual([{ type: 'input-dropped', kind: 'outcome', effect: entity, reason: 'settled' }])
    expect(told(tickAt(world, 0, outcome(entity, 'third')))).toEqual(['input-dropped'])
    expect(world.read(entity, Outcome)).toEqual(ok('first'))
  })

  it.each([
    ['an earlier', 1],
    ['a later', 3],
  ])('drops what was for %s try', (_, attempt) => {
    const world = worldOf(settlement)
    const entity = effect(world)
    const admitted = { kind: 'admitted', effect: entity, attempt }
    const due = { kind: 'due', effect: entity, attempt }
    const { events } = tickAt(world, 0, outcome(entity, 'done', attempt), admitted, due)
    expect(events.map(({ kind }) => kind)).toEqual(['outcome', 'admitted', 'due'])
    expect(events[0]).toMatchObject({ reason: `at try 2, this was for try ${attempt}` })
    expect(world.has(entity, Pending)).toBe(true)
    expect(world.has(entity, Outcome)).toBe(false)
  })

  it('that is gone takes nothing, and neither does what never was one', () => {
    const world = worldOf(settlement)
    const [gone, other] = [effect(world), world.spawn()]
    world.despawn(gone)
    const { events } = tickAt(world, 0, outcome(gone), { kind: 'admitted', effect: other, attempt: 2 })
    expect(events.map(({ reason }) => reason)).toEqual(['gone', 'gone'])
  })

  it('is running once it is admitted, from then on', () => {
    const world = worldOf(settlement)
    const entity = effect(world, { restart: 'once' })
    tickAt(world, 70, { kind: 'admitted', effect: entity, attempt: 2 })
    expect(world.read(entity, Running)).toEqual({ sinceMs: 70 })
    expect(world.has(entity, Pending)).toBe(false)
  })

  it('is timed out when its time has come, and says which limit it was', () => {
    const world = worldOf(settlement)
    const [slow, late] = [effect(world, { timeoutMs: 50 }), effect(world, { kind: 'model', deadlineMs: 90 })]
    tickAt(world, 90, ...[slow, late].map((entity) => ({ kind: 'due', effect: entity, attempt: 2 })))
    const failures = [slow, late].map((entity) => world.read(entity, Outcome))
    expect(failures).toEqual([
      { ok: false, failure: { kind: 'timed-out', message: 'The tool effect did not end within 50 ms.' } },
      { ok: false, failure: { kind: 'timed-out', message: 'The model effect did not end by its deadline.' } },
    ])
  })

  it('that ends at its deadline has ended: outcomes count before timers', () => {
    const world = worldOf(settlement)
    const entity = effect(world, { timeoutMs: 50 })
    const result = tickAt(world, 50, { kind: 'due', effect: entity, attempt: 2 }, outcome(entity))
    expect(world.read(entity, Outcome)).toEqual(ok('done'))
    expect(told(result)).toEqual(['input-dropped'])
  })

  it('that waits for its next try is left to wait', () => {
    const world = worldOf(settlement)
    const entity = world.spawn(Effect({ kind: 'model', restart: 'pure', attempt: 2 }), Due({ atMs: 90 }))
    const result = tickAt(world, 90, { kind: 'due', effect: entity, attempt: 2 }, outcome(entity))
    expect(world.has(entity, Outcome)).toBe(false)
    expect(result.events).toEqual([{ type: 'input-dropped', kind: 'outcome', effect: entity, reason: 'settled' }])
  })

  it('that waits for its next try is not reached by a deadline of the one before it', () => {
    const world = worldOf(settlement)
    const entity = world.spawn(Effect({ kind: 'model', restart: 'pure', attempt: 2 }), Due({ atMs: 90 }))
    const result = tickAt(world, 80, { kind: 'due', effect: entity, attempt: 1 })
    expect(world.has(entity, Due)).toBe(true)
    expect(result.events).toEqual([
      { type: 'input-dropped', kind: 'due', effect: entity, reason: 'at try 2, this was for try 1' },
    ])
  })

  it('whose outcome is none fails, and the tick does not', () => {
    const world = worldOf(settlement)
    const entity = effect(world)
    const failure = { kind: 'bad-luck', message: 'no such kind' }
    tickAt(world, 0, { kind: 'outcome', effect: entity, attempt: 2, outcome: { ok: false, failure } })
    expect(world.read(entity, Outcome)).toMatchObject({ ok: false, failure: { kind: 'internal' } })
    expect(world.has(entity, Pending)).toBe(false)
  })
})

describe('an approval', () => {
  function asked(world: World, id: string): Entity {
    const entity = effect(world, { kind: 'approval' })
    world.add(entity, Approval({ id, tool: 'send', arguments: {} }))
    return entity
  }

  it('is settled by the answer that names it', () => {
    const world = worldOf(settlement)
    const [first, second] = [asked(world, 'a'), asked(world, 'b')]
    const answers = [
      { kind: 'answer', approval: 'b', approved: false, reason: 'not today' },
      { kind: 'answer', approval: 'a', approved: true },
    ]
    expect(told(tickAt(world, 0, ...answers))).toEqual([])
    expect(world.read(first, Outcome)).toEqual({ ok: true, value: { approved: true } })
    expect(world.read(second, Outcome)).toEqual({ ok: true, value: { approved: false, reason: 'not today' } })
  })

  it('that is answered takes no second answer, and an unknown one none at all', () => {
    const world = worldOf(settlement)
    const entity = asked(world, 'a')
    const answers = ['a', 'a', 'z'].map((approval, index) => ({ kind: 'answer', approval, approved: index === 0 }))
    const { events } = tickAt(world, 0, ...answers)
    expect(world.read(entity, Outcome)).toEqual({ ok: true, value: { approved: true } })
    expect(events.map(({ reason }) => reason)).toEqual(['no open approval a', 'no open approval z'])
  })
})
