import { Effect } from '../../../components/effects/effect.ts'
import { Unread } from '../../../components/agent/conversation.ts'
import type { Batch, LostTicks, Post, SharedJournal, SharedStore, Store, WorldJournal } from '../../stores/port.ts'
import type { WorldEvent } from '../../world/input.ts'
import type { Joint } from '../../world/joint.ts'
import { JournalCodec } from '../../world/journal.ts'
import type { DrivenStep } from '../effects/host-seams.ts'
import type { SnapshotEnd } from '../../world/snapshot.ts'
import { version as present } from '../../base/version.ts'
import type { World } from '../../world/world.ts'
import type { Mail } from './letter-box.ts'
import { type Found, type Restored, restored, type RestoreOptions, withoutContent } from './stored-ticks.ts'

/** A journal this long, and this many times longer than the newest snapshot, is replaced by a new snapshot. */
const minCompactionBytes = 1_000_000
const compactionFactor = 2
/** Of a recorded world that is saved whole again and again: its rows since then have at least this share of the snapshot's size. */
const minRowsShare = 0.5

export interface JournalOptions {
  readonly store: Store
  /** Keep all ticks, so that the run can be replayed. @default false */
  readonly record?: boolean | undefined
  /** The root world whose database it is in. @default the world itself */
  readonly root?: string | undefined
}

/** How a world is opened in a store that many processes share. */
export interface SharedHold {
  readonly store: SharedStore
  /** Take the world from its holder. @default false */
  readonly seize?: boolean | undefined
  /** What each commit sends, made from the world as it is then. @default nothing */
  readonly outgoing?: ((world: World) => readonly Post[]) | undefined
}

/** Restores a world from its store, writes each tick to its journal, and replaces a long journal by a snapshot. */
export class JournalWriter {
  readonly #journal: WorldJournal | SharedJournal
  readonly #record: boolean
  readonly #outgoing: SharedHold['outgoing']
  #codec = new JournalCodec('')
  #journalBytes = 0
  #snapshotBytes = 0
  #snapshotTick = 0
  #hasBase = false
  #writtenTick = -1
  /** Letters that are done with outside of a tick: the next commit removes them. */
  #done: number[] = []
  /** Letters that the next tick removes. */
  #withTick: number[] = []
  #isSending = false
  /** The newest tick is not there, so what its world wants is not what is stored. */
  #isBehind = false
  /** Called after each tick that is durable. */
  onCommit: (() => void) | undefined
  /** Asked when it is closed: when the world is due to be opened again, in milliseconds since 1970. @default not by itself */
  wakes: (() => number | undefined) | undefined
  /** A recorded world is saved whole after so many ticks, and once its rows are long enough. @default never */
  ticksPerSnapshot = Infinity

  private constructor(journal: WorldJournal, record: boolean, outgoing?: SharedHold['outgoing']) {
    this.#journal = journal
    this.#record = record
    this.#outgoing = outgoing
  }

  static async open(name: string, { store, record = false, root }: JournalOptions): Promise<JournalWriter> {
    return new JournalWriter(await store.open(name, { record, holder: 'a Runner', root }), record)
  }

  /** Opens a world of a store that many processes share. */
  static async openShared(
    name: string,
    { outgoing, record = false, root = name, seize, store }: Omit<JournalOptions, 'store'> & SharedHold,
  ): Promise<{ readonly journal: JournalWriter; readonly mail: Mail }> {
    const journal = await store.open(name, { record, holder: 'a worker', root, seize })
    return { journal: new JournalWriter(journal, record, outgoing), mail: { store, journal, root } }
  }

  /**
   * The world as last committed, if there is one.
   * @param read what was read of it before it was opened: taken if nothing was committed meanwhile
   * @throws `corrupt-journal`, and what restoring throws
   */
  async restore(options: RestoreOptions, read?: Restored): Promise<Found | undefined> {
    const found = this.#isAsOpened(read) ? read : await this.#load(options)
    if (found === undefined) return undefined
    this.#codec = found.codec
    this.#journalBytes = found.journalBytes
    this.#hasBase = !found.isMigrated
    this.#writtenTick = found.world.tick
    this.#snapshotBytes = found.snapshotBytes
    this.#snapshotTick = found.snapshotTick
    return found
  }

