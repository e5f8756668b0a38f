import type { Batch, OpenOptions, Store, TranscriptLine, WorldJournal } from '../stores/port.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Fault, FaultName } from './fault.ts'
import type { FaultPlan } from './fault-plan.ts'
import { never, type ProcessState } from './process-clock.ts'

interface StoreOwner {
  readonly plan: FaultPlan
  readonly state: () => ProcessState
  readonly now: () => number
  /** The disk outlives the process. */
  readonly disk: { fullUntilMs: number }
  readonly struck: (fault: Fault) => void
  /** Kills the process; `afterCommit`: after its ticks were observed. */
  readonly crash: (fault: Fault) => void
  /** Whether something comes due within a while. */
  readonly isDueWithin: (ms: number) => boolean
  /** Calls after a while, unless that is cancelled. */
  readonly after: (ms: number, call: () => void) => () => void
  /** A tick waits for a write while time passes, or no more. */
  readonly waits: (isWaiting: boolean) => void
  /** A tick, or work, waits for a write that is never made. */
  readonly parked: (what?: 'tick') => void
  readonly label: (world: string) => string
}

interface Waiting {
  readonly world: string | undefined
  readonly by: 'tick' | undefined
  readonly write: () => Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

type Struck = 'commit' | 'append'

/**
 * The store as one process sees it: all writes of one event-loop turn form one transaction, except transcript appends,
 * which stand alone. Faults strike both.
 */
export class FaultyStore implements Store {
  readonly #inner: Store
  readonly #owner: StoreOwner
  readonly #journals = new Set<WorldJournal>()
  readonly #broken = new Set<string>()
  #waiting: Waiting[] = []
  /** A transaction that is slow: what is given meanwhile makes the next one. */
  #slow: { readonly end: () => void; waiting: number } | undefined

  constructor(inner: Store, owner: StoreOwner) {
    this.#inner = inner
    this.#owner = owner
  }

