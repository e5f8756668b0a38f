import { describe, expect, it } from 'vitest'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import type { System } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, doing, entry, family, Fresh, input, Likes, Person, refusal } from './family.ts'

/** A world with something of everything in it, ticked by these. */
function inhabited(...systems: readonly System[]): World {
  const world = new World({ systems, components: family, seed: 5 })
  world.spawn(Person({ name: 'Ada' }), Diary([entry('a')]))
  world.spawn(Person({ name: 'Bob' }), ChildOf({ parent: 1 }), Likes({ whom: 1 }), Asleep)
  world.spawn(ChildOf({ parent: 2 }), Diary())
  world.newId('x')
  return world
}

/** One write of every kind. */
function writeAll(world: World): void {
  world.random()
  world.newId('person')
  const late = world.spawn(Person({ name: 'Late' }), ChildOf({ parent: 1 }))
  world.patch(1, Person, { age: 3 })
  world.set(3, Person, { name: 'Third' })
  world.append(1, Diary, entry('b'))
  world.splice(1, Diary, 0, 1, [entry('c'), entry('d')])
  world.rewrite(3, Diary, [entry('e')])
  world.remove(1, Fresh)
  world.remove(2, Likes)
  world.remove(2, Asleep)
  world.add(1, Asleep)
  world.set(3, ChildOf, { parent: late })
  world.add(1, Likes({ whom: late }))
  world.despawn(world.spawn())
  world.despawn(2)
}

const tangible = (world: World): unknown => ({
  hash: world.hash(),
  queries: [Person, Diary, Fresh, Asleep, ChildOf, Likes].map((token) => world.query(token)),
  children: world.entities().map((entity) => world.referrers(ChildOf, entity)),
  liked: world.entities().map((entity) => world.referrers(Likes, entity)),
  time: [world.tick, world.nowMs, world.dateMs],
})

