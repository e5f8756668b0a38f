import { describe, expect, it } from 'vitest'
import { Due, Effect, Llm, ModelCall, Outcome, OwnedBy, Pending, SideCall } from '../../components/index.ts'
import { standardRetry } from '../../src/protocol/failure.ts'
import { inputsTakenOnce } from '../../src/sim/laws/inputs-taken-once.ts'
import { triesCounted } from '../../src/sim/laws/tries-counted.ts'
import type { Input } from '../../src/world/input.ts'
import type { World } from '../../src/world/world.ts'
import { underLaw, watched, watchedTick, worldOf } from './law-under-test.ts'

const overloaded = (effect: number, attempt: number, kind = 'overloaded'): Input => ({
  kind: 'outcome',
  effect,
  attempt,
  outcome: { ok: false, failure: { kind, message: 'Too much.' } },
})

/** Entity 1 is an agent, and entity 2 a call of its model. */
function calls(retry: Parameters<typeof Llm>[0]['retry']): (world: World) => void {
  return (world) => {
    const agent = world.spawn(Llm({ model: 'm/x', ...(retry !== undefined && { retry }) }))
    const effect = Effect({ attempt: 1, kind: 'model', restart: 'pure' })
    world.spawn(ModelCall({ messages: 1 }), OwnedBy({ agent }), effect, Pending)
  }
}

function waitsForTry(attempt: number): (world: World) => void {
  return (world) => {
    world.remove(2, Pending)
    world.patch(2, Effect, { attempt })
    world.add(2, Due({ atMs: 10 }))
  }
}

function begins(world: World): void {
  world.remove(2, Due)
  world.add(2, Pending)
}

const policy = { ...standardRetry, maxAttempts: 2 }

