import { EntiaError, World } from 'entia'
import { type Config, configured, readConfig } from 'entia/context'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { everything, everythingInCamelCase } from './whole-config.ts'

describe('anything at all', () => {
  /** What is read, refused or fails otherwise. */
  const outcome = (given: unknown): Config | 'config-invalid' => {
    try {
      return readConfig(given)
    } catch (error) {
      if (error instanceof EntiaError && error.code === 'config-invalid') return error.code
      throw error
    }
  }
  /** Values where they may be wrong, right or absurd. */
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<unknown>(0.5, 1, 2, true, 'warn', 'small', 'debug', null, {}, 'a/b') },
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
    fc.double(),
  )
  const similarTo = (node: unknown): fc.Arbitrary<unknown> => {
    if (typeof node !== 'object' || node === null)
      return fc.oneof({ weight: 60, arbitrary: fc.constant(node) }, { weight: 1, arbitrary: value })
    const fields = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, similarTo(inner)]))
    const more = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'maxListed', 'midTurn')), value, {
      maxKeys: 1,
    })
    return fc.oneof(
      { weight: 60, arbitrary: fc.record(fields, { requiredKeys: [] }) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.record(fields, { requiredKeys: [] }), more)
          .map(([own, added]) => ({ ...own, ...added })),
      },
      { weight: 1, arbitrary: value },
    )
  }

  it('is read or refused with config-invalid, and what is read makes components', () => {
    const outcomes = new Set<boolean>()
    fc.assert(
      fc.property(fc.oneof(value, similarTo(everything), similarTo(everythingInCamelCase)), (given) => {
        const read = outcome(given)
        outcomes.add(read === 'config-invalid')
        if (read === 'config-invalid') return
        expect(readConfig(structuredClone(read))).toEqual(read)
        const world = new World()
        world.spawn(...configured(read))
      }),
      { numRuns: 1_000 },
    )
    expect(outcomes.size).toBe(2)
  })
})
