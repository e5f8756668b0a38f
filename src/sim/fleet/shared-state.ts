import type { VirtualClock } from '../../engine/loop/virtual-clock.ts'
import type { Letter, Post, SharedBatch, SharedJournal, SharedOpenOptions, SharedStore } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { DrivenStep } from '../../engine/effects/host-seams.ts'
import type { AtRest, StoreEvent } from '../law.ts'

export interface SharedStateParts {
  readonly store: SharedStore
  readonly clock: VirtualClock
  readonly isAlive: (worker: string) => boolean
  readonly told: (event: StoreEvent) => void
  /** Something has changed that the board looks at. */
  readonly onChange: () => void
}

interface Commit {
  readonly root: string
  readonly worker: string
  readonly batch: SharedBatch
  readonly committed: () => void
}

interface Holder {
  readonly worker: string
  /** No other holding has its number; epochs are used again where nothing was committed under them. */
  readonly holding: number
}

interface Opened {
  readonly journal: SharedJournal
  readonly holding: number
}

/** The store that all processes share, and what a law sees of it: who opens a world, what is committed, which letters go where. */
export class SharedState {
  readonly store: SharedStore
  readonly #parts: SharedStateParts
  readonly #holders = new Map<string, Holder>()
  readonly #roots = new Map<string, string>()
  readonly #deleted = new Set<string>()
  /** Ticks that are about to be committed, by world and epoch. */
  readonly #steps = new Map<string, DrivenStep>()
  #fullUntilMs = 0
  #holdings = 0

  constructor(parts: SharedStateParts) {
    this.store = parts.store
    this.#parts = parts
  }

  get isFull(): boolean {
    return this.#parts.clock.now() < this.#fullUntilMs
  }

  fill(ms: number): void {
    this.#fullUntilMs = this.#parts.clock.now() + ms
  }

  changed(): void {
    this.#parts.onChange()
  }

  /** Who opened a world last. */
  holderOf(world: string): Holder | undefined {
    return this.#holders.get(world)
  }

  /** The root in whose database a world lies. */
  rootOf(world: string): string {
    return this.#roots.get(world) ?? world
  }

  /** Its name is not used again. */
  isDeleted(world: string): boolean {
    return this.#deleted.has(world)
  }

  committing(world: string, worker: string, step: DrivenStep): void {
    this.#steps.set(`${worker} ${world}`, step)
  }

  async open(world: string, options: SharedOpenOptions & { readonly holder: string }): Promise<Opened> {
    const { isAlive, told } = this.#parts
    const { holder: worker } = options
    let journal: SharedJournal
    try {
      journal = await this.store.open(world, options)
    } catch (error) {
      // Only a living holder keeps others out.
      const before = error instanceof EntiaError && error.code === 'world-locked' ? error.details['holder'] : undefined
      if (typeof before !== 'string' || (before !== worker && isAlive(before))) throw error
      journal = await this.store.open(world, { ...options, seize: true })
    }
    const holding = ++this.#holdings
    this.#holders.set(world, { worker, holding })
    this.#roots.set(world, options.root ?? world)
    told({ type: 'opened', world, worker, epoch: journal.epoch })
    this.changed()
    return { journal, holding }
  }

  async commit(journal: SharedJournal, { batch, committed, root, worker }: Commit): Promise<void> {
    const { epoch, name: world } = journal
    const { rows = [], sent = [], taken = [] } = batch
    // What they say is not known afterwards.
    const letters = taken.length === 0 ? [] : await this.#lettersOf(journal)
    await journal.commit(batch)
    const step = rows.length === 0 ? undefined : this.#steps.get(`${worker} ${world}`)
    const gone = letters.filter(({ id }) => taken.includes(id)).map(({ id, line }) => ({ number: id, line }))
    this.#parts.told({
      type: 'committed',
      world,
      worker,
      epoch,
      step,
      taken: gone,
      sent: sent.map((post) => this.#letter(post, root)),
    })
    if (rows.length > 0) committed()
    this.changed()
  }

  async post(post: Post): Promise<void> {
    await this.store.post(post)
    this.#parts.told({ type: 'posted', letter: this.#letter(post, post.root ?? post.world) })
    this.changed()
  }

  async delete(world: string): Promise<void> {
    await this.store.delete(world)
    this.#deleted.add(world)
    this.#holders.delete(world)
    this.changed()
  }

  /** @param hasEnded needs no holder any more */
  async atRest(hasEnded: (world: string, root: string) => boolean): Promise<AtRest> {
    const { clock, store } = this.#parts
    const worlds: AtRest['worlds'][number][] = []
    for (const { heldBy, letters, name, root = name, wakeAtMs } of await store.list()) {
      const waiting = letters === undefined ? [] : await lettersIn(store, name, root)
      worlds.push({ name, isHeld: heldBy !== undefined, hasEnded: hasEnded(name, root), wakeAtMs, letters: waiting })
    }
    return { worlds, dateMs: clock.date() }
  }

  /** A holder that was succeeded gets none. */
  async #lettersOf(journal: SharedJournal): Promise<readonly Letter[]> {
    return journal.letters().catch(() => [])
  }

  #letter({ id, line, world }: Post, root: string): { world: string; line: string; id?: string | undefined } {
    this.#roots.set(world, root)
    return { world, line, id }
  }
}

async function lettersIn(store: SharedStore, name: string, root: string) {
  const journal = await store.open(name, { root, seize: true, holder: 'a look at its letters' })
  try {
    return (await journal.letters()).map(({ id, line }) => ({ number: id, line }))
  } finally {
    await journal.close()
  }
}