describe('a tick', () => {
  it('runs systems by priority, and equal ones in order of registration', () => {
    const order: string[] = []
    const system = (name: string, priority: number): System => doing(() => void order.push(name), name, priority)
    const systems = [system('d', 10), system('b', 0), system('a', -5), system('c', 0)]
    const world = new World({ systems })
    tick(world)
    expect(order).toEqual(['a', 'b', 'c', 'd'])
    expect(world.systems.map(({ name }) => name)).toEqual(order)
    expect(systems[0]?.name).toBe('d')
  })

  it('shows its inputs in order of arrival, and none between ticks', () => {
    const seen: string[][] = []
    const world = new World({ systems: [doing((each) => void seen.push(each.inputs.map(({ kind }) => kind)))] })
    tick(world, [input('one'), input('two')])
    tick(world)
    expect(seen).toEqual([['one', 'two'], []])
    expect(world.inputs).toEqual([])
  })

  it('takes an input as it is when it is given, and only as JSON with a kind', () => {
    const seen: unknown[] = []
    const world = inhabited(doing((each) => seen.push(...each.inputs)))
    const given = { kind: 'letter', lines: ['a'] }
    const { inputs } = tick(world, [given])
    given.lines.push('b')
    expect([seen, inputs]).toEqual([[{ kind: 'letter', lines: ['a'] }], [{ kind: 'letter', lines: ['a'] }]])
    const before = world.hash()
    expect(() => tick(world, [{ kind: 'letter', at: new Date(0) } as never])).toThrow(refusal('not-json', 'at at'))
    expect(() => tick(world, [{ lines: [] } as never])).toThrow(refusal('invalid-input', "a text in 'kind'"))
    expect(() => tick(world, [undefined as never])).toThrow(refusal('not-json'))
    expect(world.hash()).toBe(before)
  })

  it('takes what was posted to a world that nothing drives, once, after what it was called with', () => {
    const seen: string[] = []
    const world = new World({ systems: [doing((each) => void seen.push(...each.inputs.map(({ kind }) => kind)))] })
    world.post(input('posted'))
    const { inputs } = tick(world, [input('given')])
    tick(world)
    expect(seen).toEqual(['given', 'posted'])
    expect(inputs.map(({ kind }) => kind)).toEqual(seen)
  })

  it('lets a system see what the ones before it wrote', () => {
    const world = new World({
      systems: [
        doing((each) => void each.spawn(Asleep), 'first'),
        doing((each) => each.query(Asleep).forEach((entity) => each.add(entity, Person({ name: 'seen' }))), 'second'),
      ],
    })
    tick(world)
    expect(world.read(1, Person).name).toBe('seen')
  })

  it('counts, and moves time on but never back', () => {
    const world = new World()
    tick(world, [], { nowMs: 50 })
    tick(world, [], { nowMs: 20 })
    expect([world.tick, world.nowMs]).toEqual([2, 50])
    tick(world, [input('started', { dateMs: 1_000_000 })], { nowMs: 60 })
    expect([world.nowMs, world.dateMs]).toEqual([60, 1_000_000])
    tick(world, [], { nowMs: 75 })
    expect([world.nowMs, world.dateMs]).toEqual([75, 1_000_015])
  })

  it('gives what was told in it, who wrote what last, and whether work was left', () => {
    const world = inhabited(
      doing((each) => {
        each.emit({ type: 'person-renamed', entity: 1 })
        each.patch(1, Person, { name: 'A' })
        each.requestTick()
      }, 'naming'),
      doing((each) => {
        each.patch(2, Person, { name: 'B' })
        each.append(1, Diary, entry('b'))
      }, 'writing'),
    )
    expect(tick(world)).toMatchObject({
      events: [{ type: 'person-renamed', entity: 1 }],
      writers: { Person: 'writing', Diary: 'writing' },
      again: true,
    })
    world.emit({ type: 'nobody-listens' })
    world.requestTick()
    expect(tick(new World())).toMatchObject({ events: [], writers: {}, again: false })
  })

  it('takes an event as it is when it is told, and only as JSON', () => {
    const told = { type: 'told', list: [1] }
    const world = new World({
      systems: [
        doing((each) => {
          each.emit(told)
          told.list.push(2)
        }),
      ],
    })
    expect(tick(world).events).toEqual([{ type: 'told', list: [1] }])
    const wrong = new World({ systems: [doing((each) => each.emit({ type: 'told', atMs: NaN }))] })
    expect(() => tick(wrong)).toThrow(refusal('system-failed', "event 'told' at atMs", 'NaN'))
  })

  it('that fails leaves everything as it was: entities, values, logs, references, markers, dice, ids, time', () => {
    let isFailing = true
    const world = inhabited(
      doing(writeAll, 'writing'),
      doing(() => {
        if (isFailing) throw new Error('out of ink')
      }, 'printing'),
    )
    const twin = inhabited(doing(writeAll, 'writing'))
    const before = tangible(world)
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(() => tick(world, [input('started', { dateMs: 99 })], { nowMs: 500 })).toThrow(refusal('system-failed'))
      expect(tangible(world)).toEqual(before)
    }
    isFailing = false
    const { delta } = tick(world)
    expect(delta).toEqual(tick(twin).delta)
    expect(tangible(world)).toEqual(tangible(twin))
  })

  it('that fails names system, tick, world and inputs, keeps the cause, and sets its inputs aside', () => {
    const cause = new RangeError('out of ink')
    const world = new World({
      name: 'press',
      systems: [
        doing(() => {
          throw cause
        }, 'printing'),
      ],
    })
    world.post(input('posted'))
    const details = { system: 'printing', tick: 1, inputs: [input('given'), input('posted')] }
    const message = "System 'printing' failed in tick 1 of world 'press' (inputs: given, posted): out of ink"
    expect(() => tick(world, [input('given')])).toThrow(
      expect.objectContaining({
        code: 'system-failed',
        cause,
        details,
        message: expect.stringContaining(message) as string,
      }),
    )
    expect(() => tick(world)).toThrow(refusal('system-failed', 'inputs: none'))
  })

  it.for<[string, unknown, string]>([
    ['a text', 'just a text', 'just a text'],
    ['nothing', undefined, 'undefined'],
    ['an object', { reason: 'odd' }, "reason: 'odd'"],
    ['what has no text', Object.create(null), 'null prototype'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
  ])('that fails with %s still says so and is undone', ([, thrown, text]) => {
    const world = inhabited(
      doing((each) => {
        writeAll(each)
        throw thrown
      }),
    )
    const before = tangible(world)
    expect(() => tick(world)).toThrow(refusal('system-failed', "System 'doing'", text))
    expect(tangible(world)).toEqual(before)
  })

  it.for<[string, (world: World) => unknown]>([
    ['a promise', (world) => Promise.resolve(writeAll(world))],
    ['a promise that rejects', (world) => Promise.reject(new Error(`not heard ${world.tick}`))],
    // eslint-disable-next-line unicorn/no-thenable
    ['what can be awaited', () => ({ then: () => undefined })],
  ])('refuses a system that returns %s', ([, run]) => {
    const world = inhabited(doing(run, 'waiting'))
    const before = tangible(world)
    expect(() => tick(world)).toThrow(refusal('system-failed', "System 'waiting'", 'a promise', 'synchronous'))
    expect(tangible(world)).toEqual(before)
  })

  it('goes on after a write that was refused and caught: nothing of that write is there', () => {
    const world = inhabited(
      doing((each) => {
        const wrong = { name: 7 } as unknown as { name: string }
        const refused = [
          () => each.set(1, Person, wrong),
          () => each.spawn(Asleep, ChildOf({ parent: 99 })),
          () => each.append(1, Diary, entry('x'), wrong as unknown as { text: string }),
          () => each.splice(1, Diary, 5, 0, [entry('x')]),
          () => each.add(99, Asleep),
          () => each.set(1, Likes, { whom: 99 }),
        ]
        for (const write of refused) expect(write).toThrow(expect.objectContaining({ name: 'EntiaError' }))
      }),
    )
    const { delta } = tick(world)
    expect([delta.set, delta.appended, delta.spliced, delta.spawned, delta.despawned]).toEqual(Array(5).fill(undefined))
    expect([world.has(1, Likes), world.query(Asleep)]).toEqual([false, [2]])
  })

  it('is one at a time: a system cannot tick its own world', () => {
    const world = new World({ systems: [doing((each) => void tick(each))] })
    expect(() => tick(world)).toThrow(refusal('system-failed', 'under way'))
    const nested = new World({ systems: [doing(() => void tick(inhabited()))] })
    expect(tick(nested).delta.tick).toBe(1)
  })

  it('takes no posts: a system writes components', () => {
    const world = new World({ systems: [doing((each) => each.post(input('echo')))] })
    expect(() => tick(world)).toThrow(refusal('system-failed', "cannot post 'echo'", 'Write a component'))
    const hasPosted = [...world.snapshot()].some((line) => line.includes('echo'))
    expect(hasPosted).toBe(false)
  })
})

