import { describe, expect, it } from 'vitest'
import { Effect, ModelCall, Outcome, OwnedBy, Pending, Running, ToolCall } from '../../components/index.ts'
import { effectsSettleOnce } from '../../src/sim/laws/effects-settle-once.ts'
import { onceRanOnce } from '../../src/sim/laws/once-ran-once.ts'
import { rerunsKnown } from '../../src/sim/laws/reruns-known.ts'
import { writtenAhead } from '../../src/sim/laws/written-ahead.ts'
import type { World } from '../../src/world/world.ts'
import { run, underLaw, watched, worldOf } from './law-under-test.ts'

const tried = (attempt: number, restart: 'pure' | 'once' = 'pure') => Effect({ kind: 'tool', restart, attempt })
const done = Outcome({ ok: true, value: 1 })
const outcome = (effect: number, attempt = 1) =>
  ({ kind: 'outcome', effect, attempt, outcome: { ok: true, value: 1 } }) as const

/** Entity 1 is an effect that is to be done. */
function asks(world: World): void {
  world.spawn(tried(1), Pending)
}

function settles(world: World): void {
  world.remove(1, Pending)
  world.add(1, done)
}

describe('effects-settle-once', () => {
  it('has nothing to say of an effect that is asked for, is settled by its outcome, and goes', () => {
    const law = underLaw(
      effectsSettleOnce,
      worldOf(asks, settles, (world) => world.despawn(1)),
    )
    expect([law.begin(), law.tick(), law.tick(outcome(1)), law.tick()]).toEqual(Array(4).fill(undefined))
  })

  it('is broken by an outcome that is written over', () => {
    const law = underLaw(
      effectsSettleOnce,
      worldOf(asks, settles, (world) => world.add(1, done)),
    )
    law.begin()
    law.tick()
    law.tick()
    expect(law.tick()).toBe('effect 1 had an outcome, and another one was written over it')
  })

  it('is broken by an outcome that is written over after a crash', () => {
    const world = worldOf(asks, settles, (again) => again.add(1, done))
    const law = underLaw(effectsSettleOnce, world)
    law.begin()
    law.tick()
    law.tick()
    law.begin()
    expect(law.tick()).toBe('effect 1 had an outcome, and another one was written over it')
  })

  it('is broken by two outcomes in one tick, of which none was dropped', () => {
    const law = underLaw(effectsSettleOnce, worldOf(asks, settles))
    law.begin()
    law.tick()
    expect(law.tick(outcome(1), outcome(1))).toBe(
      'effect 1 has come to more than one end, and the extra input was not dropped',
    )
  })

  it('is kept if the second one is told to be dropped', () => {
    const drops = (world: World): void => world.emit({ type: 'input-dropped', kind: 'outcome', effect: 1, reason: '' })
    const law = underLaw(
      effectsSettleOnce,
      worldOf(asks, (world) => (settles(world), drops(world))),
    )
    law.begin()
    law.tick()
    expect(law.tick(outcome(1), outcome(1))).toBeUndefined()
  })

  it('is broken by an outcome of an earlier try that counts', () => {
    const law = underLaw(
      effectsSettleOnce,
      worldOf((world) => world.spawn(tried(2), Pending), settles),
    )
    law.begin()
    law.tick()
    expect(law.tick(outcome(1, 1))).toMatch(/^effect 1 has come/)
  })

  it('is broken by an effect that is settled while it is not under way', () => {
    const law = underLaw(
      effectsSettleOnce,
      worldOf((world) => world.spawn(tried(1)), settles),
    )
    law.begin()
    law.tick()
    expect(law.tick()).toBe('effect 1 was settled, and was not under way')
  })

  it('is broken by an effect that is settled and still to be done', () => {
    const law = underLaw(
      effectsSettleOnce,
      worldOf(asks, (world) => world.add(1, done)),
    )
    law.begin()
    law.tick()
    expect(law.tick()).toBe('effect 1 is settled, and still to be done')
  })

  it('is broken by a try that counts backwards', () => {
    const law = underLaw(
      effectsSettleOnce,
      worldOf(
        (world) => world.spawn(tried(2), Pending),
        (world) => world.add(1, tried(1)),
      ),
    )
    law.begin()
    law.tick()
    expect(law.tick()).toBe('effect 1 went back from try 2 to try 1')
  })

  it('is broken by a model call that is answered twice, or goes without an answer', () => {
    const calls = (world: World): void => {
      const agent = world.spawn()
      world.spawn(tried(1), Pending, ModelCall({ messages: 0 }), OwnedBy({ agent }))
    }
    const replies = (world: World): void => world.emit({ type: 'model-replied', agent: 1, effect: 2 })
    const twice = underLaw(effectsSettleOnce, worldOf(calls, replies, replies))
    twice.begin()
    expect([twice.tick(), twice.tick()]).toEqual([undefined, undefined])
    expect(twice.tick()).toBe('model call 2 was answered twice')
    const never = underLaw(
      effectsSettleOnce,
      worldOf(calls, (world) => world.despawn(2)),
    )
    never.begin()
    never.tick()
    expect(never.tick()).toBe('model call 2 is gone, and it has no outcome')
  })

  it('is broken by an approval that is decided twice', () => {
    const decides = (world: World): void => world.emit({ type: 'approval-answered', agent: 1, approval: 'a' })
    const law = underLaw(effectsSettleOnce, worldOf(decides, decides))
    law.begin()
    law.tick()
    expect(law.tick()).toBe('approval a was decided twice')
  })
})

