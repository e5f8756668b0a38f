import { SeenInputs } from '../../../components/agent/host-facts.ts'
import type { StandardInput } from '../../protocol/input.ts'
import { letterLine } from '../../protocol/letter.ts'
import type { JournalRow, SharedStore } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import type { OwnInput } from '../../world/input.ts'
import { redo } from '../../world/inspection.ts'
import type { JournalCodec } from '../../world/journal.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { World } from '../../world/world.ts'
import type { Clock } from '../loop/clock.ts'
import type { EventsByType, RunnerEvent } from '../loop/events.ts'
import { Listeners } from '../loop/listeners.ts'
import type { PostOptions } from '../loop/runner-options.ts'
import { restored, type RestoreOptions, withContent } from '../loop/stored-ticks.ts'
import type { WorldDriver } from '../loop/world-driver.ts'
import type { TickWatch } from './tick-watch.ts'

export interface FollowedParts {
  readonly store: SharedStore
  readonly watch: TickWatch
  readonly clock: Clock
  readonly known: Pick<RestoreOptions, 'components' | 'systems'>
  readonly name: string
  /** @default the world itself */
  readonly root?: string | undefined
}

/**
 * A world that is driven elsewhere, as it is committed: its state and its events, which come a moment later than there. What is
 * posted to it goes by letter. It holds nothing.
 */
export class FollowedWorld implements WorldDriver {
  readonly #parts: FollowedParts
  readonly #listeners: Listeners
  #world: World
  #codec: JournalCodec
  #isReading = false
  #unwatch: (() => void) | undefined
  /** Inputs under ids that wait for the tick that takes them. */
  readonly #posted = new Map<string, PromiseWithResolvers<number | undefined>>()

  /** Follows a world that is there. @throws `no-such-world`, and what restoring throws */
  static async open(parts: FollowedParts): Promise<FollowedWorld> {
    const found = await whole(parts)
    if (found !== undefined) return new FollowedWorld(parts, found)
    throw new EntiaError('no-such-world', `There is no world '${parts.name}' in this store.`, { world: parts.name })
  }

  private constructor(parts: FollowedParts, { codec, world }: Whole) {
    const { clock, name, root = name, watch } = parts
    this.#parts = parts
    this.#world = world
    this.#codec = codec
    this.#listeners = new Listeners(name, () => ({ nowMs: this.#world.nowMs, dateMs: clock.date() }))
    this.#unwatch = watch.watch({ world: name, root, hear: (tick) => this.#hear(tick) })
  }

  /** As of the newest tick that is known here. It is to be read only; after `ticks-skipped` it is another object. */
  get world(): World {
    return this.#world
  }

  on<K extends keyof EventsByType>(
    type: K,
    listener: (event: { readonly type: K } & EventsByType[K]) => unknown,
  ): () => void
  on(type: '*', listener: (event: RunnerEvent) => unknown): () => void
  on(type: string, listener: (event: never) => unknown): () => void {
    return this.#listeners.on(type, listener)
  }

  /** As `runner.post`: resolves with the tick that took the input, once it is known here. */
  async post(
    input: StandardInput | OwnInput,
    { id = crypto.randomUUID() }: PostOptions = {},
  ): Promise<number | undefined> {
    const { name, root = name, store } = this.#parts
    if (this.#hasSeen(id)) return undefined
    const taken = this.#posted.get(id) ?? Promise.withResolvers<number | undefined>()
    this.#posted.set(id, taken)
    await store.post({ root, world: name, id, line: letterLine({ input: { ...input, id } }) })
    this.#parts.watch.soon()
    return taken.promise
  }

  async cancel(agent: Entity, reason?: string): Promise<void> {
    await this.post({ kind: 'cancel', agent, ...(reason !== undefined && { reason }) })
  }

  /** Nothing of a call under way is committed. */
  textSoFar(): undefined {}

  /** Ends it. What waits for a tick rejects with `world-driven`. */
  stop(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
    const { name } = this.#parts
    const error = new EntiaError('world-driven', `The world '${name}' is not followed any more.`, { world: name })
    for (const { promise, reject } of this.#posted.values()) {
      promise.catch(() => undefined)
      reject(error)
    }
    this.#posted.clear()
    this.#listeners.emit({ type: 'runner-stopped', world: name })
  }

  #hasSeen(id: string): boolean {
    return this.#world.query(SeenInputs).some((entity) => this.#world.read(entity, SeenInputs).includes(id))
  }

  #hear(tick: number | undefined): void {
    if (tick === undefined || tick <= this.#world.tick || this.#isReading) return
    this.#isReading = true
    void this.#read().finally(() => (this.#isReading = false))
  }

  async #read(): Promise<void> {
    const { name, root = name, store } = this.#parts
    try {
      const rows = await store.rows(name, { root, after: this.#world.tick })
      if (this.#unwatch === undefined) return
      if (rows === undefined) return this.#skipTo(await whole(this.#parts))
      for (const row of rows) this.#take(row)
      this.#parts.watch.soon()
    } catch {
      // A store that cannot be read now is read at the next look.
    }
  }

  #take({ line, tick }: JournalRow): void {
    const { delta, events, inputs } = this.#codec.decode(line, `journal of world '${this.#parts.name}', tick ${tick}`)
    redo(this.#world, delta, delta)
    for (const { id } of inputs) if (typeof id === 'string') this.#settle(id, tick)
    const { dateMs, name, nowMs } = this.#world
    withContent(this.#world, events).forEach((event, index) => {
      this.#listeners.emit({ ...event, world: name, tick, index, nowMs, dateMs })
    })
  }

  #skipTo(found: Whole | undefined): void {
    if (found === undefined || this.#unwatch === undefined) return
    this.#world = found.world
    this.#codec = found.codec
    const { name, tick } = found.world
    this.#listeners.emit({ type: 'ticks-skipped', world: name, tick })
    for (const id of this.#posted.keys()) if (this.#hasSeen(id)) this.#settle(id, undefined)
  }

  #settle(id: string, tick: number | undefined): void {
    this.#posted.get(id)?.resolve(tick)
    this.#posted.delete(id)
  }
}

interface Whole {
  readonly world: World
  readonly codec: JournalCodec
}

async function whole({ known, name, root = name, store }: FollowedParts): Promise<Whole | undefined> {
  const stored = await store.read(name, { root })
  return stored && restored(name, stored, known)
}