describe('tries-counted', () => {
  it('has nothing to say of a call that is tried again as its policy says, and is given up', () => {
    const gives = (world: World): void => (world.remove(2, Pending), world.add(2, Outcome({ ok: true, value: 1 })))
    const law = underLaw(
      triesCounted,
      worldOf(calls(policy), waitsForTry(2), begins, gives, (world) => world.despawn(2)),
    )
    const said = [
      law.begin(),
      law.tick(),
      law.tick(overloaded(2, 1)),
      law.tick(),
      law.tick(overloaded(2, 2)),
      law.tick(),
    ]
    expect(said).toEqual(Array(6).fill(undefined))
  })

  it('is broken by another try under the same number', () => {
    const law = underLaw(triesCounted, worldOf(calls(policy), waitsForTry(1), begins))
    law.begin()
    law.tick()
    law.tick(overloaded(2, 1))
    expect(law.tick()).toBe('the model effect 2 begins again, and is at try 1 still')
  })

  it('is broken by a number that is left out', () => {
    const law = underLaw(triesCounted, worldOf(calls(undefined), waitsForTry(7)))
    law.begin()
    law.tick()
    expect(law.tick(overloaded(2, 1))).toBe('the model effect 2 goes from try 1 to try 7')
  })

  it.for([
    ['by its own policy', policy, 'model call 2 is at try 3, and may have 2'],
    ['by the policy to try it once', false as const, 'model call 2 is tried again, and its policy is to try it once'],
    ['by the standard policy', undefined, 'model call 2 is at try 4, and may have 3'],
  ] as const)('is broken by a try too many: %s', ([, retry, message]) => {
    const tries = retry === false ? [2] : retry === undefined ? [2, 3, 4] : [2, 3]
    const law = underLaw(
      triesCounted,
      worldOf(calls(retry), ...tries.flatMap((attempt) => [waitsForTry(attempt), begins])),
    )
    law.begin()
    law.tick()
    const said = tries.map((attempt) => {
      const finding = law.tick(overloaded(2, attempt - 1))
      return finding ?? law.tick()
    })
    expect(said.at(-1)).toBe(message)
    expect(said.slice(0, -1).every((finding) => finding === undefined)).toBe(true)
  })

  it('is broken by a try that follows on a failure which the policy does not name', () => {
    const law = underLaw(triesCounted, worldOf(calls(policy), waitsForTry(2)))
    law.begin()
    law.tick()
    expect(law.tick(overloaded(2, 1, 'refused'))).toBe('model call 2 is tried again for nothing that its policy names')
  })

  it.for(['outcome', 'due'] as const)('is broken by an %s of an earlier try that is not dropped', (kind) => {
    const law = underLaw(
      triesCounted,
      worldOf(calls(policy), waitsForTry(2), begins, () => undefined),
    )
    law.begin()
    law.tick()
    law.tick(overloaded(2, 1))
    expect(law.tick({ ...overloaded(2, 1), kind })).toBe('the input for an earlier try of effect 2 was not dropped')
  })

  it('is kept if that is told to be dropped', () => {
    const drops = (world: World): void => world.emit({ type: 'input-dropped', kind: 'outcome', effect: 2, reason: '' })
    const law = underLaw(triesCounted, worldOf(calls(policy), waitsForTry(2), begins, drops))
    law.begin()
    law.tick()
    law.tick(overloaded(2, 1))
    law.tick()
    expect(law.tick(overloaded(2, 1))).toBeUndefined()
  })

  it('counts a question that was made shorter for no try', () => {
    const asks = (world: World): void => {
      const agent = world.spawn(Llm({ model: 'm/x', retry: false }))
      const side = { agent, ask: '', fromSeq: 0, maxOutputTokens: 1, model: 'm/x', system: '', toSeq: 1 }
      const effect = Effect({ attempt: 1, kind: 'model', restart: 'pure' })
      world.spawn(SideCall({ ...side, purpose: 'compaction' }), effect, Pending)
    }
    const shorter = (world: World): void => {
      world.patch(2, SideCall, { maxChars: 10 })
      waitsForTry(2)(world)
    }
    const law = underLaw(triesCounted, worldOf(asks, shorter))
    law.begin()
    law.tick()
    expect(law.tick(overloaded(2, 1, 'context-overflow'))).toBeUndefined()
  })

  it('is broken by work that begins twice for a try, unless a crash lies between', () => {
    const world = worldOf(calls(policy))
    const law = underLaw(triesCounted, world)
    const call = { ...watched(world), effect: 2, kind: 'model', name: 'm', restart: 'pure' } as const
    law.begin()
    law.tick()
    expect(law.watch.called?.({ ...call, attempt: 1 })).toBeUndefined()
    expect(law.watch.called?.({ ...call, attempt: 1 })).toBe(
      "'m' begins for effect 2, try 1, and try 1 has begun before",
    )
    law.begin()
    expect(law.watch.called?.({ ...call, attempt: 1 })).toBeUndefined()
  })

  it('knows after a crash at which try an effect is', () => {
    const law = underLaw(
      triesCounted,
      worldOf(calls(policy), waitsForTry(2), begins, (world) => world.emit({ type: 'x' })),
    )
    law.begin()
    law.tick()
    law.tick(overloaded(2, 1))
    law.tick()
    law.begin()
    expect(law.tick(overloaded(2, 1))).toBe('the input for an earlier try of effect 2 was not dropped')
  })
})

describe('inputs-taken-once', () => {
  const letter: Input = { kind: 'message', id: 'letter 1' }

  it('has nothing to say of inputs without an id, or with ids of their own', () => {
    const law = underLaw(inputsTakenOnce, worldOf())
    law.begin()
    const said = [
      law.tick(letter),
      law.tick({ kind: 'message' }, { kind: 'message' }),
      law.tick({ ...letter, id: 'letter 2' }),
    ]
    expect(said).toEqual([undefined, undefined, undefined])
  })

  it('is broken by an id that comes twice, in one tick or in two, over a crash too', () => {
    const inOne = underLaw(inputsTakenOnce, worldOf())
    inOne.begin()
    expect(inOne.tick(letter, letter)).toBe("the message input 'letter 1' is taken a second time")
    const overCrash = underLaw(inputsTakenOnce, worldOf())
    overCrash.begin()
    overCrash.tick(letter)
    overCrash.begin()
    expect(overCrash.tick(letter)).toBe("the message input 'letter 1' is taken a second time")
  })

  it('lets an id come again in a world that begins anew', () => {
    const law = underLaw(inputsTakenOnce, worldOf())
    law.begin()
    law.tick(letter)
    const anew = worldOf()
    law.begin(anew)
    const step = { again: false, delta: { tick: 1 }, events: [], inputs: [letter] }
    expect(law.watch.ticked?.(watchedTick(watched(anew), step as never))).toBeUndefined()
  })
})