describe('written-ahead', () => {
  const call = { kind: 'tool', name: 'send', attempt: 1, effect: 1, label: 'team' } as const

  it('is kept by what a committed tick has asked for', () => {
    const world = worldOf(asks)
    const law = underLaw(writtenAhead, world)
    law.begin()
    law.tick()
    expect(law.watch.called?.({ ...call, world, restart: 'pure' })).toBeUndefined()
  })

  it('is broken by what begins before that', () => {
    const world = worldOf()
    const law = underLaw(writtenAhead, world)
    law.begin()
    asks(world)
    expect(law.watch.called?.({ ...call, world, restart: 'pure' })).toBe(
      "'send' begins for effect 1 of team, try 1, and no committed tick has asked for it",
    )
  })

  it('is broken by another try than the one that was asked for, and by one that is not to be made', () => {
    const world = worldOf(asks, (driven) => driven.remove(1, Pending))
    const law = underLaw(writtenAhead, world)
    law.begin()
    law.tick()
    expect(law.watch.called?.({ ...call, attempt: 2, world, restart: 'pure' })).toMatch(/as committed it is at try 1$/)
    law.tick()
    expect(law.watch.called?.({ ...call, world, restart: 'pure' })).toMatch(/as committed it is not to be done$/)
  })

  it("wants a 'once' effect to be marked as running", () => {
    const world = worldOf(
      (driven) => driven.spawn(tried(1, 'once'), Pending),
      (driven) => driven.add(1, Running({ sinceMs: 0 })),
    )
    const law = underLaw(writtenAhead, world)
    law.begin()
    law.tick()
    expect(law.watch.called?.({ ...call, world, restart: 'once' })).toMatch(/not marked as running/)
    law.tick()
    expect(law.watch.called?.({ ...call, world, restart: 'once' })).toBeUndefined()
  })
})

