import type { Entity } from '../../world/component.ts'

/** So many entities stand in one word. */
const wordBits = 32

/** A set of entities that only grows, at the price of a bit each: a long run has millions that were, and their numbers are dense. */
export class EntitySet {
  #words = new Uint32Array(1)

  has(entity: Entity): boolean {
    return (((this.#words[Math.floor(entity / wordBits)] ?? 0) >>> (entity % wordBits)) & 1) === 1
  }

  add(entity: Entity): void {
    const place = Math.floor(entity / wordBits)
    if (place >= this.#words.length) {
      const words = new Uint32Array(Math.max(place + 1, this.#words.length * 2))
      words.set(this.#words)
      this.#words = words
    }
    this.#words[place] = (this.#words[place] ?? 0) | (1 << (entity % wordBits))
  }
}
