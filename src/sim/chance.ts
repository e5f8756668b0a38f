import { fingerprint } from '../world/random.ts'
import { describeValue, misuse } from './describe-value.ts'

/** A range of whole numbers, both ends included. */
export type Range = readonly [min: number, max: number]

/**
 * The dice of a simulation: each answer follows from the seed and the question's name alone, so leaving a question out
 * moves no other answer.
 */
export class Chance {
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  /** In [0, 1). */
  of(question: string): number {
    return fingerprint(question, this.#seed + 1) / 2 ** 53
  }

  within([min, max]: Range, question: string): number {
    return min + Math.floor(this.of(question) * (max - min + 1))
  }

  /** @param list not empty */
  pick<T>(list: readonly T[], question: string): T {
    return list[Math.floor(this.of(question) * list.length)] as T
  }
}

export function checkedRange(where: string, range: Range): Range {
  const [min, max] = Array.isArray(range) ? (range as Range) : []
  if (isMs(min) && isMs(max) && min <= max) return range
  const wanted = 'two whole numbers of milliseconds, the smaller one first'
  throw misuse(`${where} must be ${wanted}, got ${describeValue(range)}.`)
}

function isMs(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
