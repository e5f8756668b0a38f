import { advance } from './journal-order.ts'
import type { Database, JournalHead, KeptText, Write } from './medium.ts'

interface Waiting<T> {
  readonly write: T
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Gathers what one turn of the event loop writes to a database, and writes it at the end of the turn in one go. */
export class GroupCommit {
  readonly #database: Database
  #waiting: Waiting<Write>[] = []
  #texts: Waiting<KeptText>[] = []
  #turn: Promise<void> | undefined

  constructor(database: Database) {
    this.#database = database
  }

  /** Resolves once it is written. Order of calls is order of writing. */
  commit(write: Write): Promise<void> {
    return this.#atEndOfTurn((settle) => this.#waiting.push({ write, ...settle }))
  }

  /** Resolves once it is written. Of texts under one key the last one stays. */
  putText(write: KeptText): Promise<void> {
    return this.#atEndOfTurn((settle) => this.#texts.push({ write, ...settle }))
  }

  /** Resolves once all that was committed or put before is written or refused. */
  settled(): Promise<void> {
    return this.#turn ?? Promise.resolve()
  }

  #atEndOfTurn(wait: (settle: Omit<Waiting<never>, 'write'>) => void): Promise<void> {
    this.#turn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#flush()
        resolve()
      })
    })
    return new Promise((resolve, reject) => wait({ resolve, reject }))
  }

  #flush(): void {
    const [waiting, texts] = [this.#waiting, this.#texts]
    this.#waiting = []
    this.#texts = []
    this.#turn = undefined
    const accepted = this.#accepted(waiting)
    const together = [...accepted, ...texts]
    try {
      if (together.length > 0) this.#database.write(accepted.map(writeOf), texts.map(writeOf))
    } catch (error) {
      for (const { reject } of together) reject(error)
      return
    }
    for (const { resolve } of together) resolve()
  }

  /** Refuses what is out of order before anything is written, so that it takes nothing else down with it. */
  #accepted(waiting: readonly Waiting<Write>[]): Waiting<Write>[] {
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

function writeOf<T>({ write }: Waiting<T>): T {
  return write
}
