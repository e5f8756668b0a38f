import { openLines } from '../../../world/joint.ts'
import type { JournalCodec, Step } from '../../../world/journal.ts'
import { type RawComponent, RawWorld, type TakenStep } from '../../../world/raw-world.ts'
import type { TickRow, TicksQuery, TicksReply } from '../../reading/wire.ts'
import { nextTurn } from './next-turn.ts'

/** How many ticks around a tick are asked for at once. */
const ticksAhead = 2_000
/** Ticks that are held; the oldest go first, and are read again when they are wanted. */
const maxHeld = 20_000
/** How long the page may move a world before it lets the browser have its turn. */
const sliceMs = 8

export interface PastParts {
  readonly world: string
  readonly known: Readonly<Record<string, RawComponent>>
  readonly fetch: (query: TicksQuery) => Promise<TicksReply>
}

/**
 * A world that goes to any tick and back. It holds a range of ticks, and asks for others: the nearest snapshot and the rows behind it.
 * What a tick has overwritten is kept while going forward, so that a step back costs what a step forward does.
 */
export class Past {
  readonly name: string
  readonly #parts: PastParts
  #world: RawWorld | undefined
  #codec: JournalCodec | undefined
  /** The tick before the first of `#steps`. */
  #base = 0
  /** Read; those behind are `#rows`. */
  #steps: Step[] = []
  #rows: TickRow[] = []
  /** One for each tick from `#base` to that of the world. */
  #taken: TakenStep[] = []
  #newest = 0
  #goal = 0

  constructor(parts: PastParts) {
    this.#parts = parts
    this.name = parts.world
  }

  /** As of the tick that was gone to last. It changes with the next move. */
  get world(): RawWorld | undefined {
    return this.#world
  }

  /** The newest tick that is known of. */
  get newest(): number {
    return this.#newest
  }

  /** Ticks that can be gone to without asking for more: from the first to the last. */
  get held(): readonly [first: number, last: number] {
    return [this.#base, this.#last]
  }

  get #last(): number {
    return this.#base + this.#steps.length + this.#rows.length
  }

  /** What a tick took and did, if it is held and the world has been there. */
  step(tick: number): Step | undefined {
    return this.#steps[tick - this.#base - 1]
  }

  /** Goes to a tick, or to the newest. Resolves with `false` if a later call has gone elsewhere meanwhile. */
  async goTo(tick: number): Promise<boolean> {
    const goal = ++this.#goal
    const isFar = tick !== Infinity && tick > this.#last + ticksAhead
    if (this.#world === undefined || tick < this.#base || isFar) {
      if (!(await this.#open(tick, goal))) return false
    }
    while (this.#isShortOf(tick)) {
      const before = this.#last
      if (!(await this.#more(tick, goal))) return false
      if (this.#last === before) break
    }
    return this.#walk(Math.min(tick, this.#last), goal)
  }

  #isShortOf(tick: number): boolean {
    return tick === Infinity ? this.#last < this.#newest : this.#last < tick
  }

  /** Takes what came in from the followed world. `false`: it does not follow what is held. */
  add(rows: readonly TickRow[], newest: number): boolean {
    this.#newest = Math.max(this.#newest, newest)
    const further = rows.filter(({ tick }) => tick > this.#last)
    if (this.#world === undefined || further.length === 0) return true
    if (further[0]?.tick !== this.#last + 1) return false
    this.#rows.push(...further)
    return true
  }

  /** A newest tick was heard of. */
  heard(newest: number): void {
    this.#newest = Math.max(this.#newest, newest)
  }

  /** Everything held is void: rows behind it are not kept any more. */
  forget(): void {
    this.#world = undefined
    this.#steps = []
    this.#rows = []
    this.#taken = []
    this.#base = 0
  }

  async #open(tick: number, goal: number): Promise<boolean> {
    const range = tick === Infinity ? {} : { from: tick, to: tick + ticksAhead }
    const reply = await this.#parts.fetch({ world: this.name, ...range, snapshot: true })
    if (goal !== this.#goal) return false
    const { newest, rows, snapshot } = reply
    if (snapshot === undefined) return false
    const { codec, lines } = openLines(snapshot.lines)
    this.#world = RawWorld.restore(lines, this.#parts.known)
    this.#codec = codec
    this.#base = snapshot.tick
    this.#steps = []
    this.#taken = []
    this.#rows = rows.filter((row) => row.tick > snapshot.tick)
    this.#newest = newest
    return true
  }

  async #more(tick: number, goal: number): Promise<boolean> {
    const from = this.#last + 1
    const to = tick === Infinity ? undefined : tick + ticksAhead
    const { newest, rows, snapshot } = await this.#parts.fetch({ world: this.name, from, to })
    if (goal !== this.#goal) return false
    this.#newest = Math.max(newest, this.#newest)
    if (snapshot === undefined) return this.add(rows, newest)
    this.forget()
    return this.#open(tick, goal)
  }

  async #walk(tick: number, goal: number): Promise<boolean> {
    const world = this.#world as RawWorld
    let sliceEndMs = performance.now() + sliceMs
    while (world.tick !== tick) {
      if (world.tick < tick) this.#forward(world)
      else world.back(this.#taken.pop() as TakenStep)
      if (performance.now() < sliceEndMs) continue
      await nextTurn()
      if (goal !== this.#goal) return false
      sliceEndMs = performance.now() + sliceMs
    }
    this.#trim()
    return true
  }

  #forward(world: RawWorld): void {
    const index = world.tick - this.#base
    const step = this.#steps[index] ?? this.#decode()
    this.#taken.push(world.forward(step.delta))
  }

  #decode(): Step {
    const [row] = this.#rows as [TickRow, ...TickRow[]]
    const step = (this.#codec as JournalCodec).decode(row.line, `world '${this.name}', tick ${row.tick}`)
    // A row that is damaged stays, so that each try stops there.
    this.#rows.shift()
    this.#steps.push(step)
    return step
  }

  /** Only what lies before the present tick can go: the rest is needed to go on. */
  #trim(): void {
    const spare = Math.min(this.#steps.length + this.#rows.length - maxHeld, this.#taken.length - 1)
    if (spare < maxHeld / 10) return
    this.#base += spare
    this.#steps = this.#steps.slice(spare)
    this.#taken = this.#taken.slice(spare)
  }
}
