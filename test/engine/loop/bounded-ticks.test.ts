import { Runner, standardSystems, type System, World } from 'entia'
import { describe, expect, it } from 'vitest'
import { addAgent, behaving, driven, emptyWorld, settled } from '../../behaviour/turns/driving.ts'

declare module 'entia' {
  interface OwnInputs {
    news: { readonly n?: number }
  }
}

/** Counts, for each tick, the inputs of a kind. */
function counting(kind: 'news') {
  const counts: number[] = []
  const system: System = {
    name: 'counting',
    inputs: [kind],
    priority: 0,
    run: ({ inputs }) => void counts.push(inputs.filter((input) => input.kind === kind).length),
  }
  return { counts, system }
}

describe('a tick', () => {
  it('takes so many inputs; the others come in with the next, in order', async () => {
    const { counts, system } = counting('news')
    const seen: unknown[] = []
    const world = new World({
      systems: [
        system,
        { name: 'reading', priority: 1, run: ({ inputs }) => void seen.push(...inputs.map(({ n }) => n)) },
      ],
    })
    const { runner } = driven(world, { maxInputsPerTick: 10 })
    await runner.start()
    await Promise.all(Array.from({ length: 35 }, (_, n) => runner.post({ kind: 'news', n })))
    expect(counts).toEqual([9, 10, 10, 6])
    expect(seen.filter((n) => n !== undefined)).toEqual([...Array(35).keys()])
  })

  it('takes 256 where nobody has said otherwise', async () => {
    const { counts, system } = counting('news')
    const { runner } = driven(new World({ systems: [system] }))
    await runner.start()
    await runner.idle()
    await Promise.all(Array.from({ length: 600 }, () => runner.post({ kind: 'news' })))
    expect(counts).toEqual([0, 256, 256, 88])
  })

  it('starts so many model calls and tools; the others start with the next', async () => {
    const world = new World({ systems: standardSystems({ maxStartsPerTick: 4 }) })
    const agents = Array.from({ length: 10 }, () => addAgent(world))
    const { told } = await settled(world, { models: behaving(() => 'Hi').models })
    const perTick = Map.groupBy(told('model-called'), ({ tick }) => tick)
    expect([...perTick.values()].map((calls) => calls.length)).toEqual([4, 4, 2])
    expect(told('turn-ended')).toHaveLength(agents.length)
  })

  it('lets the event loop turn between it and the next', async () => {
    const order: string[] = []
    const busy: System = {
      name: 'busy',
      priority: 0,
      run: (world) => {
        order.push(`tick ${world.tick}`)
        if (world.tick < 4) world.requestTick()
      },
    }
    const { runner } = driven(new World({ systems: [busy] }))
    await runner.start()
    const turning = (async () => {
      for (let turn = 1; turn <= 3; turn++) {
        await new Promise((resolve) => setImmediate(resolve))
        order.push(`turn ${turn}`)
      }
    })()
    await Promise.all([runner.idle(), turning])
    expect(order.indexOf('turn 1')).toBeLessThan(order.indexOf('tick 3'))
    expect(order.filter((what) => what.startsWith('tick'))).toEqual(['tick 1', 'tick 2', 'tick 3', 'tick 4'])
  })

  it.each([[0], [-1], [2.5], [Number.NaN], [Number.POSITIVE_INFINITY]])('cannot take %s inputs', (maxInputsPerTick) => {
    expect(() => new Runner(emptyWorld(), { maxInputsPerTick })).toThrow(
      /maxInputsPerTick must be an integer ≥ 1, got /,
    )
  })
})
