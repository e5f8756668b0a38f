import { EntiaError } from '../world/entia-error.ts'
import { checkedBatch } from './check-arguments.ts'
import { type LockOwner, lockedError } from './lock-owner.ts'
import type { Database, JournalHead, KeptText, Transcripts, Write } from './medium.ts'
import { advance, assertContiguous } from './order.ts'
import type { Batch, LostTicks, OpenOptions, StoredWorld, WorldJournal } from './port.ts'

/** An open database and its open worlds. It is closed once no world of it is open and no text or transcript is in use. */
export class OpenDatabase {
  readonly database: Database
  readonly #commits: GroupCommit
  readonly #worlds = new Map<string, OpenWorld>()
  readonly #work = new Set<Promise<unknown>>()
  #lastTranscriptWork: Promise<unknown> = Promise.resolve()
  readonly #onUnused: () => void

  constructor(database: Database, onUnused: () => void) {
    this.database = database
    this.#commits = new GroupCommit(database)
    this.#onUnused = onUnused
  }

  get hasOpenWorlds(): boolean {
    return this.#worlds.size > 0
  }

  open(name: string, owner: LockOwner, { record = false }: OpenOptions): WorldJournal {
    this.assertFree(name)
    const onClosed = (): void => {
      this.#worlds.delete(name)
      this.#closeIfUnused()
    }
    const { database } = this
    const world = new OpenWorld({ name, owner, record, database, commits: this.#commits, onClosed })
    this.#worlds.set(name, world)
    return world
  }

  putText(text: KeptText): Promise<void> {
    return this.#using(this.#commits.putText(text))
  }

  /** Runs one at a time, in the order of the calls. */
  withTranscripts<T>(act: (transcripts: Transcripts) => Promise<T>): Promise<T> {
    const result = this.#lastTranscriptWork.then(() => act(this.database.transcripts))
    this.#lastTranscriptWork = result.catch(() => undefined)
    return this.#using(result)
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

  #closeIfUnused(): void {
    if (this.#worlds.size === 0 && this.#work.size === 0) this.#onUnused()
  }
}

interface OpenWorldParts {
  readonly name: string
  readonly owner: LockOwner
  readonly record: boolean
  readonly database: Database
  readonly commits: GroupCommit
  readonly onClosed: () => void
}

class OpenWorld implements WorldJournal {
  readonly name: string
  readonly owner: LockOwner
  readonly lost: LostTicks | undefined
  readonly #parts: OpenWorldParts
  #closing: Promise<void> | undefined

  constructor(parts: OpenWorldParts) {
    this.name = parts.name
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

  async commit(batch: Batch): Promise<void> {
    this.#assertOpen()
    const { commits, record } = this.#parts
    const write = checkedBatch(batch, this.name, record)
    if (write.rows.length === 0 && !write.snapshot) return commits.settled()
    return commits.commit(write)
  }

  close(): Promise<void> {
    this.#closing ??= this.#parts.commits.settled().then(this.#parts.onClosed)
    return this.#closing
  }

  async #read(from: 'newest' | 'oldest'): Promise<StoredWorld | undefined> {
    this.#assertOpen()
    const { commits, database } = this.#parts
    await commits.settled()
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

function lostTicks({ database, name }: OpenWorldParts): LostTicks | undefined {
  try {
    return database.lostTicks(name)
  } catch (error) {
    // A damaged world is reported when it is loaded.
    if (error instanceof EntiaError) return undefined
    throw error
  }
}

interface Waiting<T> extends Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'> {
  readonly what: T
}

/** Collects what is written to a database in one turn of the event loop and writes it in one transaction at its end. */
export class GroupCommit {
  readonly #database: Database
  #writes: Waiting<Write>[] = []
  #texts: Waiting<KeptText>[] = []
  #turn: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** Resolves once it is written. Writes keep the order of the calls. */
  commit(write: Write): Promise<void> {
    return this.#atEndOfTurn(this.#writes, write)
  }

  /** Resolves once it is written. The last of several texts under one key stays. */
  putText(text: KeptText): Promise<void> {
    return this.#atEndOfTurn(this.#texts, text)
  }

  settled(): Promise<void> {
    return this.#turn ?? Promise.resolve()
  }

  #atEndOfTurn<T>(waiting: Waiting<T>[], what: T): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#flush()
        resolve()
      })
    })
    return new Promise((resolve, reject) => waiting.push({ what, resolve, reject }))
  }

  #flush(): void {
    const writes = this.#inOrder(this.#writes)
    const texts = this.#texts
    this.#writes = []
    this.#texts = []
    this.#turn = undefined
    const together = [...writes, ...texts]
    try {
      if (together.length > 0) this.#database.write(writes.map(whatOf), texts.map(whatOf))
    } catch (error) {
      for (const { reject } of together) reject(error)
      return
    }
    for (const { resolve } of together) resolve()
  }

  /** Refuses what is out of order before anything is written, so that the rest of the transaction does not fail with it. */
  #inOrder(waiting: readonly Waiting<Write>[]): Waiting<Write>[] {
    const heads = new Map<string, JournalHead>()
    return waiting.filter(({ what, reject }) => {
      try {
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
