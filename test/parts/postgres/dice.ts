/** Chance that is the same for the same seed. */
export interface Dice {
  /** An integer from 0 to one below the bound. */
  below(bound: number): number
  /** @throws RangeError for a list without members */
  one<T>(of: readonly T[]): T
  shuffled<T>(of: readonly T[]): readonly T[]
}

export function dice(seed: number): Dice {
  let state = seed >>> 0
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  return {
    below,
    one: (of) => {
      if (of.length === 0) throw new RangeError('There is nothing to choose from.')
      return of[below(of.length)] as (typeof of)[number]
    },
    shuffled: (of) => {
      const mixed = [...of]
      for (let index = mixed.length - 1; index > 0; index--) {
        const other = below(index + 1)
        ;[mixed[index], mixed[other]] = [mixed[other] as (typeof of)[number], mixed[index] as (typeof of)[number]]
      }
      return mixed
    },
  }
}
