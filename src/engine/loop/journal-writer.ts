import { Effect } from '../../../components/effects/effect.ts'
import { Unread } from '../../../components/agent/conversation.ts'
import type { Batch, LostTicks, Post, SharedJournal, SharedStore, Store, WorldJournal } from '../../stores/port.ts'
import type { WorldEvent } from '../../world/input.ts'
import { JournalCodec, type Step } from '../../world/journal.ts'
import type { SnapshotEnd } from '../../world/snapshot.ts'
import { version as present } from '../../world/version.ts'
import type { World } from '../../world/world.ts'
import type { Mail } from './letter-box.ts'
import { type Found, type Joint, restored, type RestoreOptions, withoutContent } from './stored-ticks.ts'

/** A journal this long, and this many times longer than the newest snapshot, is replaced by a new snapshot. */
const minCompactionBytes = 1_000_000
const compactionFactor = 2

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
  #hasBase = false
  #writtenTick = -1
  /** Letters that are done with outside of a tick: the next commit removes them. */
  #done: number[] = []
  #isSending = false
  /** Called after each tick that is durable. */
  onCommit: (() => void) | undefined
  /** Closed, the world is due to be opened at this instant, in milliseconds since 1970. @default not by itself */
  wakeAtMs: number | undefined

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

  /** The world as last committed, if there is one. @throws `corrupt-journal`, and what restoring throws */
  async restore(options: RestoreOptions): Promise<Found | undefined> {
    const stored = await this.#journal.load()
    if (stored === undefined) return undefined
    const found = restored(this.#journal.name, stored, options)
    this.#codec = found.codec
    this.#journalBytes = found.journalBytes
    this.#hasBase = !found.isMigrated
    this.#writtenTick = found.world.tick
    this.#snapshotBytes = found.snapshotBytes
    return found
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
  async commit(world: World, step: Step, letters: readonly number[] = []): Promise<void> {
    const codec = this.#codec.fork()
    const events = withoutContent(step.events)
    const writers = this.#record ? { writers: world.core.state.tracking.writers() } : {}
    const line = codec.encode({ ...step, events, ...writers })
    const rows = [{ tick: step.delta.tick, line }]
    const isLong =
      this.#journalBytes + line.length > Math.max(minCompactionBytes, compactionFactor * this.#snapshotBytes)
    const before = this.#codec
    this.#codec = codec
    const done = this.#done
    this.#done = []
    try {
      const ticks = { rows, ...(isLong && this.#snapshot(world, events)), isBusy: isBusy(world) }
      const taken = done.length === 0 ? letters : [...done, ...letters]
      const sent = this.#outgoing?.(world) ?? []
      await this.#journal.commit(taken.length + sent.length === 0 ? ticks : { ...ticks, taken, sent })
    } catch (error) {
      this.#codec = before
      this.#done.unshift(...done)
      throw error
    }
    this.#journalBytes = isLong ? 0 : this.#journalBytes + line.length
    this.#writtenTick = step.delta.tick
    this.onCommit?.()
  }

  async close(): Promise<void> {
    await this.send().catch(() => undefined)
    const { wakeAtMs } = this
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
    this.#snapshotBytes = lines.reduce((sum, line) => sum + line.length, 0)
    const joint: Joint = { chain: this.#codec.chain, events, version: present }
    return { snapshot: { tick: world.tick, lines: [JSON.stringify(joint), ...lines] } }
  }
}

/** The world continues when a Runner starts it, without further input. */
function isBusy({ core }: World): boolean {
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
