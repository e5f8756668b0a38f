import { Serial } from '../base/serial.ts'
import { EntiaError } from '../base/entia-error.ts'
import { checkedBatch } from './check-arguments.ts'
import { type LockOwner, lockedError } from './lock-owner.ts'
import type { Database, JournalHead, KeptText, LetterTo, Transcripts, Write } from './medium.ts'
import { advance, assertContiguous, fencedError } from './order.ts'
import type {
  FirstSnapshot,
  Letter,
  LostTicks,
  Post,
  SharedBatch,
  SharedJournal,
  SharedOpenOptions,
  StoredWorld,
} from './port.ts'

interface OpenDatabaseParts {
  /** Worlds have got letters that are durable. */
  readonly onLetters: (worlds: readonly string[]) => void
  readonly onUnused: () => void
}

/** An open database and its open worlds. It is closed once no world of it is open and no text or transcript is in use. */
export class OpenDatabase {
  readonly database: Database
  readonly #commits: GroupCommit
  readonly #worlds = new Map<string, OpenWorld>()
  readonly #work = new Set<Promise<unknown>>()
  readonly #transcriptWork = new Serial()
  readonly #onUnused: () => void
  #isUnused = false

  readonly #root: string

  constructor(root: string, database: Database, { onLetters, onUnused }: OpenDatabaseParts) {
    this.#root = root
    this.database = database
    this.#commits = new GroupCommit(database, onLetters)
    this.#onUnused = onUnused
  }

  get hasOpenWorlds(): boolean {
    return this.#worlds.size > 0
  }