  #isAsOpened(read: Restored | undefined): read is Restored {
    const { openedAtTick } = this.#journal as Partial<SharedJournal>
    return read !== undefined && read.world.tick === openedAtTick
  }

  async #load(options: RestoreOptions): Promise<Restored | undefined> {
    const stored = await this.#journal.load()
    return stored && restored(this.#journal.name, stored, options)
  }

  /** When the world was due to be opened, as its last holder has left it; `undefined`: it did not say, or died. */
  get wasDueMs(): number | undefined {
    return (this.#journal as Partial<SharedJournal>).wasDueMs
  }

  /** Of its holding, in a store that many processes share. */
  get epoch(): number {
    return (this.#journal as SharedJournal).epoch
  }

  /** Writes another world of the same root, unless it is there, or this holder was succeeded. @throws `world-fenced` */
  async place(world: World): Promise<void> {
    const { isBusy: isAtWork, snapshot } = firstSnapshot(world)
    await (this.#journal as SharedJournal).place({ world: world.name, ...snapshot, isBusy: isAtWork })
  }

  get lost(): LostTicks | undefined {
    return this.#journal.lost
  }

  async isTaken(): Promise<boolean> {
    return (await this.#journal.load()) !== undefined
  }

  /** Writes a snapshot, unless the store has the world at this tick. */
  async begin(world: World): Promise<void> {
    if (this.#hasBase && this.#writtenTick === world.tick) return
    await this.#journal.commit({ ...this.#snapshot(world, []), isBusy: isBusy(world) })
    this.#writtenTick = world.tick
  }

  /** A letter that no tick takes may go: the next commit removes it, or else one of its own. */
  done(letter: number): void {
    this.#done.push(letter)
    if (this.#isSending) return
    this.#isSending = true
    setImmediate(() => {
      this.#isSending = false
      // What fails now goes with a later commit.
      this.send().catch(() => undefined)
    })
  }

  /** A letter that the next tick takes, which is made of it. */
  doneWithTick(letter: number): void {
    this.#withTick.push(letter)
  }

  /** Removes and sends letters without a tick. @throws `world-fenced` */
  async send(posts: readonly Post[] = []): Promise<void> {
    const taken = this.#done
    if (taken.length === 0 && posts.length === 0) return
    this.#done = []
    try {
      await this.#journal.commit({ taken, sent: posts })
    } catch (error) {
      this.#done.push(...taken)
      throw error
    }
  }

  /** Makes a tick durable, with the letters it takes and sends. Costs what the tick changed. */
  async commit(world: World, step: DrivenStep, letters: readonly number[] = []): Promise<void> {
    const codec = this.#codec.fork()
    const events = withoutContent(step.events)
    const writers = this.#record ? { writers: world.core.state.tracking.writers() } : {}
    const line = codec.encode({ ...step, events, ...writers })
    const rows = [{ tick: step.delta.tick, line }]
    const isSaved = this.#isDue(step.delta.tick, this.#journalBytes + line.length)
    const before = this.#codec
    this.#codec = codec
    const done = [...this.#done, ...this.#withTick]
    this.#done = []
    try {
      const ticks = {
        rows,
        ...(isSaved && this.#snapshot(world, events)),
        isBusy: step.again === true || isBusy(world),
      }
      const taken = done.length === 0 ? letters : [...done, ...letters]
      const sent = this.#outgoing?.(world) ?? []
      await this.#journal.commit(taken.length + sent.length === 0 ? ticks : { ...ticks, taken, sent })
    } catch (error) {
      this.#isBehind = true
      this.#codec = before
      this.#done = [...done.filter((letter) => !this.#withTick.includes(letter)), ...this.#done]
      throw error
    }
    this.#isBehind = false
    this.#withTick = []
    this.#journalBytes = isSaved ? 0 : this.#journalBytes + line.length
    this.#writtenTick = step.delta.tick
    this.onCommit?.()
  }

  /** A snapshot is due: to replace a long journal, or so that a recording can be read as of any tick without most of it. */
  #isDue(tick: number, journalBytes: number): boolean {
    if (journalBytes > Math.max(minCompactionBytes, compactionFactor * this.#snapshotBytes)) return true
    const isFar = this.#record && tick - this.#snapshotTick >= this.ticksPerSnapshot
    return isFar && journalBytes >= minRowsShare * this.#snapshotBytes
  }

  async close(): Promise<void> {
    await this.send().catch(() => undefined)
    const wakeAtMs = this.#isBehind ? this.wakes && 0 : this.wakes?.()
    await (wakeAtMs === undefined ? this.#journal.close() : (this.#journal as SharedJournal).close({ wakeAtMs }))
  }

  /** @param events of the tick whose row the snapshot replaces: they may not have been emitted */
  #snapshot(world: World, events: readonly WorldEvent[]): Batch {
    const lines = [...world.snapshot()]
    if (this.#codec.chain === '') {
      const { end } = JSON.parse(lines.at(-1) as string) as SnapshotEnd
      this.#codec = new JournalCodec(end.sha256, world.core.header)
    }
    this.#hasBase = true
    this.#snapshotTick = world.tick
    this.#snapshotBytes = lines.reduce((sum, line) => sum + line.length, 0)
    const joint: Joint = { chain: this.#codec.chain, events, version: present }
    return { snapshot: { tick: world.tick, lines: [JSON.stringify(joint), ...lines] } }
  }
}

/** The world continues when a Runner starts it, without further input. */
export function isBusy({ core }: World): boolean {
  const { inbox, state, tick } = core
  const isNew = tick === 0 && state.count(Unread) > 0
  return isNew || inbox.length > 0 || state.count(Effect) > 0
}

/** What a store is given of a world that it does not have yet. */
export function firstSnapshot(world: World): Required<Pick<Batch, 'isBusy' | 'snapshot'>> & {
  readonly snapshot: { readonly tick: number; readonly lines: readonly string[] }
} {
  const lines = [...world.snapshot()]
  const { end } = JSON.parse(lines.at(-1) as string) as SnapshotEnd
  const joint: Joint = { chain: end.sha256, events: [], version: present }
  return { isBusy: isBusy(world), snapshot: { tick: world.tick, lines: [JSON.stringify(joint), ...lines] } }
}
