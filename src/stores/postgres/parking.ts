import { Serial } from '../../base/serial.ts'

/** A world to be given free. */
export interface Parked {
  readonly id: number
  readonly epoch: number
  /** By Postgres's clock. */
  readonly wakeAtMs: number | undefined
}

/** Gives those worlds free together that are closed while the last ones are being given free. */
export class Parking {
  readonly #park: (worlds: readonly Parked[]) => Promise<void>
  #waiting: Parked[] = []
  #next: Promise<void> | undefined
  readonly #parking = new Serial()

  constructor(park: (worlds: readonly Parked[]) => Promise<void>) {
    this.#park = park
  }

  add(world: Parked): Promise<void> {
    this.#waiting.push(world)
    this.#next ??= this.#parking.run(() => {
      const worlds = this.#waiting
      this.#waiting = []
      this.#next = undefined
      return this.#park(worlds)
    })
    return this.#next
  }
}
