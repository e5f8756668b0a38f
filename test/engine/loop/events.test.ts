import { memoryStore, Runner, type RunnerEvent, standardSystems, type System, VirtualClock, World } from 'entia'
import { describe, expect, it, vi } from 'vitest'
import { behaving, calling, driven, reopened, settled, turns, worldWith } from '../../behaviour/turns/driving.ts'
import { wait } from '../../behaviour/turns/tools.ts'
import { watchedStore } from '../../behaviour/stores/watched-store.ts'

declare module 'entia' {
  interface OwnEvents {
    greeted: { readonly times: number }
  }
}

const model = () => behaving(calling({ name: 'wait', arguments: { n: 1 } }))

describe('the events of a tick', () => {
  it('carry world, tick and index, in order and without a gap', async () => {
    const { world } = worldWith({ tools: [wait] }, 'office')
    const { events } = await settled(world, { models: model().models, tools: [wait] })
    const placed = events.filter((event) => 'tick' in event && 'index' in event)
    expect(placed.length).toBeGreaterThan(5)
    const byTick = Map.groupBy(placed, (event) => event['tick' as never] as number)
    for (const [, told] of byTick) expect(told.map((event) => event['index' as never])).toEqual([...told.keys()])
    expect([...byTick.keys()]).toEqual([...byTick.keys()].toSorted((a, b) => a - b))
    expect(placed.every(({ world }) => world === 'office')).toBe(true)
  })

  it('are told after the commit, and to those who listen to all besides', async () => {
    const order: string[] = []
    const store = watchedStore(memoryStore(), {
      after: (ticks) => ticks.forEach(({ tick }) => order.push(`commit ${tick}`)),
    })
    const { world } = worldWith()
    const { runner } = driven(world, { models: behaving(() => 'Hi').models, store })
    runner.on('turn-started', ({ tick }) => order.push(`started ${tick}`))
    runner.on('turn-ended', ({ tick }) => order.push(`ended ${tick}`))
    runner.on('*', (event) => event.type.startsWith('turn') && order.push('any'))
    await runner.start()
    await runner.idle()
    expect(order).toEqual(['commit 1', 'started 1', 'any', 'commit 2', 'ended 2', 'any'])
  })

  it('of the newest one are told again after a restart, at the same place', async () => {
    const store = memoryStore()
    const { world } = worldWith()
    const first = driven(world, { models: behaving(() => 'Hi').models, store })
    await first.runner.start()
    await first.runner.idle()
    await first.runner.stop()
    const second = await reopened(store, { models: behaving(() => 'Hi').models })
    await second.runner.start()
    await second.runner.idle()
    const last = (events: readonly RunnerEvent[]) => events.filter((event) => event['tick' as never] === 2)
    expect(last(second.events)).toEqual(last(first.events).map((event) => JSON.parse(JSON.stringify(event)) as unknown))
    expect(last(second.events).map(({ type }) => type)).toEqual(['model-replied', 'turn-ended'])
    expect(second.events).toHaveLength(2)
  })

  it('that were dropped inputs are not counted a second time when they are told again', async () => {
    const store = memoryStore()
    const { world } = worldWith({ messages: [] })
    const { models } = behaving(() => 'Hi')
    const first = driven(world, { models, store })
    await first.runner.start()
    await first.runner.post({ kind: 'answer', approval: 'none', approved: true })
    expect(first.runner.stats.dropped).toBe(1)
    await first.runner.stop()
    const second = await reopened(store, { models })
    await second.runner.start()
    await second.runner.idle()
    expect(second.told('input-dropped')).toHaveLength(1)
    expect(second.runner.stats.dropped).toBe(0)
  })

  it('of a program’s own systems are told like any other', async () => {
    const greeting: System = {
      name: 'greeting',
      events: ['greeted'],
      priority: 50,
      run: (world) => world.emit({ type: 'greeted', times: world.tick }),
    }
    const world = new World({ systems: [...standardSystems(), greeting] })
    const { runner } = driven(world)
    const heard: unknown[] = []
    runner.on('greeted', (event) => heard.push(event))
    await runner.start()
    await runner.idle()
    const place = { world: 'world', tick: 1, index: 0, nowMs: 0, dateMs: 0 }
    expect(heard).toEqual([{ type: 'greeted', times: 1, ...place }])
  })
})

