import { EntiaError } from '../world/entia-error.ts'
import type { OpenOptions, Store, WorldInfo, WorldJournal } from './port.ts'
import { holderHere } from './holder.ts'
import type { Holder } from './holder.ts'
import type { Database, Medium } from './medium.ts'
import { Shelf } from './shelf.ts'

/** The store over any medium: one database a root world, open as long as one of its worlds is held. */
export class RootStore implements Store {
  readonly #medium: Medium
  readonly #shelves = new Map<string, Shelf>()
  #closing: Promise<void> | undefined

  constructor(medium: Medium) {
    this.#medium = medium
  }

  async open(world: string, options: OpenOptions = {}): Promise<WorldJournal> {
    const root = options.root ?? world
    assertName(world)
    assertName(root)
    this.#assertOpen()
    const holder = holderHere(options.holder)
    const shelf = this.#shelves.get(root) ?? this.#openShelf(root, holder)
    return shelf.open(world, holder, options)
  }

  async list(): Promise<readonly WorldInfo[]> {
    this.#assertOpen()
    const worlds = this.#medium.roots().flatMap((root) => this.#listRoot(root))
    return worlds.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async putText(root: string, key: string, text: string): Promise<void> {
    assertName(root)
    assertKey(key)
    assertWellFormed('text', text)
    this.#assertOpen()
    const shelf = this.#shelves.get(root)
    if (shelf) return shelf.putText({ key, text })
    this.#look(root, (database) => database.write([], [{ key, text }]))
  }

  async getText(root: string, key: string): Promise<string | undefined> {
    assertName(root)
    assertKey(key)
    this.#assertOpen()
    await this.#shelves.get(root)?.settled()
    return this.#medium.has(root) ? this.#look(root, (database) => database.text(key)) : undefined
  }

  async delete(world: string): Promise<void> {
    assertName(world)
    this.#assertOpen()
    // Texts that are under way keep a database open that nobody holds any more.
    await this.#shelves.get(world)?.settled()
    for (const shelf of this.#shelves.values()) shelf.assertFree(world)
    if (this.#medium.has(world)) {
      this.#shelves.get(world)?.assertFree()
      this.#medium.remove(world)
    } else {
      this.#deleteChild(world)
    }
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#shelves.values()].map((shelf) => shelf.close())).then(() => undefined)
    return this.#closing
  }

  #assertOpen(): void {
    if (!this.#closing) return
    throw new EntiaError('store-closed', 'The store is closed, so nothing can be opened in it. Make a new one.')
  }

  #openShelf(root: string, holder: Holder): Shelf {
    const database = this.#medium.open(root, holder)
    const shelf = new Shelf(database, () => {
      this.#shelves.delete(root)
      database.close()
    })
    this.#shelves.set(root, shelf)
    return shelf
  }

  #listRoot(root: string): readonly WorldInfo[] {
    try {
      return this.#look(root, (database) => database.list())
    } catch (error) {
      if (!(error instanceof EntiaError)) throw error
      return [{ name: root, tick: undefined, sizeBytes: this.#medium.sizeBytes(root), unreadable: error }]
    }
  }

  /** A child's name does not tell its root, so every database is asked, those that are open first. */
  #deleteChild(world: string): void {
    const roots = new Set([...this.#shelves.keys(), ...this.#medium.roots()])
    const unread: EntiaError[] = []
    for (const root of roots) {
      try {
        if (this.#look(root, (database) => database.remove(world))) return
      } catch (error) {
        if (!(error instanceof EntiaError)) throw error
        unread.push(error)
      }
    }
    // It may lie where nobody can look now; saying that it does not exist would be a guess.
    if (unread[0]) throw unread[0]
    throw new EntiaError('no-such-world', `There is no world '${world}' in this store. See store.list().`, { world })
  }

  #look<T>(root: string, act: (database: Database) => T): T {
    const shelf = this.#shelves.get(root)
    if (shelf) return act(shelf.database)
    const database = this.#medium.open(root)
    try {
      return act(database)
    } finally {
      database.close()
    }
  }
}

function assertName(name: string): void {
  if (typeof name === 'string' && name !== '') return
  throw new EntiaError(
    'invalid-argument',
    `The name of a world has to be a text that is not empty; ${typeof name} came.`,
  )
}

function assertKey(key: string): void {
  assertWellFormed('key', key)
  if (key === '') throw new EntiaError('invalid-argument', 'The key of a text has to be a text that is not empty.')
}

/** Refuses what could not come back as it was given. */
function assertWellFormed(what: 'key' | 'text', value: string): void {
  if (typeof value === 'string' && value.isWellFormed()) return
  const came = typeof value === 'string' ? 'half a surrogate pair is in it' : `${typeof value} came`
  throw new EntiaError(
    'invalid-argument',
    `The ${what} of a text that is kept has to be well-formed text; ${came}. value.toWellFormed() makes it so.`,
  )
}
