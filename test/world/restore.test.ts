import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Delta } from '../../src/world/changes.ts'
import { type Component, defineComponent, defineLog, defineTag } from '../../src/world/component.ts'
import type { EntiaErrorCode } from '../../src/base/entia-error.ts'
import { snapshotFormat } from '../../src/world/snapshot.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { Asleep, ChildOf, Diary, doing, entry, family, input, Likes, Person, refusal } from './family.ts'

function saved(): string[] {
  const world = new World({ name: 'town', components: family })
  world.spawn(Person({ name: 'Ada' }), Diary([entry('a'), entry('b')]))
  world.spawn(ChildOf({ parent: 1 }), Likes({ whom: 1 }), Asleep)
  world.post(input('hello'))
  return [...world.snapshot()]
}

/** A snapshot of these lines whose end is right: what somebody who knows the form could write. */
function sealed(lines: readonly string[]): string[] {
  const sha256 = createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
  return [...lines, JSON.stringify({ end: { lines: lines.length, sha256 } })]
}

/** `saved()`, one text in it replaced by another, with a right end. */
function forged(text: string, other: string): string[] {
  return sealed(
    saved()
      .slice(0, -1)
      .map((line) => line.replace(text, other)),
  )
}

function restore(lines: Iterable<string>): World {
  return World.restore(lines, { components: family })
}

describe('a restored world', () => {
  it('is the one that was saved: name, seed, time, entities, values and what was posted', () => {
    const world = new World({
      name: 'town',
      seed: 9,
      components: family,
      systems: [doing((each) => void each.random())],
    })
    world.spawn(Person({ name: 'Ada' }))
    tick(world, [input('started', { dateMs: 5_000 })], { nowMs: 100 })
    world.post(input('hello'))
    const again = restore(world.snapshot())
    expect([again.name, again.seed, again.tick, again.nowMs, again.dateMs]).toEqual(['town', 9, 1, 100, 5_000])
    expect([again.read(1, Person), again.spawn()]).toEqual([{ name: 'Ada' }, 2])
    expect(tick(again).inputs).toEqual([{ kind: 'hello' }])
  })

  it('can be had as often as wanted: each is a fork of its own', () => {
    const lines = saved()
    const [one, other] = [restore(lines), restore(lines)]
    one.patch(1, Person, { age: 1 })
    one.append(1, Diary, entry('c'))
    expect(other.read(1, Person)).toEqual({ name: 'Ada' })
    expect(other.read(1, Diary)).toHaveLength(2)
    expect([...other.snapshot()]).toEqual(lines)
  })

  it('takes its components as a list or as a module of them, other exports included', () => {
    const module = {
      ...Object.fromEntries(family.map((token) => [token.name, token])),
      version: 1,
      helper: () => 1,
      none: null,
    }
    expect(World.restore(saved(), { components: module }).hash()).toBe(restore(saved()).hash())
  })

  it('reads lines from whatever gives them, blank ones left out', () => {
    const hash = restore(saved()).hash()
    expect(restore(new Set(saved())).hash()).toBe(hash)
    expect(restore(`${saved().join('\n\n')}\n`.split('\n')).hash()).toBe(hash)
  })

  it('knows of no queries but those that are asked: it costs no more than the one that went on living', () => {
    const world = restore(saved())
    expect(world.query(Diary)).toEqual([1])
    world.remove(1, Diary)
    expect(world.query(Diary)).toEqual([])
  })

  it('took in with the ticks since what had been posted before the snapshot', () => {
    const world = new World({ systems: [doing((each) => each.inputs.forEach(() => each.spawn()))], components: family })
    for (let count = 0; count < 3; count++) world.post(input('hello'))
    const [lines, { delta }] = [[...world.snapshot()], tick(world)]
    const again = World.restore(lines, { systems: world.systems, components: family, deltas: [delta] })
    expect(again.hash()).toBe(world.hash())
    expect([tick(again).inputs, again.entities()]).toEqual([[], [1, 2, 3]])
  })

  it('has a value as deep as any can be', () => {
    let deep: unknown = 1
    for (let level = 0; level < 254; level++) deep = [deep]
    const world = new World({ systems: [doing((each) => each.set(1, Person, { name: 'Ada', about: { deep } }))] })
    world.spawn(Person({ name: 'Ada' }))
    const [lines, { delta }] = [[...world.snapshot()], tick(world)]
    expect(restore(world.snapshot()).hash()).toBe(world.hash())
    expect(World.restore(lines, { components: family, deltas: [delta] }).hash()).toBe(world.hash())
  })
})

