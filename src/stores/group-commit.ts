import type { Database, JournalHead, KeptText, Write } from './medium.ts'
import { advance } from './order.ts'

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
