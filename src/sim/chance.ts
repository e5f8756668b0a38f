import { fingerprint } from '../world/random.ts'

/** A range of whole numbers, both ends included. */
export type Range = readonly [min: number, max: number]

/**
 * The dice of a simulation. Each question has a name, and its answer follows from the seed and that name alone: whatever
 * else happens, or is left out when a case is made smaller, moves no other answer.
 */
export class Chance {
  readonly #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  /** At least 0, below 1. */
  of(question: string): number {
    return fingerprint(question, this.#seed + 1) / 2 ** 53
  }

  /** A whole number in a range. */
  within([min, max]: Range, question: string): number {
    return min + Math.floor(this.of(question) * (max - min + 1))
  }

  /** One of a list, which is not empty. */
  pick<T>(list: readonly T[], question: string): T {
    return list[Math.floor(this.of(question) * list.length)] as T
  }
}
