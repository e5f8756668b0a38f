import { EntiaError } from '../world/entia-error.ts'
import { shortly } from '../world/known-options.ts'
import { listOf, refuseMisfit, table, text as textShape } from '../world/option-shapes.ts'
import type { OpenOptions, Store, TranscriptHit, TranscriptLine, WorldInfo, WorldJournal } from './port.ts'
import { holderHere } from './holder.ts'
import type { Holder } from './holder.ts'
import type { Append, Database, Medium, Transcripts } from './medium.ts'
import { assertLine } from './one-line.ts'
import { searchWords } from './search-words.ts'
import { Shelf } from './shelf.ts'
import { namesInTranscriptKey } from './transcript-key.ts'

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
    const open = this.#shelves.get(root)
    if (open?.isHeld === false) this.#medium.passTo(root, holder)
    return (open ?? this.#openShelf(root, holder)).open(world, holder, options)
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

  async appendTranscript(
    root: string,
    key: string,
    lines: readonly TranscriptLine[],
    options: { readonly from: number },
  ): Promise<void> {
    assertName(root)
    refuseMisfit('appendTranscript', 'options', options, table)
    const append = checkedAppend(key, lines, options.from)
    this.#assertOpen()
    if (append.lines.length === 0) return
    const shelf = this.#shelves.get(root) ?? this.#openShelf(root, holderHere('an append to a transcript'))
    return shelf.withTranscripts((transcripts) => transcripts.append(append))
  }

  async transcript(root: string, key: string): Promise<readonly string[] | undefined> {
    namesInTranscriptKey(key)
    return this.#ofTranscripts(root, (transcripts) => transcripts.read(key))
  }

  async searchTranscript(
    root: string,
    keys: readonly string[],
    query: string,
    options: { readonly limit: number },
  ): Promise<readonly TranscriptHit[]> {
    refuseMisfit('searchTranscript', 'options', options, table)
    const { limit } = options
    refuseMisfit('searchTranscript', 'keys', keys, listOf(textShape))
    const asked = [...keys]
    for (const key of asked) namesInTranscriptKey(key)
    assertWhole('The limit of a search', limit, 1)
    const words = searchWords(query)
    const search = (transcripts: Transcripts) =>
      words.length === 0 ? Promise.resolve([]) : transcripts.search(asked, words, limit)
    return (await this.#ofTranscripts(root, search)) ?? []
  }

  async deleteTranscript(root: string, key: string): Promise<void> {
    namesInTranscriptKey(key)
    await this.#ofTranscripts(root, (transcripts) => transcripts.remove(key))
  }

  async delete(world: string): Promise<void> {
    assertName(world)
    this.#assertOpen()
    // Texts and transcripts that are under way keep a database open that nobody holds any more.
    await this.#shelves.get(world)?.settled()
    await this.#shelves.get(world)?.quiet()
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

  /** `undefined` for a root of which nothing is kept; it is not made by being asked for. */
  async #ofTranscripts<T>(root: string, act: (transcripts: Transcripts) => Promise<T>): Promise<T | undefined> {
    assertName(root)
    this.#assertOpen()
    const shelf = this.#shelves.get(root)
    if (shelf) return shelf.withTranscripts(act)
    if (!this.#medium.has(root)) return undefined
    return this.#openShelf(root, holderHere('a look at a transcript')).withTranscripts(act)
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

/** A copy, so that what the caller does with its own changes nothing. */
function checkedAppend(key: string, lines: readonly TranscriptLine[], from: number): Append {
  namesInTranscriptKey(key)
  assertWhole('The place of the first line of an append', from, 0)
  const copies = lines.map((line) => {
    refuseMisfit('appendTranscript', 'lines', line, table)
    const { text, searchable } = line
    if (searchable !== undefined) refuseMisfit('appendTranscript', 'searchable', searchable, textShape)
    return { text, searchable }
  })
  for (const [index, { text }] of copies.entries()) {
    assertLine(text, `the transcript '${key}', ${from + index} from 0,`, { key, line: from + index })
  }
  return { key, lines: copies, from }
}

function assertWhole(what: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw new EntiaError(
    'invalid-argument',
    `${what} has to be a whole number, ${least} or more; ${shortly(value)} came.`,
  )
}
