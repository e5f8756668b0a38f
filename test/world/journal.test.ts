import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonical } from '../../src/world/canonical.ts'
import type { Input } from '../../src/world/input.ts'
import { JournalCodec, type Step } from '../../src/world/journal.ts'
import type { JsonObject } from '../../src/base/json.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'
import { Diary, doing, entry, family, input, Person, refusal } from './family.ts'

const told = doing((world) => {
  for (const { about, name } of world.inputs as readonly { about?: JsonObject; name?: string }[]) {
    const one = world.spawn(Person({ name: name ?? 'nobody' }))
    if (about !== undefined)
      world.set(one, Person, { name: 'told', about: { same: about, copy: structuredClone(about) } })
  }
  world.emit({ type: 'told', count: world.inputs.length })
}, 'telling')

/** Steps of a world that keeps what it is told about, and the lines of their journal. */
function written(inputs: readonly Input[]): { steps: Step[]; lines: string[]; world: World } {
  const world = new World({ systems: [told], components: family })
  const codec = new JournalCodec('anchor')
  const steps = inputs.map((each) => tick(world, [canonical(each, () => 'an input') as Input]))
  return { steps, lines: steps.map((step) => codec.encode(step)), world }
}

function read(lines: readonly string[]): Step[] {
  const codec = new JournalCodec('anchor')
  return lines.map((line, index) => codec.decode(line, `line ${index + 1}`))
}

describe('a journal', () => {
  it('gives back inputs, delta, events and writers of each tick, whatever they hold', () => {
    const about = fc.dictionary(fc.constantFrom('$in', '__proto__', 'is', 'a', '0'), fc.jsonValue({ maxDepth: 4 }))
    fc.assert(
      fc.property(fc.array(about, { maxLength: 4 }), (abouts) => {
        const { steps, lines, world } = written(abouts.map((each) => ({ kind: 'about', about: each as JsonObject })))
        const again = read(lines)
        const plain = (step: Step): unknown =>
          JSON.parse(JSON.stringify([step.inputs, canonical(step.delta, () => ''), step.events, step.writers]))
        expect(again.map(plain)).toEqual(steps.map(plain))
        const empty = new World({ components: family })
        const shadow = World.restore(empty.snapshot(), { components: family, deltas: again.map(({ delta }) => delta) })
        expect(shadow.hash()).toBe(world.hash())
      }),
      { numRuns: 120 },
    )
  })

  it('writes what came in with an input once, however often it was stored', () => {
    const text = 'x'.repeat(10_000)
    const { lines, steps } = written([{ kind: 'about', about: { said: { text } } }])
    // In the input and in the copy that is none of it, but not where it is the same.
    expect(lines[0]?.split(text)).toHaveLength(3)
    expect(read(lines)[0]?.delta.set?.['Person']).toEqual(steps[0]?.delta.set?.['Person'])
  })

  it('leaves out the writers when it is given none', () => {
    const { steps } = written([input('about')])
    const { inputs, delta, events } = steps[0] as Step
    const line = new JournalCodec('').encode({ inputs, delta, events })
    expect(new JournalCodec('').decode(line, 'the line').writers).toBeUndefined()
  })

  it('reads nothing else than what was written: any edit is found, and the line is named', () => {
    const { lines } = written([input('about', { name: 'Ada' }), input('about', { name: 'Bob' }), input('about')])
    const place = fc.record({ line: fc.nat(2), at: fc.nat(400), to: fc.constantFrom('', 'x', '"', ' ', '0') })
    fc.assert(
      fc.property(place, ({ line, at, to }) => {
        const original = lines[line] as string
        const index = at % original.length
        const edited = original.slice(0, index) + to + original.slice(index + 1)
        fc.pre(edited !== original)
        const result = refusal('corrupt-journal', `line ${line + 1}`, 'edited, lost or moved', 'Restore the store')
        expect(() => read(lines.with(line, edited))).toThrow(result)
      }),
      { numRuns: 120 },
    )
  })

  it.for<[string, (lines: readonly string[]) => readonly string[], number]>([
    ['lost', (lines) => lines.toSpliced(1, 1), 2],
    ['put elsewhere', ([a = '', b = '', c = '']) => [a, c, b], 2],
    ['there twice', ([a = '', b = '', c = '']) => [a, a, b, c], 2],
    ['cut off', (lines) => lines.with(2, lines[2]?.slice(0, -7) ?? ''), 3],
    ['set apart otherwise', (lines) => lines.with(1, lines[1]?.replace(' ', '_') ?? ''), 2],
    ['empty', (lines) => lines.with(0, ''), 1],
    ['from another journal', (lines) => lines.with(0, new JournalCodec('other').encode(read(lines)[0] as Step)), 1],
  ])('finds a line that is %s', ([, harm, line]) => {
    const { lines } = written([input('about'), input('about'), input('about')])
    expect(() => read(harm(lines))).toThrow(refusal('corrupt-journal', `line ${line}`))
  })

  it('goes on where another of the same place stood', () => {
    const { steps, lines } = written([input('about'), input('about')])
    const codec = new JournalCodec('anchor')
    codec.decode(lines[0] as string, 'line 1')
    const fork = codec.fork()
    expect(fork.encode(steps[1] as Step)).toBe(lines[1])
    expect(fork.chain).not.toBe(codec.chain)
    expect(codec.encode(steps[1] as Step)).toBe(lines[1])
  })

  it('gives frozen inputs and deltas, so that what is restored from it can be shared', () => {
    const { lines } = written([{ kind: 'about', about: { list: [{ a: 1 }] } }])
    const [step] = read(lines)
    const person = step?.delta.set?.['Person']?.[0]?.[1] as { about: { same: { list: unknown[] } } }
    expect(
      [step?.inputs, step?.delta, person, person.about.same.list, person.about.same.list[0]].every(Object.isFrozen),
    ).toBe(true)
  })

  it('costs what a tick changed: flat as a diary grows', () => {
    const lengths: number[] = []
    const world = new World({ systems: [doing((each) => each.append(1, Diary, entry('one more')))] })
    world.spawn(Diary())
    const codec = new JournalCodec('')
    for (let round = 0; round < 2_000; round++) lengths.push(codec.encode(tick(world)).length)
    expect(lengths.at(-1)).toBeLessThan((lengths[2] as number) + 10)
  })
})