describe('a snapshot', () => {
  it.for<[string, (lines: string[]) => Iterable<string>, ...string[]]>([
    ['is empty', () => [], 'it is empty'],
    ['holds nothing but its end', (lines) => lines.slice(-1), 'it is empty'],
    ['has lost its end', (lines) => lines.slice(0, -1), 'cut off', 'after 3 lines'],
    ['is cut off after its head', (lines) => lines.slice(0, 1), 'cut off', 'after 1 lines'],
    ['is cut off within a line', (lines) => [...lines.slice(0, 1), lines[1]?.slice(0, 20) ?? ''], 'line 2', 'not JSON'],
    ['has lost a line', (lines) => lines.toSpliced(1, 1), 'it has 2 lines', '3'],
    ['has a line twice', (lines) => lines.toSpliced(1, 0, lines[1] ?? ''), 'it has 4 lines', '3'],
    ['has lines in another order', ([a = '', b = '', c = '', d = '']) => [a, c, b, d], 'checksum', 'edited'],
    ['has another value', (lines) => lines.map((line) => line.replace('Ada', 'Eve')), 'checksum', 'edited'],
    ['has a number that is none', (lines) => lines.map((line) => line.replace('"Ada"', '1e999')), 'edited'],
    ['has another name in its head', (lines) => lines.map((line) => line.replace('town', 'city')), 'edited'],
    ['has another end', (lines) => lines.map((line) => line.replace('"sha256":"', '"sha256":"0')), 'edited'],
    ['has an end of nothing', (lines) => [...lines.slice(0, -1), '{"end":null}'], 'it has 3 lines'],
    ['goes on behind its end', (lines) => [...lines, lines[1] ?? ''], 'behind the end'],
    ['is another file', () => ['# Notes', 'nothing here'], 'line 1', 'not JSON'],
    ['is other JSON', () => ['{"name":"entia"}'], 'line 1', "no field 'entia'"],
    ['is a list', () => ['[1,2]', '3'], 'line 1', "no field 'entia'"],
    ['holds a number for a line', ([head = '', ...lines]) => [head, '7', ...lines], 'line 2', 'not a JSON object'],
  ])('that %s is refused, with where and what to do', ([, harm, ...parts]) => {
    expect(() => restore(harm(saved()))).toThrow(refusal('corrupt-snapshot', ...parts, 'use another copy'))
  })

  it('with any one character another is refused', () => {
    const text = saved().join('\n')
    for (let index = 0; index < text.length; index += 3) {
      const other = text[index] === '0' ? '1' : '0'
      const edited = `${text.slice(0, index)}${other}${text.slice(index + 1)}`
      expect(() => restore(edited.split('\n'))).toThrow(expect.objectContaining({ name: 'EntiaError' }))
    }
  })

  it('of a newer form is refused before anything else of it is read', () => {
    const lines = [`{"entia":${snapshotFormat + 1},"name":"town"}`, 'what that form has']
    expect(() => restore(lines)).toThrow(refusal('newer-version', `format ${snapshotFormat + 1}`, 'Update entia'))
  })

  it('with a component that is not known here is refused by its name', () => {
    const without = family.filter((token) => token !== Likes)
    expect(() => World.restore(saved(), { components: without })).toThrow(
      refusal('unknown-component', "world 'town'", "'Likes'", "'components'"),
    )
    expect(() => World.restore(saved())).toThrow(refusal('unknown-component', "'Asleep'"))
  })

  it.for<[text: string, other: string, EntiaErrorCode, ...string[]]>([
    ['{"name":"Ada"}', '{"name":7}', 'invalid-value', 'entity 1, component Person', 'at name', 'expected string'],
    ['{"name":"Ada"}', '{"name":"Ada","shoe":1}', 'invalid-value', 'entity 1, component Person', 'shoe'],
    ['{"text":"a"}', '{}', 'invalid-value', 'entity 1, component Diary', 'at text'],
    ['{"text":"b"}', '{"text":null}', 'invalid-value', 'entity 1, component Diary', 'at text'],
    ['{"parent":1}', '{"parent":9}', 'unknown-entity', 'entity 2, component ChildOf at parent', 'entity 9'],
    ['{"whom":1}', '{}', 'invalid-value', 'entity 2, component Likes', 'at whom'],
    ['"Asleep":true', '"Asleep":"yes"', 'corrupt-snapshot', 'line 3', "'Asleep' is a tag"],
    ['"Asleep":true', '"Awake":true', 'unknown-component', "'Awake'", "'town'"],
  ])('with a right end and a wrong content is refused: %s for %s', ([text, other, code, ...parts]) => {
    expect(() => restore(forged(text, other))).toThrow(refusal(code, ...parts))
  })

  it.for<[text: string, other: string, ...string[]]>([
    ['"entity":2', '"entity":"2"', 'line 3', 'at entity', 'expected number'],
    ['"entity":2', '"entity":null', 'line 3', 'at entity'],
    ['"entity":2', '"entity":-1', 'line 3', 'at entity'],
    ['"entity":2', '"entity":1.5', 'line 3', 'at entity'],
    ['"entity":2', '"entity":1e300', 'line 3', 'at entity'],
    ['"entity":2', '"entity":1', 'line 3', 'entity 1 must stand before entity 1, and once'],
    ['"entity":2', '"entity":9', 'line 3', 'entity 9', 'below 3'],
    ['"entity":2', '"entity":2,"shoe":1', 'line 3', 'shoe'],
    ['"next":3', '"next":2', 'line 3', 'entity 2', 'below 2'],
    ['"nowMs":0', '"nowMs":"0"', 'line 1', 'at header.nowMs'],
    ['"kind":"hello"', '"kind":7', 'line 1', 'at inbox.0', 'kind'],
    ['"Person":1', '"Person":1.5', 'line 1', 'at components.Person'],
    [',"Person":1', '', 'line 2', 'component Person', "'components'"],
    ['{"name":"Ada"}', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'line 2', 'levels'],
  ])(
    'with a right end that says what no snapshot can is refused: %s in another way (%#)',
    ([text, other, ...parts]) => {
      expect(() => restore(forged(text, other))).toThrow(refusal('corrupt-snapshot', ...parts, 'use another copy'))
    },
  )

  it('of a component that was of another kind is refused', () => {
    const withOther = (other: Component): Component[] => [...family.filter(({ name }) => name !== other.name), other]
    expect(() => World.restore(saved(), { components: withOther(defineLog('Person', z.unknown())) })).toThrow(
      refusal('corrupt-snapshot', 'line 2', "'Person' is a log here", 'another name'),
    )
    expect(() => World.restore(saved(), { components: withOther(defineTag('ChildOf')) })).toThrow(
      refusal('corrupt-snapshot', 'line 3', "'ChildOf' is a tag here"),
    )
    const long = new World({ components: family })
    long.spawn(Diary(Array.from({ length: 1_001 }, () => entry('x'))))
    expect(() =>
      World.restore(long.snapshot(), { components: withOther(defineComponent('Diary', z.unknown())) }),
    ).toThrow(refusal('corrupt-snapshot', 'line 3', "'Diary' was a log, and is a value here"))
  })
})