  open(name: string, owner: LockOwner, { record = false, seize = false }: SharedOpenOptions): SharedJournal {
    const held = this.#worlds.get(name)
    if (!seize) this.assertFree(name)
    const onClosed = (): void => {
      if (this.#worlds.get(name) === world) this.#worlds.delete(name)
      this.#closeIfUnused()
    }
    const { database } = this
    const { epoch: writtenIn, wakeAtMs: wasDueMs } = database.holding(name)
    const epoch = Math.max(writtenIn, held?.epoch ?? 0) + 1
    const world = new OpenWorld({
      name,
      root: this.#root,
      owner,
      record,
      epoch,
      wasDueMs: held === undefined ? wasDueMs : undefined,
      database,
      commits: this.#commits,
      onClosed,
    })
    held?.fence()
    this.#worlds.set(name, world)
    return world
  }

  /** Sends a letter to a world of this root. */
  post(letter: LetterTo): Promise<void> {
    return this.#using(this.#commits.post(letter))
  }

  /** The worlds that are open. */
  get names(): readonly string[] {
    return [...this.#worlds.keys()]
  }

  putText(text: KeptText): Promise<void> {
    return this.#using(this.#commits.putText(text))
  }

  /** Runs one at a time, in the order of the calls. */
  withTranscripts<T>(act: (transcripts: Transcripts) => Promise<T>): Promise<T> {
    return this.#using(this.#transcriptWork.run(() => act(this.database.transcripts)))
  }

  async quiet(): Promise<void> {
    await Promise.allSettled(this.#work)
  }

  settled(): Promise<void> {
    return this.#commits.settled()
  }

  ownerOf(name: string): LockOwner | undefined {
    return this.#worlds.get(name)?.owner
  }

  /** @throws `world-locked` if the world is open; without a name, if any is. */
  assertFree(name?: string): void {
    const open = name === undefined ? [...this.#worlds.values()][0] : this.#worlds.get(name)
    if (open) throw lockedError(open.name, open.owner, this.database.place)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#worlds.values()].map((world) => world.close()))
    await this.quiet()
  }

  #using<T>(work: Promise<T>): Promise<T> {
    const done = work.finally(() => {
      this.#work.delete(done)
      this.#closeIfUnused()
    })
    this.#work.add(done)
    return done
  }

  /** Once: who was succeeded in a world may close it when this is over, and the root is open anew. */
  #closeIfUnused(): void {
    if (this.#isUnused || this.#worlds.size > 0 || this.#work.size > 0) return
    this.#isUnused = true
    this.#onUnused()
  }
}

interface OpenWorldParts {
  readonly name: string
  readonly root: string
  readonly epoch: number
  readonly wasDueMs: number | undefined
  readonly owner: LockOwner
  readonly record: boolean
  readonly database: Database
  readonly commits: GroupCommit
  readonly onClosed: () => void
}

class OpenWorld implements SharedJournal {
  readonly name: string
  readonly epoch: number
  readonly openedAtTick: number | undefined
  readonly wasDueMs: number | undefined
  readonly owner: LockOwner
  readonly lost: LostTicks | undefined
  readonly #parts: OpenWorldParts
  #closing: Promise<void> | undefined
  #isFenced = false
  #hasWritten = false

  constructor(parts: OpenWorldParts) {
    this.name = parts.name
    this.epoch = parts.epoch
    this.openedAtTick = tickOf(parts)
    this.wasDueMs = parts.wasDueMs
    this.owner = parts.owner
    this.lost = lostTicks(parts)
    this.#parts = parts
  }

  load(): Promise<StoredWorld | undefined> {
    return this.#read('newest')
  }

  recording(): Promise<StoredWorld | undefined> {
    return this.#read('oldest')
  }

  async commit(batch: SharedBatch): Promise<void> {
    this.#assertOpen()
    const { commits, record, root } = this.#parts
    const { sent, ...checked } = checkedBatch(batch, this.name, record)
    const letters = sent.map((post) => ofRoot(root, post))
    const isNothing = checked.rows.length + checked.taken.length + letters.length === 0 && !checked.snapshot
    if (isNothing) return commits.settled()
    await commits.commit({ ...checked, sent: letters, epoch: this.epoch, isFirst: !this.#hasWritten }, () =>
      this.#assertHeld(),
    )
    this.#hasWritten = true
  }

  async letters(limit = Infinity): Promise<readonly Letter[]> {
    this.#assertOpen()
    const { commits, database } = this.#parts
    await commits.settled()
    this.#assertHeld()
    return database.letters(this.name, limit)
  }

  async place({ isBusy, world, ...snapshot }: FirstSnapshot): Promise<boolean> {
    this.#assertOpen()
    const { commits, database } = this.#parts
    const { sent: _, ...checked } = checkedBatch({ snapshot, isBusy }, world, false)
    await commits.settled()
    if (database.head(world) !== undefined) return false
    const { epoch } = database.holding(world)
    await commits.commit({ ...checked, sent: [], epoch, isFirst: false }, () => this.#assertHeld())
    return true
  }

  close({ wakeAtMs }: { readonly wakeAtMs?: number | undefined } = {}): Promise<void> {
    this.#closing ??= this.#close(wakeAtMs)
    return this.#closing
  }

  /** Another holder has it from now on. */
  fence(): void {
    this.#isFenced = true
  }

  async #close(wakeAtMs: number | undefined): Promise<void> {
    const { commits, database, onClosed } = this.#parts
    await commits.settled()
    try {
      const isDue = wakeAtMs !== undefined || database.holding(this.name).wakeAtMs !== undefined
      if (isDue && !this.#isFenced) database.park(this.name, wakeAtMs)
    } finally {
      onClosed()
    }
  }

  #assertHeld(): void {
    if (this.#isFenced) throw fencedError(this.name, this.epoch)
  }

  async #read(from: 'newest' | 'oldest'): Promise<StoredWorld | undefined> {
    this.#assertOpen()
    const { commits, database } = this.#parts
    await commits.settled()
    this.#assertHeld()
    const stored = database.read(this.name, from)
    if (stored) assertContiguous(this.name, stored, database.place)
    return stored
  }

  #assertOpen(): void {
    if (!this.#closing) return
    throw new EntiaError('store-closed', `The world '${this.name}' is closed. Open it again with store.open().`, {
      world: this.name,
    })
  }
}

/** Who loads what is damaged is told so. */
function tickOf({ database, name }: OpenWorldParts): number | undefined {
  try {
    return database.head(name)?.tick
  } catch {
    return undefined
  }
}

function lostTicks({ database, name }: OpenWorldParts): LostTicks | undefined {
  try {
    return database.lostTicks(name)
  } catch (error) {
    // A damaged world is reported when it is loaded.
    if (error instanceof EntiaError) return undefined
    throw error
  }
}

/** @throws `invalid-argument` for a world of another root */
export function ofRoot(root: string, { id, line, root: other, world }: Post): LetterTo {
  if ((other ?? world) === root) return { id, line, world }
  throw new EntiaError(
    'invalid-argument',
    `A world of '${root}' cannot send a letter to the world '${world}' of '${other ?? world}' with its commit: each root has ` +
      'a database of its own here. Send it with store.post.',
    { world, root: other ?? world },
  )
}

interface Waiting<T> extends Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'> {
  readonly what: T
  /** Throws if it may not be written any more. */
  readonly check?: (() => void) | undefined
}

/** Collects what is written to a database in one turn of the event loop and writes it in one transaction at its end. */
export class GroupCommit {
  readonly #database: Database
  readonly #onLetters: (worlds: readonly string[]) => void
  #writes: Waiting<Write>[] = []
  #texts: Waiting<KeptText>[] = []
  #letters: Waiting<LetterTo>[] = []
  #turn: Promise<void> | undefined

  constructor(database: Database, onLetters: (worlds: readonly string[]) => void) {
    this.#database = database
    this.#onLetters = onLetters
  }

  /** Resolves once it is written. Writes keep the order of the calls. @param check throws if it may not be written any more */
  commit(write: Write, check?: () => void): Promise<void> {
    return this.#atEndOfTurn(this.#writes, write, check)
  }

  post(letter: LetterTo): Promise<void> {
    return this.#atEndOfTurn(this.#letters, letter)
  }

  /** Resolves once it is written. The last of several texts under one key stays. */
  putText(text: KeptText): Promise<void> {
    return this.#atEndOfTurn(this.#texts, text)
  }

  settled(): Promise<void> {
    return this.#turn ?? Promise.resolve()
  }

  #atEndOfTurn<T>(waiting: Waiting<T>[], what: T, check?: () => void): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#flush()
        resolve()
      })
    })
    return new Promise((resolve, reject) => waiting.push({ what, check, resolve, reject }))
  }

  #flush(): void {
    const writes = this.#inOrder(this.#writes)
    const texts = this.#texts
    const letters = this.#letters
    this.#writes = []
    this.#texts = []
    this.#letters = []
    this.#turn = undefined
    const together = [...writes, ...texts, ...letters]
    try {
      if (together.length > 0) this.#database.write(writes.map(whatOf), texts.map(whatOf), letters.map(whatOf))
    } catch (error) {
      for (const { reject } of together) reject(error)
      return
    }
    for (const { resolve } of together) resolve()
    const sent = [...letters.map(whatOf), ...writes.flatMap(({ what }) => what.sent)]
    if (sent.length > 0) this.#onLetters([...new Set(sent.map(({ world }) => world))])
  }

  /** Refuses what is out of order before anything is written, so that the rest of the transaction does not fail with it. */
  #inOrder(waiting: readonly Waiting<Write>[]): Waiting<Write>[] {
    const heads = new Map<string, JournalHead>()
    return waiting.filter(({ what, check, reject }) => {
      try {
        check?.()
        if (what.rows.length === 0 && !what.snapshot) return true
        heads.set(what.world, advance(heads.get(what.world) ?? this.#database.head(what.world), what))
        return true
      } catch (error) {
        reject(error)
        return false
      }
    })
  }
}

function whatOf<T>({ what }: Waiting<T>): T {
  return what
}
