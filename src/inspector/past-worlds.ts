import { Serial } from '../base/serial.ts'
import { openSnapshot } from '../engine/loop/stored-ticks.ts'
import type { Component } from '../world/component.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { JournalCodec } from '../world/journal.ts'
import { goOn, partOfWorld } from '../world/part-of-world.ts'
import type { World } from '../world/world.ts'
import { turns } from './in-turns.ts'
import { keptPart } from './kept-part.ts'
import type { Source } from './source.ts'

/** Worlds that were looked at last are kept, so that the next look goes on from there. */
const maxKept = 4
/** A world that is kept goes on by at most so many ticks; further away a snapshot is nearer. */
const maxAhead = 500

interface Kept {
  readonly world: World
  readonly codec: JournalCodec
}

/** Worlds of a source as of past ticks, with the components that the program knows. They are to be read, and not to be kept. */
export class PastWorlds {
  readonly #source: Source
  readonly #kept = new Map<string, Kept>()
  readonly #walks = new Serial()

  constructor(source: Source) {
    this.#source = source
  }

  /** Calls a function with a world as of a tick. @throws `no-such-world`, `invalid-argument`, what restoring throws */
  async at<T>(world: string, tick: number, look: (world: World) => T): Promise<T> {
    const found: T[] = []
    await this.walk(world, [tick], (past) => found.push(look(past)))
    return found[0] as T
  }

  /** The same for several ticks, ascending. One walk at a time. */
  async walk(world: string, ticks: readonly number[], look: (world: World, tick: number) => void): Promise<void> {
    return this.#walks.run(() => this.#walk(world, ticks, look))
  }

  async #walk(name: string, ticks: readonly number[], look: (world: World, tick: number) => void): Promise<void> {
    const [first, last] = [ticks[0], ticks.at(-1)]
    if (first === undefined || last === undefined) return
    const { oldest, stored } = await keptPart(this.#source, name, first, last)
    if (oldest > first) {
      const what = `Tick ${first} of world '${name}' is not kept any more: the oldest is ${oldest}`
      throw new EntiaError('invalid-argument', `${what}. Go to a later tick.`, { world: name, tick: first, oldest })
    }
    const kept = this.#kept.get(name)
    this.#kept.delete(name)
    const isNear =
      kept !== undefined && kept.world.tick <= first && kept.world.tick > Math.max(oldest, first - maxAhead)
    const { codec, world } = isNear ? kept : this.#opened(stored)
    const wanted = new Set(ticks)
    const turn = turns()
    if (wanted.has(world.tick)) look(world, world.tick)
    for (const { line, tick } of stored.rows) {
      if (tick <= world.tick) continue
      goOn(world, codec.decode(line, `journal of world '${name}', tick ${tick}`).delta)
      if (wanted.has(tick)) look(world, tick)
      await turn()
    }
    this.#keep(name, { codec, world })
  }

  #opened(stored: Parameters<typeof openSnapshot>[0]): Kept {
    const { codec, lines } = openSnapshot(stored)
    const known = new Map(Array.from(this.#source.components, (token): [string, Component] => [token.name, token]))
    return { codec, world: partOfWorld(lines, known.values()) }
  }

  #keep(name: string, kept: Kept): void {
    this.#kept.set(name, kept)
    for (const [first] of this.#kept) if (this.#kept.size > maxKept) this.#kept.delete(first)
  }
}