  async open(world: string, options?: OpenOptions): Promise<WorldJournal> {
    if (this.#owner.state() !== 'alive') return this.#forever()
    const journal = await this.#inner.open(world, options)
    this.#journals.add(journal)
    if (this.#owner.state() === 'dead') await this.release()
    const close = async (): Promise<void> => {
      this.#journals.delete(journal)
      await journal.close()
    }
    return {
      name: journal.name,
      load: () => journal.load(),
      recording: () => journal.recording(),
      commit: (batch: Batch) => this.#commit(world, journal, batch),
      close: () => (this.#owner.state() === 'dead' ? never() : close()),
    }
  }

  readonly read: Store['read'] = (...parts) => this.#inner.read(...parts)
  readonly list: Store['list'] = (...parts) => this.#inner.list(...parts)
  readonly putText: Store['putText'] = (...parts) => this.#transact({}, () => this.#inner.putText(...parts))
  readonly getText: Store['getText'] = (...parts) => this.#inner.getText(...parts)
  readonly transcript: Store['transcript'] = (...parts) => this.#inner.transcript(...parts)
  readonly searchTranscript: Store['searchTranscript'] = (...parts) => this.#inner.searchTranscript(...parts)
  readonly close: Store['close'] = () => this.#inner.close()
  readonly deleteTranscript: Store['deleteTranscript'] = (...parts) =>
    this.#owner.state() === 'alive' ? this.#inner.deleteTranscript(...parts) : this.#forever()
  readonly delete: Store['delete'] = (world) =>
    this.#owner.state() === 'alive' ? this.#inner.delete(world) : this.#forever()

  appendTranscript(...[root, key, lines, options]: Parameters<Store['appendTranscript']>): Promise<void> {
    if (this.#owner.state() !== 'alive') return this.#forever()
    const all = [...lines]
    const append = (some: readonly TranscriptLine[]) => this.#inner.appendTranscript(root, key, some, options)
    // What a process that dies midway leaves.
    const half = () => append(all.slice(0, Math.ceil(all.length / 2)))
    return new Promise((resolve, reject) => {
      const whole = { world: undefined, by: undefined, write: () => append(all), resolve, reject }
      setImmediate(() => void this.#meetFaults('append', [whole], half))
    })
  }

  /** Releases the locks of a dead process, as the operating system would. */
  async release(): Promise<void> {
    const journals = [...this.#journals]
    this.#journals.clear()
    await Promise.all(journals.map((journal) => journal.close()))
  }

  #commit(world: string, journal: WorldJournal, batch: Batch): Promise<void> {
    // A snapshot's lines are generated from the living world: read them now.
    const { snapshot } = batch
    const taken = snapshot === undefined ? batch : { ...batch, snapshot: { ...snapshot, lines: [...snapshot.lines] } }
    const by = batch.rows === undefined ? undefined : 'tick'
    return this.#transact({ world, by }, () => journal.commit(taken))
  }

  #transact(whose: { world?: string; by?: 'tick' | undefined }, write: () => Promise<void>): Promise<void> {
    const { world, by } = whose
    if (this.#owner.state() !== 'alive') return this.#forever(by)
    if (this.#slow !== undefined) this.#waitBehind(this.#slow, by)
    else if (this.#waiting.length === 0) setImmediate(() => void this.#flush())
    return new Promise((resolve, reject) => this.#waiting.push({ world, by, write, resolve, reject }))
  }

  #forever(by?: 'tick'): Promise<never> {
    this.#owner.parked(by)
    return never()
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = []
    await this.#meetFaults('commit', waiting)
  }

  /** Time passes while ticks are written. Work that writes waits in real time, so it ends the wait. */
  #waitBehind(slow: { readonly end: () => void; waiting: number }, by: 'tick' | undefined): void {
    if (by === undefined) return slow.end()
    slow.waiting++
    this.#owner.waits(true)
  }

  /** Lets time pass in a transaction of ticks: what comes due meanwhile arrives during their commit. */
  async #passTime(ms: number, ticks: number): Promise<void> {
    const { after, waits } = this.#owner
    const passed = Promise.withResolvers<void>()
    const cancel = after(ms, passed.resolve)
    const end = (): void => {
      cancel()
      passed.resolve()
    }
    const slow = (this.#slow = { end, waiting: ticks })
    for (let count = 0; count < ticks; count++) waits(true)
    await passed.promise
    this.#slow = undefined
    for (let count = 0; count < slow.waiting; count++) waits(false)
    // Behind this one, which is written first.
    if (this.#waiting.length > 0) setImmediate(() => void this.#flush())
  }

  /** Writes what waits unless a fault strikes. @param tear writes what a torn write leaves */
  async #meetFaults(what: Struck, waiting: readonly Waiting[], tear?: () => Promise<void>): Promise<void> {
    const { plan, state, struck, crash, now, disk, isDueWithin } = this.#owner
    // A dying process writes nothing more.
    if (state() !== 'alive') return waiting.forEach(({ by }) => this.#owner.parked(by))
    const at = plan.next('store', what)
    const death = plan.strike('crash', at, (name) => name !== 'crash.child')
    if (death?.what === 'crash.beforeCommit') return crash(death)
    const isSlow = (ms: number): boolean =>
      what === 'commit' && waiting.every(({ by }) => by === 'tick') && (!plan.isDrawn || isDueWithin(ms))
    const strikes = (name: FaultName, ms: number): boolean => name !== 'store.slow' || isSlow(ms)
    const fault = now() < disk.fullUntilMs ? undefined : plan.strike('store', at, strikes)
    if (fault?.what === 'store.torn') {
      // Starts before anything of the next process does, and is not awaited.
      tear?.().catch(() => undefined)
      return crash(fault)
    }
    if (fault !== undefined) struck(fault)
    if (fault?.what === 'store.slow') {
      await this.#passTime(fault.ms ?? 0, waiting.length)
      if (state() !== 'alive') return waiting.forEach(({ by }) => this.#owner.parked(by))
    }
    if (fault?.what === 'store.full') disk.fullUntilMs = now() + (fault.ms ?? 0)
    const refusal = fault?.what === 'store.fails' ? 'I/O error' : now() < disk.fullUntilMs ? 'disk full' : undefined
    if (refusal !== undefined) {
      for (const { reject } of waiting) reject(refused(refusal))
      return
    }
    await Promise.all(waiting.map((one) => this.#write(one)))
    if (death !== undefined) crash(death)
    for (const one of waiting) one.resolve()
  }

  async #write(one: Waiting): Promise<void> {
    const { world } = one
    if (world !== undefined && this.#isBroken(world)) return one.reject(refused('the Runner of this session has died'))
    try {
      await one.write()
    } catch (error) {
      one.reject(error)
    }
  }

  #isBroken(world: string): boolean {
    const { plan, label, struck } = this.#owner
    if (!plan.has('crash') || !label(world).includes('/')) return false
    const fault = plan.strike('crash', plan.next(label(world), 'commit'), (what) => what === 'crash.child')
    if (fault !== undefined) {
      struck(fault)
      this.#broken.add(world)
    }
    return this.#broken.has(world)
  }
}

function refused(reason: string): EntiaError {
  return new EntiaError('store-failed', `A transaction was refused: ${reason}.`)
}
