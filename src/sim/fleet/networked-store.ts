import type {
  Batch,
  FirstSnapshot,
  Post,
  SharedBatch,
  SharedJournal,
  SharedOpenOptions,
  SharedStore,
  TranscriptLine,
} from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Fault } from '../fault.ts'
import type { FaultPlan } from '../fault-plan.ts'
import { never, type ProcessState } from '../process-clock.ts'
import type { FleetClock } from './fleet-clock.ts'
import type { SharedState } from './shared-state.ts'
import type { Wire } from './wire.ts'

export interface NetworkedStoreParts {
  readonly shared: SharedState
  readonly wire: Wire
  readonly clock: FleetClock
  readonly plan: FaultPlan
  /** Of the process, in places. */
  readonly name: string
  readonly worker: string
  readonly state: () => ProcessState
  readonly label: (world: string) => string
  readonly struck: (fault: Fault) => void
  readonly crash: (fault: Fault) => void
  /** A tick of this process is in the store. */
  readonly committed: (world: string, holding: number) => void
  /** News of letters, as they reach this process. */
  readonly onLetter: (hear: (root: string, world: string) => void) => () => void
}

/** The store that several processes share, as one of them reaches it. Each write is a transaction of its own. */
export class NetworkedStore implements SharedStore {
  readonly #parts: NetworkedStoreParts
  readonly #inner: SharedStore

  constructor(parts: NetworkedStoreParts) {
    this.#parts = parts
    this.#inner = parts.shared.store
  }

  async open(world: string, options: SharedOpenOptions = {}): Promise<SharedJournal> {
    const { shared, wire, worker } = this.#parts
    const open = () => shared.open(world, { ...options, holder: worker })
    const { holding, journal } = await wire.call(open, { isTaking: true })
    return new NetworkedJournal(journal, { ...this.#parts, holding, root: options.root ?? world })
  }

  async post(post: Post): Promise<void> {
    const { shared, wire } = this.#parts
    let isDone = false
    const send = async (): Promise<void> => {
      // A database knows whether it has done what it was asked for.
      if (isDone) return
      await shared.post(post)
      isDone = true
    }
    await wire.call(send, { isInOrder: true })
  }

  readonly on: SharedStore['on'] = (_, hear) => this.#parts.onLetter(hear)
  readonly read: SharedStore['read'] = (...given) => this.#look(() => this.#inner.read(...given))
  readonly list: SharedStore['list'] = (...given) => this.#look(() => this.#inner.list(...given))
  readonly rows: SharedStore['rows'] = (...given) => this.#look(() => this.#inner.rows(...given))
  readonly ticks: SharedStore['ticks'] = (...given) => this.#look(() => this.#inner.ticks(...given))
  readonly getText: SharedStore['getText'] = (...given) => this.#look(() => this.#inner.getText(...given))
  readonly transcript: SharedStore['transcript'] = (...given) => this.#look(() => this.#inner.transcript(...given))
  readonly searchTranscript: SharedStore['searchTranscript'] = (...given) =>
    this.#look(() => this.#inner.searchTranscript(...given))

  async putText(...given: Parameters<SharedStore['putText']>): Promise<void> {
    await this.#write('commit', () => this.#inner.putText(...given))
  }

  async appendTranscript(...[root, key, lines, options]: Parameters<SharedStore['appendTranscript']>): Promise<void> {
    const all = [...lines]
    const append = (some: readonly TranscriptLine[]) => this.#inner.appendTranscript(root, key, some, options)
    // What a process that dies midway leaves.
    const half = () => append(all.slice(0, Math.ceil(all.length / 2)))
    await this.#write('append', () => append(all), half)
  }

  async deleteTranscript(...given: Parameters<SharedStore['deleteTranscript']>): Promise<void> {
    await this.#parts.wire.call(() => this.#inner.deleteTranscript(...given))
  }

  async delete(world: string): Promise<void> {
    const { shared, wire } = this.#parts
    await wire.call(() => shared.delete(world))
  }

  /** What is shared outlives each process. */
  async close(): Promise<void> {}

  #look<T>(act: () => Promise<T>): Promise<T> {
    return this.#parts.wire.call(act)
  }

  async #write(kind: 'append' | 'commit', write: () => Promise<void>, tear?: () => Promise<void>): Promise<void> {
    const strike = new WriteFaults(this.#parts, kind)
    await strike.before(tear)
    await this.#parts.wire.call(write, { ...strike.way, isInOrder: true })
    await strike.after()
  }
}

interface JournalParts extends NetworkedStoreParts {
  readonly holding: number
  readonly root: string
}

/** A world of that store, held by one process. */
class NetworkedJournal implements SharedJournal {
  readonly #inner: SharedJournal
  readonly #parts: JournalParts
  readonly #commits = new Set<Promise<void>>()
  /** The Runner of this session has died. */
  #isBroken = false

  constructor(inner: SharedJournal, parts: JournalParts) {
    this.#inner = inner
    this.#parts = parts
  }

  get name(): string {
    return this.#inner.name
  }

  /** That of the store may be the same for two holders, of which the first has committed nothing. */
  get epoch(): number {
    return this.#parts.holding
  }

  get openedAtTick(): SharedJournal['openedAtTick'] {
    return this.#inner.openedAtTick
  }

