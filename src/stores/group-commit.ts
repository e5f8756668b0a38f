import { advance } from './journal-order.ts'
import type { Database, JournalHead, Write } from './medium.ts'

interface Waiting {
  readonly write: Write
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Gathers what one turn of the event loop commits to a database, and writes it at the end of the turn in one go. */
export class GroupCommit {
  readonly #database: Database
  #waiting: Waiting[] = []
  #turn: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** Resolves once it is written. Order of calls is order of writing. */
  commit(write: Write): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#flush()
        resolve()
      })
    })
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject })
    })
  }

  /** Resolves once all that was committed before is written or refused. */
  settled(): Promise<void> {
    return this.#turn ?? Promise.resolve()
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#turn = undefined
    const accepted = this.#accepted(waiting)
    try {
      if (accepted.length > 0) this.#database.write(accepted.map(({ write }) => write))
    } catch (error) {
      for (const { reject } of accepted) reject(error)
      return
    }
    for (const { resolve } of accepted) resolve()
  }

  /** Refuses what is out of order before anything is written, so that it takes nothing else down with it. */
  #accepted(waiting: readonly Waiting[]): Waiting[] {
    const heads = new Map<string, JournalHead>()
    return waiting.filter(({ write, reject }) => {
      try {
        heads.set(write.world, advance(heads.get(write.world) ?? this.#database.head(write.world), write))
        return true
      } catch (error) {
        reject(error)
        return false
      }
    })
  }
}
