import { EntiaError } from '../base/entia-error.ts'
import { callback, listOf, refuseMisfit, table, text as textShape } from '../base/option-shapes.ts'
import {
  assertName,
  assertTextKey,
  assertWellFormed,
  assertWhole,
  checkedAppend,
  checkedPost,
  namesInTranscriptKey,
} from './check-arguments.ts'
import { type LockOwner, lockOwner } from './lock-owner.ts'
import type { Database, Medium, Transcripts } from './medium.ts'
import { OpenDatabase, ofRoot } from './open-database.ts'
import type {
  JournalRow,
  ListOptions,
  Post,
  ReadOptions,
  RowsOptions,
  SharedJournal,
  SharedOpenOptions,
  SharedStore,
  StoredWorld,
  TranscriptHit,
  TranscriptLine,
  WorldInfo,
  WorldName,
} from './port.ts'
import { assertContiguous, notKept } from './order.ts'
import { searchWords } from './search-words.ts'

/** How often letters that other processes have sent are looked for. */
const lookEachMs = 1_000

/** The store over any medium: one database a root world, open as long as one of its worlds is. */
export class RootStore implements SharedStore {
  readonly #medium: Medium
  readonly #open = new Map<string, OpenDatabase>()
  readonly #hearers = new Set<(root: string, world: string) => void>()
  #looking: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined

  constructor(medium: Medium) {
    this.#medium = medium
  }

  async open(world: string, options: SharedOpenOptions = {}): Promise<SharedJournal> {
    const root = options.root ?? world
    assertName(world)
    assertName(root)
    this.#assertOpen()
    const owner = lockOwner(options.holder)
    const open = this.#open.get(root)
    if (open?.hasOpenWorlds === false) this.#medium.passTo(root, owner)
    return (open ?? this.#openDatabase(root, owner)).open(world, owner, options)
  }

  async post(post: Post): Promise<void> {
    const { root = post.world, ...letter } = checkedPost(post)
    this.#assertOpen()
    const open = this.#open.get(root)
    if (open) return open.post(ofRoot(root, { ...letter, root }))
    // Who holds the root elsewhere is not asked: letters are entered beside what it commits.
    const database = this.#medium.has(root) ? this.#medium.beside(root) : this.#medium.open(root)
    try {
      database.write([], [], [ofRoot(root, { ...letter, root })])
    } finally {
      database.close()
    }
    this.#announce(root, [post.world])
  }

  on(_: 'letter', hear: (root: string, world: string) => void): () => void {
    refuseMisfit('store.on', 'hear', hear, callback)
    this.#hearers.add(hear)
    this.#listenToOthers()
    return () => {
      this.#hearers.delete(hear)
      this.#listenToOthers()
    }
  }

  async read(world: string, options: ReadOptions = {}): Promise<StoredWorld | undefined> {
    const { root = world, from, to } = options
    assertName(world)
    assertName(root)
    for (const tick of [from, to]) if (tick !== undefined) assertWhole('A tick to read', tick, 0)
    this.#assertOpen()
    await this.#open.get(root)?.settled()
    if (!this.#medium.has(root)) return undefined
    return this.#view(root, (database) => {
      const head = database.head(world)
      if (head === undefined) return undefined
      const first = from ?? to ?? head.tick
      if (to !== undefined && first > to) {
        throw new EntiaError('invalid-argument', `store.read: 'from' must be at most 'to' (${to}), got ${first}.`)
      }
      const stored = database.readPart(world, first, to ?? head.tick)
      if (stored === undefined) throw notKept(world, first, head.oldestSnapshot)
      assertContiguous(world, stored, database.place)
      return stored
    })
  }