  get wasDueMs(): SharedJournal['wasDueMs'] {
    return this.#inner.wasDueMs
  }

  readonly load: SharedJournal['load'] = () => this.#behindCommits(() => this.#inner.load())
  readonly recording: SharedJournal['recording'] = () => this.#behindCommits(() => this.#inner.recording())
  readonly letters: SharedJournal['letters'] = (limit) => this.#behindCommits(() => this.#inner.letters(limit))
  readonly close: SharedJournal['close'] = (options) =>
    this.#behindCommits(async () => {
      await this.#inner.close(options)
      this.#parts.shared.changed()
    })

  async place(first: FirstSnapshot): Promise<boolean> {
    const placed = { ...first, lines: [...first.lines] }
    const strike = new WriteFaults(this.#parts, 'commit')
    await strike.before()
    const isNew = await this.#parts.wire.call(() => this.#inner.place(placed), { ...strike.way, isInOrder: true })
    await strike.after()
    this.#parts.shared.changed()
    return isNew
  }

  commit(batch: SharedBatch): Promise<void> {
    // A snapshot's lines are generated from the living world: read them now.
    const { snapshot } = batch
    const taken = snapshot === undefined ? batch : { ...batch, snapshot: { ...snapshot, lines: [...snapshot.lines] } }
    const done = this.#commit(taken)
    this.#commits.add(done)
    const forget = (): void => void this.#commits.delete(done)
    done.then(forget, forget)
    return done
  }

  async #commit(batch: SharedBatch): Promise<void> {
    const { clock, wire } = this.#parts
    // The clock goes on while a tick is on its way to the store.
    const by = batch.rows === undefined ? undefined : 'tick'
    if (by !== undefined) clock.end(by)
    try {
      const strike = new WriteFaults(this.#parts, 'commit')
      await strike.before()
      if (this.#refusesFrom(strike.at)) throw refused('the Runner of this session has died')
      let isDone = false
      const write = async (): Promise<void> => {
        await this.#write(batch)
        isDone = true
      }
      // Whose connection is lost in a commit asks: ours and there, ours and not there, or not ours any more.
      const ask = async (): Promise<void> => {
        await this.#inner.letters(0)
        if (!isDone) await write()
      }
      await wire.call(write, { ...strike.way, again: ask, isInOrder: true })
      await strike.after()
    } finally {
      if (by !== undefined) clock.begin(by)
    }
  }

  async #write(batch: SharedBatch & Batch): Promise<void> {
    const { committed, holding, root, shared, worker } = this.#parts
    await shared.commit(this.#inner, { root, worker, batch, committed: () => committed(this.name, holding) })
  }

  async #behindCommits<T>(act: () => Promise<T>): Promise<T> {
    await Promise.allSettled(this.#commits)
    return this.#parts.wire.call(act)
  }

  #refusesFrom(at: string): boolean {
    const { label, plan, struck } = this.#parts
    if (!plan.has('crash') || !label(this.name).includes('/')) return false
    const fault = plan.strike('crash', `${label(this.name)} of ${at}`, (what) => what === 'crash.child')
    if (fault !== undefined) {
      struck(fault)
      this.#isBroken = true
    }
    return this.#isBroken
  }
}

type WriteParts = Pick<NetworkedStoreParts, 'crash' | 'name' | 'plan' | 'shared' | 'state' | 'struck'>

/** The faults that strike one write of a process. */
class WriteFaults {
  readonly at: string
  readonly #parts: WriteParts
  #death: Fault | undefined
  #slowMs = 0

  constructor(parts: WriteParts, kind: 'append' | 'commit') {
    this.#parts = parts
    this.at = parts.plan.next(parts.name, kind)
  }

  /** Of the call that writes. */
  get way(): { readonly at: string; readonly slowMs: number } {
    return { at: this.at, slowMs: this.#slowMs }
  }

  /** @param tear writes what a torn write leaves @throws `store-failed` */
  async before(tear?: () => Promise<void>): Promise<void> {
    const { crash, plan, shared, state, struck } = this.#parts
    if (state() !== 'alive') return never()
    this.#death = plan.strike('crash', this.at, (name) => name !== 'crash.child')
    if (this.#death?.what === 'crash.beforeCommit') return this.#die(this.#death)
    const fault = shared.isFull ? undefined : plan.strike('store', this.at)
    if (fault?.what === 'store.torn') {
      tear?.().catch(() => undefined)
      crash(fault)
      return never()
    }
    if (fault !== undefined) struck(fault)
    if (fault?.what === 'store.full') shared.fill(fault.ms ?? 0)
    if (fault?.what === 'store.slow') this.#slowMs = fault.ms ?? 0
    if (fault?.what === 'store.fails') throw refused('I/O error')
    if (shared.isFull) throw refused('disk full')
  }

  async after(): Promise<void> {
    const death = this.#death
    if (death === undefined) return
    if (death.what === 'crash.afterEffects') return this.#parts.crash(death)
    return this.#die(death)
  }

  #die(fault: Fault): Promise<never> {
    this.#parts.crash(fault)
    return never()
  }
}

function refused(reason: string): EntiaError {
  return new EntiaError('store-failed', `A transaction was refused: ${reason}.`)
}