describe('a change from outside', () => {
  it('becomes the first input of its tick, before the systems run', () => {
    const seen: unknown[] = []
    const world = inhabited(
      doing(
        (each) =>
          void seen.push(
            each.inputs.map(({ kind }) => kind),
            each.get(1, Person),
          ),
      ),
    )
    const { inputs } = tick(world, [input('given')], { change: (each) => each.patch(1, Person, { name: 'Changed' }) })
    expect(seen).toEqual([['change', 'given'], { name: 'Changed' }])
    expect(inputs[0]).toMatchObject({ kind: 'change', set: { Person: [[1, { name: 'Changed' }]] } })
  })

  it('made again from its input gives the same tick without the function', () => {
    const [world, twin] = [
      inhabited(doing((each) => void each.random())),
      inhabited(doing((each) => void each.random())),
    ]
    const step = tick(world, [], { change: writeAll, nowMs: 7 })
    const again = tick(twin, step.inputs, { nowMs: 7 })
    expect(JSON.stringify(again.delta)).toBe(JSON.stringify(step.delta))
    expect(tangible(twin)).toEqual(tangible(world))
  })

  it('that throws changes nothing, and what it threw comes out as it is', () => {
    const world = inhabited()
    world.post(input('kept'))
    const before = tangible(world)
    const change = (each: World): void => {
      writeAll(each)
      throw new TypeError('mine')
    }
    expect(() => tick(world, [], { change })).toThrow(new TypeError('mine'))
    expect(tangible(world)).toEqual(before)
    expect(tick(world).inputs).toEqual([input('kept')])
  })
})
