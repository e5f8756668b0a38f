import type { Chance } from './chance.ts'

/** Of so many of the instants at which several things come due, a world learns in one tick. */
const shareTogether = 0.7
/** So many of one instant come in one by one at most. */
const maxApart = 3

/** Decides of things that come due at one instant whether a world learns of them in one tick. */
export class Arrivals {
  readonly #chance: Chance
  #atMs = -1
  /** How often it was asked at this instant. */
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