describe('a listener', () => {
  it('for events that nothing emits is refused, with the names that are near', () => {
    const { runner } = driven(worldWith().world)
    const listen = (type: string) => () => runner.on(type as '*', () => undefined)
    expect(listen('turn-end')).toThrow(/no event 'turn-end'. Did you mean 'turn-ended'.*events: \['turn-end'\]/)
    expect(listen('greeted')).toThrow('events: ')
    expect(listen('constructor')).toThrow('no event')
    for (const type of ['*', 'turn-ended', 'model-delta']) expect(listen(type)).not.toThrow()
    // @ts-expect-error the compiler knows the names
    expect(() => runner.on('turn-end', () => undefined)).toThrow('Did you mean')
  })

  it('hears no more once it has said so, and twice the same one hears once', async () => {
    const { world, agent } = worldWith()
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    const heard: string[] = []
    const listener = () => heard.push('once')
    runner.on('turn-ended', listener)
    runner.on('turn-ended', listener)
    const stop = runner.on('turn-ended', () => heard.push('other'))
    await runner.start()
    await runner.idle()
    stop()
    await runner.message(agent, 'Again')
    await runner.idle()
    expect(heard).toEqual(['once', 'other', 'once'])
  })

  it.each<[string, () => unknown, string]>([
    [
      'throws an error',
      () => {
        throw new Error('deaf')
      },
      'deaf',
    ],
    [
      'throws a text',
      () => {
        throw 'deaf' as unknown
      },
      'deaf',
    ],
    [
      'throws what cannot be read',
      () => {
        throw Object.create(null) as unknown
      },
      '[Object: null prototype] {} was thrown',
    ],
    ['rejects', async () => Promise.reject(new Error('deaf')), 'deaf'],
  ])('that %s is told of to the others and changes nothing', async (_, listener, message) => {
    const { world, agent } = worldWith()
    const { runner, told } = driven(world, { models: behaving(() => 'Hi').models })
    runner.on('turn-ended', listener)
    const heard: unknown[] = []
    runner.on('turn-ended', (event) => heard.push(event))
    await runner.start()
    await runner.idle()
    await turns()
    expect(heard).toHaveLength(1)
    expect(told('listener-failed')).toMatchObject([
      { type: 'listener-failed', world: 'world', event: 'turn-ended', message },
    ])
    await runner.message(agent, 'Still there?')
    await runner.idle()
    expect(told('turn-ended')).toHaveLength(2)
  })

  it('that throws whatever it hears, its own failures too, does not go on forever', async () => {
    const { world } = worldWith()
    const { runner, told } = driven(world, { models: behaving(() => 'Hi', { stream: false }).models })
    runner.on('*', () => {
      throw new Error('I cannot bear it')
    })
    await runner.start()
    await runner.idle()
    const others = told('listener-failed').map(({ event }) => event)
    expect(others).toEqual(['turn-started', 'model-called', 'model-replied', 'turn-ended'])
  })

  it('that throws where nobody hears of it becomes a warning of the process', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    const { world } = worldWith()
    const runner = new Runner(world, { models: behaving(() => 'Hi').models, clock: new VirtualClock() })
    runner.on('turn-ended', () => {
      throw new Error('deaf')
    })
    await runner.start()
    await runner.idle()
    await runner.stop()
    expect(warn.mock.calls).toEqual([["A listener for 'turn-ended' of world 'world' failed: deaf", 'EntiaWarning']])
    warn.mockRestore()
  })

  it('may post, change and stop', async () => {
    const { world, agent } = worldWith()
    const { runner, told } = driven(world, { models: behaving(({ messages }) => `${messages.length}`).models })
    let turnsLeft = 2
    runner.on('turn-ended', () => {
      if (turnsLeft-- > 0) void runner.message(agent, 'More')
      else void runner.stop()
    })
    await runner.start()
    await runner.idle()
    expect(told('turn-ended')).toHaveLength(3)
  })
})