describe('written-ahead, where a process makes a call of a world that was taken from it', () => {
  const late = { kind: 'tool', name: 'send', attempt: 1, effect: 1, label: 'world', process: 'p2' } as const

  function told(...steps: readonly ((world: World) => unknown)[]) {
    const world = worldOf(...steps)
    const law = underLaw(writtenAhead, world, { ...run(), processes: 3 })
    law.begin()
    for (const _ of steps) law.tick()
    return { watch: law.watch, world }
  }

  it('is kept by what the process had committed, whatever it wants to commit besides', () => {
    const { watch, world } = told(asks, () => undefined)
    expect(watch.calledLate?.({ ...late, world, committedTick: 1, restart: 'pure' })).toBeUndefined()
  })

  it('is broken by what only a later tick asks for, and by what none does', () => {
    const { watch, world } = told(() => undefined, asks)
    const early = watch.calledLate?.({ ...late, world, committedTick: 1, restart: 'pure' })
    expect(early).toBe("'send' begins for effect 1 of world in p2, by tick 2, and it could commit only 1")
    const other = watch.calledLate?.({ ...late, attempt: 2, world, committedTick: 2, restart: 'pure' })
    expect(other).toMatch('by no tick')
  })

  it("wants a 'once' effect to be marked in a tick of its own", () => {
    const { watch, world } = told(
      (driven) => driven.spawn(tried(1, 'once'), Pending),
      (driven) => driven.add(1, Running({ sinceMs: 0 })),
    )
    expect(watch.calledLate?.({ ...late, world, committedTick: 1, restart: 'once' })).toMatch('by tick 2')
    expect(watch.calledLate?.({ ...late, world, committedTick: 2, restart: 'once' })).toBeUndefined()
  })
})

describe('once-ran-once', () => {
  const world = worldOf()
  const call = { kind: 'tool', name: 'send', attempt: 1, effect: 7, label: 'team', world } as const

  it("is broken by a 'once' tool that is called again, even after a crash", () => {
    const { watch } = underLaw(onceRanOnce, world)
    expect(watch.called?.({ ...call, restart: 'once' })).toBeUndefined()
    watch.crashed?.()
    watch.began?.(watched(world))
    expect(watch.called?.({ ...call, restart: 'once' })).toBe("'send' runs a second time for effect 7 of team")
  })

  it('lets others run again', () => {
    const { watch } = underLaw(onceRanOnce, world)
    for (let time = 0; time < 2; time++) expect(watch.called?.({ ...call, restart: 'keyed' })).toBeUndefined()
  })
})

describe('reruns-known', () => {
  const ask = (world: World): void => {
    const lead = world.spawn()
    world.spawn(ToolCall({ arguments: {}, callId: 'a', name: 'store' }), OwnedBy({ agent: lead }))
  }
  const answer = (text: string, isError: boolean) => (world: World) =>
    world.emit({ type: 'tool-answered', agent: 1, callId: 'a', isError, result: [{ type: 'text', text }] })

  /** A call that has begun before a crash. */
  function crashedOnce(...steps: readonly ((world: World) => unknown)[]) {
    const world = worldOf(ask, ...steps)
    const law = underLaw(rerunsKnown, world)
    law.begin()
    law.tick()
    const call = { kind: 'tool', name: 'store', restart: 'keyed', effect: 2, label: 'team', world } as const
    expect(law.watch.called?.({ ...call, attempt: 1 })).toBeUndefined()
    law.watch.crashed?.()
    law.begin()
    return { ...law, again: (attempt: number) => law.watch.called?.({ ...call, attempt }) }
  }

  it('is broken by a handler that is called again without a word', () => {
    expect(crashedOnce().again(1)).toBe(`'store' runs again for effect 2 of team, and gets attempt 1`)
  })

  it('is broken by a failure that says nothing of the run before it', () => {
    const law = crashedOnce(answer('Error: boom', true))
    expect(law.again(2)).toBeUndefined()
    expect(law.tick()).toContain('the model does not read that it may have happened')
  })

  it.each([
    ['a failure that says it', 'Error: boom [it may have happened]', true],
    ['a result', 'put away', false],
  ])('has nothing to say of %s', (_, text, isError) => {
    const law = crashedOnce(answer(text, isError))
    expect(law.again(2)).toBeUndefined()
    expect(law.tick()).toBeUndefined()
  })
})
