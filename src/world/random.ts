/** State of the generator: four unsigned 32-bit numbers. */
export type RandomState = readonly [number, number, number, number]

/** A seeded generator (sfc32); its whole state is four numbers. */
export class Random {
  #a = 0
  #b = 0
  #c = 0
  #counter = 1

  constructor(seed: number) {
    const low = seed >>> 0
    this.#a = low
    this.#b = Math.floor(seed / 2 ** 32) >>> 0
    this.#c = mix(low ^ 0x9e3779b9)
    for (let round = 0; round < 12; round++) this.#next()
  }

  /** In [0, 1), with 53 bits. */
  next(): number {
    const high = this.#next() >>> 5
    const low = this.#next() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  get state(): RandomState {
    return [this.#a, this.#b, this.#c, this.#counter]
  }

  set state([a, b, c, counter]: RandomState) {
    this.#a = a
    this.#b = b
    this.#c = c
    this.#counter = counter
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) >>> 0
    this.#counter = (this.#counter + 1) >>> 0
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0
    this.#b = (this.#c + (this.#c << 3)) >>> 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0
    return sum
  }
}

/** A bijection of 32-bit numbers that spreads neighbours apart. */
export function mix(value: number): number {
  let bits = value >>> 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}

/** Called by position, as a lookup on the text is slow for texts of mixed kinds. */
function unitAt(text: string, index: number): number {
  return String.prototype.charCodeAt.call(text, index)
}

export function hashText(text: string): number {
  const { length } = text
  let hash = 0x811c9dc5
  for (let index = 0; index < length; index++) hash = Math.imul(hash ^ unitAt(text, index), 0x01000193)
  return mix(hash)
}

/** A 53-bit hash of a text, chained onto an earlier one. Not cryptographic. */
export function fingerprint(text: string, earlier = 0): number {
  const { length } = text
  let low = 0x811c9dc5 ^ earlier
  let high = 0x9e3779b9 ^ Math.floor(earlier / 2 ** 32)
  for (let index = 0; index < length; index++) {
    const unit = unitAt(text, index)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x85ebca6b) ^ (high >>> 13)
  }
  return (mix(high ^ low) >>> 11) * 2 ** 32 + mix(low ^ length)
}

/** 8 hex digits of a 32-bit number. */
export function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}