describe('the ticks since a snapshot', () => {
  const writing = doing((world) => {
    world.append(1, Diary, entry(`tick ${world.tick}`))
    world.spawn(Person({ name: `born in ${world.tick}` }))
  })

  function ticked(): { lines: string[]; deltas: Delta[]; world: World } {
    const lines = saved()
    const world = World.restore(lines, { systems: [writing], components: family })
    return { lines, deltas: Array.from({ length: 4 }, () => tick(world).delta), world }
  }

  it('make the world that went on living, at any of them', () => {
    const { lines, deltas, world } = ticked()
    expect(World.restore(lines, { components: family, deltas }).hash()).toBe(world.hash())
    const twin = World.restore(lines, { systems: [writing], components: family })
    for (let count = 1; count <= deltas.length; count++) {
      tick(twin)
      expect(World.restore(lines, { components: family, deltas: deltas.slice(0, count) }).hash()).toBe(twin.hash())
    }
  })

  it.for<[string, (deltas: Delta[]) => Iterable<Delta>, ...string[]]>([
    ['lost', (deltas) => deltas.toSpliced(1, 1), 'Tick 3', 'does not follow tick 1'],
    ['there twice', (deltas) => [...deltas, ...deltas], 'Tick 1', 'does not follow tick 4'],
    ['in another order', (deltas) => deltas.toReversed(), 'Tick 4', 'does not follow tick 0'],
  ])('are refused when one is %s', ([, harm, ...parts]) => {
    const { lines, deltas } = ticked()
    expect(() => World.restore(lines, { components: family, deltas: harm(deltas) })).toThrow(
      refusal('corrupt-journal', ...parts, 'oldest first'),
    )
  })

  it('are refused when they hold what is not known or not valid here', () => {
    const { lines, deltas } = ticked()
    const other = (text: string, replacement: string): Delta[] => [
      JSON.parse(JSON.stringify(deltas[0]).replaceAll(text, replacement)) as Delta,
    ]
    const restoring = (made: Delta[]) => () => World.restore(lines, { components: family, deltas: made })
    expect(restoring(other('"Person"', '"Robot"'))).toThrow(refusal('unknown-component', "'Robot'"))
    expect(restoring(other('"born in 1"', '7'))).toThrow(refusal('invalid-value', 'entity 3, component Person', 'name'))
    expect(restoring(other('{"text":"tick 1"}', '"bare"'))).toThrow(
      refusal('invalid-value', 'entity 1, component Diary'),
    )
    expect(restoring(other('"set":{', '"set":{"Diary":[[1,true]],'))).toThrow(
      refusal('corrupt-snapshot', "'Diary' is a log"),
    )
  })

  it.for<[string, object, ...string[]]>([
    ['appends to a log that is not there', { appended: { Diary: [[2, []]] } }, 'entity 2, component Diary', 'no log'],
    ['edits behind the end of a log', { spliced: { Diary: [[1, [[2, 2, []]]]] } }, 'entity 1', 'item 4 of 3'],
    ['writes to nobody', { set: { Person: [[99, { name: 'Eve' }]] } }, 'entity 99', 'does not exist'],
    ['despawns nobody', { despawned: [99] }, 'entity 99', 'does not exist'],
    ['gives a number twice', { spawned: [1] }, 'entity 1', 'must be new'],
    ['leaves no new number', { next: 3 }, 'must be 4 or more'],
    ['is no list', { spawned: 7 }, 'delta 0', 'at spawned'],
    ['has an unknown field', { shoe: 7 }, 'delta 0', 'shoe'],
    ['has no time', { nowMs: null }, 'delta 0', 'at nowMs'],
  ])('are refused when one %s', ([, change, ...parts]) => {
    const { lines, deltas } = ticked()
    const wrong = { ...(deltas[0] as Delta), ...change }
    expect(() => World.restore(lines, { components: family, deltas: [wrong] })).toThrow(
      refusal('corrupt-journal', ...parts),
    )
  })
})
