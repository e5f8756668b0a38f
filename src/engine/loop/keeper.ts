import { Effect } from '../../../components/effects/effect.ts'
import { Unread } from '../../../components/agent/conversation.ts'
import type { Batch, LostTicks, Store, StoredWorld, WorldJournal } from '../../stores/port.ts'
import type { Component } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { WorldEvent } from '../../world/input.ts'
import { JournalCodec, type Step } from '../../world/journal.ts'
import { readHead, savedVersions } from '../../world/restore.ts'
import { canonicalRead, parsedLine, shaped } from '../../world/saved-shapes.ts'
import type { SnapshotEnd, SnapshotHead } from '../../world/snapshot.ts'
import { version as present } from '../../world/version.ts'
import { World } from '../../world/world.ts'
import type { System } from '../../world/world.ts'
import { withContent, withoutContent } from './event-content.ts'

/** The journal grows to so much more than the newest snapshot before a new one takes its place. */
const minCompactionBytes = 1_000_000
const compactionFactor = 2

export interface KeeperOptions {
  readonly store: Store
  /** Keep every tick, so that the run can be replayed. @default false */
  readonly record?: boolean | undefined
  /** The root world in whose database it lies. @default the world itself */
  readonly root?: string | undefined
}

/** A world as it was found in a store. */
export interface Found {
  readonly world: World
  /** What the newest tick told, which may not have been heard. */
  readonly told: readonly WorldEvent[]
}

/** Keeps a world in a store: restores it, writes each tick ahead, and replaces a long journal by a snapshot. */
export class Keeper {
  readonly #journal: WorldJournal
  readonly #record: boolean
  #codec: JournalCodec
  #journalBytes = 0
  #snapshotBytes = 0
  #hasBase = false
  #writtenTick = -1

  private constructor(journal: WorldJournal, record: boolean) {
    this.#journal = journal
    this.#record = record
    this.#codec = new JournalCodec('')
  }

  /** @throws `world-locked` */
  static async open(name: string, { store, record = false, root }: KeeperOptions): Promise<Keeper> {
    return new Keeper(await store.open(name, { record, holder: 'a Runner', root }), record)
  }

  /** The world as it was last committed; `undefined` if there is none. @throws `corrupt-journal`, and what restoring throws */
  async restore(options: {
    systems: readonly System[]
    components: Iterable<Component>
    /** Of a copy that goes its own way. */
    name?: string | undefined
  }): Promise<Found | undefined> {
    const stored = await this.#journal.load()
    if (stored === undefined) return undefined
    const { lines, codec, events, head } = openSnapshot(stored)
    this.#codec = codec
    const steps: Step[] = stored.rows.map(({ tick, line }) => {
      this.#journalBytes += line.length
      return this.#codec.decode(line, `journal of world '${this.#journal.name}', tick ${tick}`)
    })
    const deltas = steps.map((step) => step.delta)
    const world = World.restore(lines, { ...options, deltas })
    // A value of an older version was migrated just now: the journal goes on from a snapshot of the new one.
    const saved = Object.entries(savedVersions(head, deltas))
    const isMigrated = saved.some(([name, version]) => world.core.token(name).version > version)
    this.#hasBase = !isMigrated
    this.#writtenTick = world.tick
    this.#snapshotBytes = lines.reduce((sum, line) => sum + line.length, 0)
    return { world, told: withContent(world, steps.at(-1)?.events ?? events) }
  }

  /** What was committed once and is not in the store any more. */
  get lost(): LostTicks | undefined {
    return this.#journal.lost
  }

  /** Is there a world of this name already? */
  async isTaken(): Promise<boolean> {
    return (await this.#journal.load()) !== undefined
  }

  /** Writes the world down as it is, unless the store has it so. */
  async begin(world: World): Promise<void> {
    if (this.#hasBase && this.#writtenTick === world.tick) return
    await this.#journal.commit({ ...this.#snapshot(world, []), isBusy: isBusy(world) })
    this.#writtenTick = world.tick
  }

  /** Makes a tick durable. Costs what the tick changed. */
  async commit(world: World, step: Step): Promise<void> {
    const codec = this.#codec.fork()
    const events = withoutContent(step.events)
    const writers = this.#record ? { writers: world.core.state.writers() } : {}
    const line = codec.encode({ ...step, events, ...writers })
    const rows = [{ tick: step.delta.tick, line }]
    const isLong =
      this.#journalBytes + line.length > Math.max(minCompactionBytes, compactionFactor * this.#snapshotBytes)
    const before = this.#codec
    this.#codec = codec
    try {
      await this.#journal.commit({ rows, ...(isLong && this.#snapshot(world, events)), isBusy: isBusy(world) })
    } catch (error) {
      this.#codec = before
      throw error
    }
    this.#journalBytes = isLong ? 0 : this.#journalBytes + line.length
    this.#writtenTick = step.delta.tick
  }

  /** Lets go of the world. */
  async close(): Promise<void> {
    await this.#journal.close()
  }

  /** The events of a tick whose row the snapshot takes the place of are kept with it: they may not have been heard. */
  #snapshot(world: World, events: readonly WorldEvent[]): Batch {
    const lines = [...world.snapshot()]
    if (this.#codec.chain === '') {
      const { end } = JSON.parse(lines.at(-1) as string) as SnapshotEnd
      this.#codec = new JournalCodec(end.sha256, world.core.header)
    }
    this.#hasBase = true
    this.#snapshotBytes = lines.reduce((sum, line) => sum + line.length, 0)
    const joint: Joint = { chain: this.#codec.chain, events, version: present }
    return { snapshot: { tick: world.tick, lines: [JSON.stringify(joint), ...lines] } }
  }
}

/** Does it go on when a Runner takes it up, without anything that comes from outside? */
function isBusy({ core }: World): boolean {
  const { inbox, state, tick } = core
  const isNew = tick === 0 && state.count(Unread) > 0
  return isNew || inbox.length > 0 || state.count(Effect) > 0
}

/** First line of a stored snapshot: where the journal goes on behind it. */
interface Joint {
  readonly chain: string
  readonly events: readonly WorldEvent[]
  /** Of entia; absent: one that did not note it. */
  readonly version?: string | undefined
}

/** A stored snapshot's lines, and the codec for the rows behind it. @throws `corrupt-snapshot`, `newer-version` */
export function openSnapshot({ snapshot }: StoredWorld): {
  readonly codec: JournalCodec
  readonly head: SnapshotHead
  readonly lines: readonly string[]
  readonly events: readonly WorldEvent[]
  readonly version: string | undefined
} {
  const [first = '', ...lines] = snapshot.lines
  const { chain, events, version } = shaped('joint', canonicalRead(parsedLine(first, corrupt), corrupt), corrupt)
  const head = readHead(lines[0] ?? '')
  return { codec: new JournalCodec(chain, head.header), events, head, lines, version }
}

function corrupt(problem: string): EntiaError {
  return new EntiaError('corrupt-snapshot', `stored snapshot line 1: ${problem}. Restore the store from a copy.`)
}
