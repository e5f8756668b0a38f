import { EntiaError } from '../world/entia-error.ts'
import { fingerprint } from '../world/random.ts'
import { describeValue } from './describe-value.ts'

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

/** @param where what the range is of, as the message names it. @throws `invalid-argument` */
export function checkedRange(where: string, range: Range): Range {
  const [min, max] = Array.isArray(range) ? (range as Range) : []
  if (isMs(min) && isMs(max) && min <= max) return range
  const wanted = 'two whole numbers of milliseconds, the smaller one first'
  throw new EntiaError('invalid-argument', `${where} must be ${wanted}, got ${describeValue(range)}.`)
}

function isMs(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Of so many of the instants at which several things come due, a world learns in one tick. */
const shareTogether = 0.7
/** So many of one instant come in one by one at most. */
const maxApart = 3

/** Decides of things that come due at one instant whether a world learns of them in one tick. */
export class Arrivals {
  readonly #chance: Chance
  #atMs = -1
  #asked = 0

  constructor(chance: Chance) {
    this.#chance = chance
  }

  /** Do the things that come due now come in together? A crowd's do, from a few on. */
  comeTogether(nowMs: number): boolean {
    if (this.#atMs !== nowMs) [this.#atMs, this.#asked] = [nowMs, 0]
    this.#asked++
    return this.#asked > maxApart || this.#chance.of(`together at ${nowMs}`) < shareTogether
  }
}