  async rows(
    world: string,
    { after, root = world, to = Infinity }: RowsOptions,
  ): Promise<readonly JournalRow[] | undefined> {
    assertName(world)
    assertName(root)
    assertWhole('A tick to read behind', after, 0)
    if (to !== Infinity) assertWhole('A tick to read to', to, 0)
    this.#assertOpen()
    await this.#open.get(root)?.settled()
    if (!this.#medium.has(root)) return undefined
    return this.#view(root, (database) => {
      const rows = database.rowsBehind(world, after, to)
      const [first] = rows
      if (first !== undefined) return first.tick === after + 1 ? rows : undefined
      const newest = database.head(world)?.tick
      // None was asked for, or none is there yet.
      const isWhole = newest === after || (newest !== undefined && to <= after && after < newest)
      return isWhole ? rows : undefined
    })
  }

  async ticks(worlds: readonly WorldName[]): Promise<readonly (number | undefined)[]> {
    this.#assertOpen()
    return worlds.map(({ root, world }) => {
      const place = root ?? world
      if (!this.#medium.has(place)) return undefined
      return this.#view(place, (database) => database.head(world)?.tick)
    })
  }

  async list({ limit, root, sizes = true }: ListOptions = {}): Promise<readonly WorldInfo[]> {
    if (root !== undefined) assertName(root)
    if (limit !== undefined) assertWhole('The limit of store.list', limit, 0)
    this.#assertOpen()
    const all = root === undefined ? this.#medium.roots() : this.#medium.has(root) ? [root] : []
    const roots = limit === undefined ? all : all.toSorted().slice(0, limit)
    const worlds = roots.flatMap((each) => this.#listRoot(each, sizes))
    return worlds.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async putText(root: string, key: string, text: string): Promise<void> {
    assertName(root)
    assertTextKey(key)
    assertWellFormed('text', text)
    this.#assertOpen()
    const open = this.#open.get(root)
    if (open) return open.putText({ key, text })
    this.#look(root, (database) => database.write([], [{ key, text }]))
  }

  async getText(root: string, key: string): Promise<string | undefined> {
    assertName(root)
    assertTextKey(key)
    this.#assertOpen()
    await this.#open.get(root)?.settled()
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
    const open = this.#open.get(root) ?? this.#openDatabase(root, lockOwner('an append to a transcript'))
    return open.withTranscripts((transcripts) => transcripts.append(append))
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
    // Work on texts and transcripts keeps a database open after its last world is closed.
    await this.#open.get(world)?.settled()
    await this.#open.get(world)?.quiet()
    for (const open of this.#open.values()) open.assertFree(world)
    if (this.#medium.has(world)) {
      this.#open.get(world)?.assertFree()
      this.#medium.remove(world)
    } else {
      this.#deleteChild(world)
    }
  }

  close(): Promise<void> {
    clearInterval(this.#looking)
    this.#closing ??= Promise.all([...this.#open.values()].map((open) => open.close())).then(() => undefined)
    return this.#closing
  }

  #announce(root: string, worlds: readonly string[]): void {
    for (const world of worlds) for (const hear of this.#hearers) hear(root, world)
  }

  /** Letters that other processes send are looked for as long as somebody listens. */
  #listenToOthers(): void {
    const isWanted = this.#hearers.size > 0 && this.#medium.isShared && this.#closing === undefined
    if (isWanted === (this.#looking !== undefined)) return
    clearInterval(this.#looking)
    this.#looking = undefined
    if (!isWanted) return
    this.#looking = setInterval(() => {
      for (const [root, open] of this.#open) this.#announce(root, open.names)
    }, lookEachMs).unref()
  }

  #assertOpen(): void {
    if (!this.#closing) return
    throw new EntiaError('store-closed', 'The store is closed, so nothing can be opened in it. Make a new one.')
  }

  #openDatabase(root: string, owner: LockOwner): OpenDatabase {
    const database = this.#medium.open(root, owner)
    const onUnused = (): void => {
      this.#open.delete(root)
      database.close()
    }
    const open = new OpenDatabase(root, database, { onLetters: (worlds) => this.#announce(root, worlds), onUnused })
    this.#open.set(root, open)
    return open
  }

  /** `undefined` for a root that is not there; asking does not make it. */
  async #ofTranscripts<T>(root: string, act: (transcripts: Transcripts) => Promise<T>): Promise<T | undefined> {
    assertName(root)
    this.#assertOpen()
    const open = this.#open.get(root)
    if (open) return open.withTranscripts(act)
    if (!this.#medium.has(root)) return undefined
    return this.#openDatabase(root, lockOwner('a look at a transcript')).withTranscripts(act)
  }

  #listRoot(root: string, sizes: boolean): readonly WorldInfo[] {
    const open = this.#open.get(root)
    // Of a root that is open here, this process has the lock.
    const elsewhere = open === undefined ? this.#medium.holder(root) : undefined
    const held = (name: string): Pick<WorldInfo, 'heldBy'> => {
      const heldBy = elsewhere ?? open?.ownerOf(name)
      return heldBy === undefined ? {} : { heldBy }
    }
    try {
      return this.#view(root, (database) => database.list(sizes)).map((info) => ({ ...info, ...held(info.name) }))
    } catch (error) {
      if (!(error instanceof EntiaError)) throw error
      const sizeBytes = this.#medium.sizeBytes(root)
      return [{ name: root, tick: undefined, sizeBytes, unreadable: error, ...held(root) }]
    }
  }

  /** A child's name does not say its root: every database is searched, open ones first. */
  #deleteChild(world: string): void {
    const roots = new Set([...this.#open.keys(), ...this.#medium.roots()])
    const unread: EntiaError[] = []
    for (const root of roots) {
      try {
        if (this.#look(root, (database) => database.remove(world))) return
      } catch (error) {
        if (!(error instanceof EntiaError)) throw error
        unread.push(error)
      }
    }
    // It may lie in a database that cannot be read now, so it is not known to be missing.
    if (unread[0]) throw unread[0]
    throw new EntiaError('no-such-world', `There is no world '${world}' in this store. See store.list().`, { world })
  }

  /** Reads without the lock. */
  #view<T>(root: string, act: (database: Database) => T): T {
    const open = this.#open.get(root)
    if (open) return act(open.database)
    const database = this.#medium.view(root)
    try {
      return act(database)
    } finally {
      database.close()
    }
  }

  #look<T>(root: string, act: (database: Database) => T): T {
    const open = this.#open.get(root)
    if (open) return act(open.database)
    const database = this.#medium.open(root)
    try {
      return act(database)
    } finally {
      database.close()
    }
  }
}
