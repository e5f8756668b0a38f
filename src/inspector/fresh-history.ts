import { withoutContent } from '../engine/loop/stored-ticks.ts'
import type { JournalRow, StoredWorld } from '../stores/port.ts'
import { headerOf } from '../world/inspection.ts'
import { type Joint } from '../world/joint.ts'
import { JournalCodec, type Step } from '../world/journal.ts'
import type { SnapshotEnd } from '../world/snapshot.ts'
import { version } from '../base/version.ts'
import type { World } from '../world/world.ts'

/** A snapshot is taken after so many ticks. */
const ticksPerSnapshot = 500
/** What is kept of a world, in characters; the oldest part goes first. */
const defaultMaxKeptChars = 64_000_000

/** The history of a world that no store keeps, from the moment when somebody looks at it. */
export class FreshHistory {
  readonly #codec: JournalCodec
  readonly #snapshots: StoredWorld['snapshot'][]
  /** Behind the oldest snapshot. */
  #rows: JournalRow[] = []
  readonly #maxKeptChars: number
  #chars: number

  constructor(world: World, { maxKeptChars = defaultMaxKeptChars }: { readonly maxKeptChars?: number } = {}) {
    this.#maxKeptChars = maxKeptChars
    const lines = [...world.snapshot()]
    const { end } = JSON.parse(lines.at(-1) as string) as SnapshotEnd
    this.#codec = new JournalCodec(end.sha256, headerOf(world))
    this.#snapshots = [{ tick: world.tick, lines: [this.#joint(), ...lines] }]
    this.#chars = lengthOf(lines)
  }

  get #oldest(): number {
    return this.#snapshots[0]?.tick ?? 0
  }

  add(step: Step, world: World): void {
    const { tick } = step.delta
    // A snapshot that was taken between a tick and its commit has that tick.
    if (tick <= this.#oldest + this.#rows.length) return
    const line = this.#codec.encode({ ...step, events: withoutContent(step.events) })
    this.#rows.push({ tick, line })
    this.#chars += line.length
    if (tick - (this.#snapshots.at(-1)?.tick ?? 0) >= ticksPerSnapshot && world.tick === tick) this.#snap(world)
  }

  read(from?: number, to = Infinity): StoredWorld | undefined {
    const first = from ?? to
    const snapshot = this.#snapshots.findLast(({ tick }) => tick <= first)
    return snapshot && { snapshot, rows: this.#behind(snapshot.tick, to) }
  }

  rows(after: number, to?: number): readonly JournalRow[] | undefined {
    return after < this.#oldest ? undefined : this.#behind(after, to)
  }

  #behind(tick: number, to = Infinity): readonly JournalRow[] {
    return this.#rows.slice(tick - this.#oldest, Math.max(0, to - this.#oldest))
  }

  #snap(world: World): void {
    const lines = [this.#joint(), ...world.snapshot()]
    this.#snapshots.push({ tick: world.tick, lines })
    this.#chars += lengthOf(lines)
    while (this.#chars > this.#maxKeptChars && this.#snapshots.length > 1) {
      const [gone, next] = this.#snapshots as [StoredWorld['snapshot'], StoredWorld['snapshot']]
      const rows = this.#rows.slice(0, next.tick - gone.tick)
      this.#chars -= lengthOf(gone.lines) + lengthOf(rows.map(({ line }) => line))
      this.#rows = this.#rows.slice(rows.length)
      this.#snapshots.shift()
    }
  }

  #joint(): string {
    const joint: Joint = { chain: this.#codec.chain, events: [], version }
    return JSON.stringify(joint)
  }
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0)
}
