import { EntiaError } from '../../base/entia-error.ts'
import { listOf, refuseMisfit, table, text as textShape } from '../../base/option-shapes.ts'
import {
  assertName,
  assertTextKey,
  assertWellFormed,
  assertWhole,
  checkedAppend,
  checkedBatch,
  checkedPost,
  namesInTranscriptKey,
} from '../check-arguments.ts'
import { lockedError, lockOwner } from '../lock-owner.ts'
import type {
  JournalRow,
  Post,
  ListOptions,
  ReadOptions,
  RowsOptions,
  SharedJournal,
  SharedOpenOptions,
  StoredWorld,
  Streams,
  TranscriptHit,
  TranscriptLine,
  WorldInfo,
  WorldName,
} from '../port.ts'
import { searchWords } from '../search-words.ts'
import { CommitQueue } from './commit-queue.ts'
import { Connections, keptUntil } from './connections.ts'
import type { DatabaseList } from './database-list.ts'
import type { Dispatcher, Holding, Placement } from './dispatcher.ts'
import { PostgresJournal } from './journal.ts'
import { LetterWatch } from './letter-watch.ts'
import { ListedWorlds } from './listed-worlds.ts'
import { Parking } from './parking.ts'
import { keyIn, keyOf, lockClassOf, nameOfDatabase, placeOf, textIn } from './place.ts'
import { peerNews, PeersTable } from './peers.ts'
import type { DueWorld, Peers, PostgresStore, SessionWorlds, SqlClient, StoreTotals, WorkerInfo } from './port.ts'
import { Presence } from './presence.ts'
import { prepareSchema } from './schema.ts'
import { lineNews } from './session-claims.ts'
import { SessionLineTable } from './session-line.ts'
import { SessionWorldsTable } from './session-worlds.ts'
import { StoredWorlds } from './stored-world.ts'
import { StreamsTable } from './streams.ts'
import { TranscriptsTable } from './transcripts.ts'
import { WorldsTable } from './worlds-table.ts'

export interface PostgresPlace {
  readonly database: string
  readonly direct?: string | undefined
  readonly schema: string
  readonly leaseMs: number
  readonly retryMs: number
  readonly pollMs: number
  readonly maxConnections: number
  readonly note: string
  /** It is one of the databases of a fleet, at this place among them. @default none: it is read and written alone */
  readonly among?: { readonly list: DatabaseList; readonly at: number } | undefined
}

/** Worlds in a Postgres database, held by workers on many machines. */
export class PostgresWorlds implements PostgresStore {
  readonly line: Dispatcher
  readonly sessions: SessionWorlds
  readonly peers: Peers
  readonly streams: Streams
  readonly #schema: string
  readonly #connections: Connections
  readonly #commits: CommitQueue
  readonly #presence: Presence
  readonly #watch: LetterWatch
  readonly #parking: Parking
  readonly #table: WorldsTable
  readonly #listed: ListedWorlds
  readonly #worlds: StoredWorlds
  readonly #transcripts: TranscriptsTable
  /** Those that this store holds, by their places. */
  readonly #open = new Map<string, Promise<PostgresJournal>>()
  /** Each call that takes time. */
  readonly #calls = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor({ among, leaseMs, note, pollMs, schema: name, ...at }: PostgresPlace) {
    const schema = `"${name.replaceAll('"', '""')}"`
    const lockClass = lockClassOf(name)
    const place = `${nameOfDatabase(at.database)}, schema ${name}`
    const channel = `entia_${keyOf(name).replaceAll('-', '')}`
    const prepare = (client: SqlClient): Promise<void> => prepareSchema(client, { schema, name, place, lockClass })
    this.#schema = schema
    this.#connections = new Connections({
      ...at,
      place,
      idleInTransactionMs: leaseMs,
      prepare: async (client) => {
        await prepare(client)
        await among?.list.check(among.at, client)
      },
    })
    among?.list.add(among.at, { place, connect: () => this.#connections.early(), prepare })
    this.#presence = new Presence(
      this.#connections,
      { schema, lockClass, leaseMs, note, entered: `pg_notify('${channel}', '${peerNews}')` },
      (payload) => this.#watch.news(payload),
      () => void this.#watch.look(),
    )
    this.#watch = new LetterWatch(this.#connections, this.#presence, { schema, channel, pollMs })
    this.#commits = new CommitQueue(this.#connections, () => ({ schema, channel, worker: this.#presence.worker }))
    this.#table = new WorldsTable(this.#connections, { schema, channel, lockClass, leaseMs })
    this.#listed = new ListedWorlds(this.#connections, schema, lockClass)
    const worker = (): Promise<number> => this.enter()
    const onNews = (news: string) => (hear: () => void) => {
      this.#assertOpen()
      return this.#watch.onNews(news, hear)
    }
    const [presence, watch] = [this.#presence, this.#watch]
    const shared = { schema, channel, lockClass, worker }
    const line = new SessionLineTable(this.#connections, { ...shared, onNews: onNews(lineNews) })
    this.line = line
    this.sessions = new SessionWorldsTable(shared)
    const holds = (worlds: number, sessions: number) => {
      line.knowHeld(sessions)
      return worlds > this.#open.size ? this.#freeBesides() : undefined
    }
    this.peers = new PeersTable(this.#connections, { ...shared, presence, watch, holds, onNews: onNews(peerNews) })
    this.streams = new StreamsTable(this.#connections, schema)
    this.#parking = new Parking((worlds) => this.#table.park(worlds))
    this.#worlds = new StoredWorlds(this.#connections, schema)
    this.#transcripts = new TranscriptsTable(this.#connections, schema)
  }

  async open(world: string, options: SharedOpenOptions = {}): Promise<SharedJournal> {
    const { holder, record = false, root = world, seize = false } = options
    for (const name of [world, root]) assertName(name)
    this.#assertOpen()
    const at = placeOf(world, root)
    const owner = lockOwner(holder)
    const before = this.#open.get(at.place)
    if (before !== undefined && !seize) throw lockedError(world, (await before).owner, this.#connections.place)
    const take = async (): Promise<PostgresJournal> => {
      const worker = await this.#presence.enter()
      const taken = await this.#table.take(at, owner, worker, seize)
      const { clockOffsetMs } = this.#presence
      // An instant of its own stays as it is.
      const wasDueMs = taken.wasDueMs && taken.wasDueMs - clockOffsetMs
      const held = { ...taken, wasDueMs, place: at.place, name: world, record, isFenced: false, isUncertain: false }
      return new PostgresJournal({
        held,
        at,
        owner,
        commits: this.#commits,
        worlds: this.#worlds,
        place: (first) =>
          this.#connections.repeatable((client) => this.place({ ...first, root }, client, { ...taken, world })),
        park: ({ epoch }, wakeAtMs) => {
          const dueMs = wakeAtMs === undefined ? undefined : wakeAtMs + this.#presence.clockOffsetMs
          return this.#parking.add({ id: taken.id, epoch, wakeAtMs: dueMs })
        },
        onClosed: () => this.#forget(at.place, journal),
      })
    }
    // One world is taken at a time: who seizes it waits until its earlier holder here has it.
    const journal = before === undefined ? take() : before.then(take, take)
    this.#open.set(at.place, journal)
    journal.catch(() => this.#forget(at.place, journal))
    return this.#during(journal)
  }

  read(world: string, options: ReadOptions = {}): Promise<StoredWorld | undefined> {
    return this.#call(async () => {
      const { root = world, from, to } = options
      for (const name of [world, root]) assertName(name)
      for (const tick of [from, to]) if (tick !== undefined) assertWhole('A tick to read', tick, 0)
      await this.#commits.settled()
      const at = placeOf(world, root)
      const start = from ?? to
      if (start === undefined) return this.#worlds.read(world, at, { from: 'newest', to: undefined })
      const [tick] = await this.#worlds.ticks([at])
      if (tick === undefined) return undefined
      if (to !== undefined && start > to) {
        throw new EntiaError('invalid-argument', `store.read: 'from' must be at most 'to' (${to}), got ${start}.`)
      }
      return this.#worlds.read(world, at, { from: start, to: to ?? tick })
    })
  }

  rows(world: string, { after, root = world, to = Infinity }: RowsOptions): Promise<readonly JournalRow[] | undefined> {
    return this.#call(async () => {
      for (const name of [world, root]) assertName(name)
      assertWhole('A tick to read behind', after, 0)
      if (to !== Infinity) assertWhole('A tick to read to', to, 0)
      await this.#commits.settled()
      return this.#worlds.rows(placeOf(world, root), after, to)
    })
  }

  ticks(worlds: readonly WorldName[]): Promise<readonly (number | undefined)[]> {
    return this.#call(() => this.#worlds.ticks(worlds.map(({ root, world }) => placeOf(world, root))))
  }

  list(options: ListOptions = {}): Promise<readonly WorldInfo[]> {
    return this.#call(async () => {
      await this.#commits.settled()
      return this.#listed.list(options)
    })
  }

  post(post: Post): Promise<void> {
    return this.#call(async () => this.#commits.post(checkedPost(post)))
  }

  on(_event: 'letter', hear: (root: string, world: string) => void, only?: WorldName): () => void {
    this.#assertOpen()
    return only === undefined ? this.#watch.on(hear) : this.#watch.onWorld(only, hear)
  }

  get commits(): number {
    return this.#commits.written
  }

  totals(): Promise<StoreTotals> {
    return this.#call(() => this.#table.totals())
  }

  putText(root: string, key: string, text: string): Promise<void> {
    return this.#call(async () => {
      assertName(root)
      assertTextKey(key)
      assertWellFormed('text', text)
      return this.#commits.putText({ place: keyIn(root, key), root: placeOf(root).root, text })
    })
  }

  getText(root: string, key: string): Promise<string | undefined> {
    return this.#call(async () => {
      assertName(root)
      assertTextKey(key)
      await this.#commits.settled()
      const [row] = await this.#connections.run({
        name: 'entia-text',
        text: `SELECT body FROM ${this.#schema}.texts WHERE place = $1`,
        values: [keyIn(root, key)],
      })
      return row && textIn(row['body'])
    })
  }

  appendTranscript(
    root: string,
    key: string,
    lines: readonly TranscriptLine[],
    options: { readonly from: number },
  ): Promise<void> {
    return this.#call(async () => {
      assertName(root)
      refuseMisfit('appendTranscript', 'options', options, table)
      const append = checkedAppend(key, lines, options.from)
      if (append.lines.length > 0) await this.#transcripts.append(root, append)
    })
  }

  transcript(root: string, key: string): Promise<readonly string[] | undefined> {
    return this.#call(async () => {
      this.#checkTranscripts(root, [key])
      return this.#transcripts.read(root, key)
    })
  }

  searchTranscript(
    root: string,
    keys: readonly string[],
    query: string,
    options: { readonly limit: number },
  ): Promise<readonly TranscriptHit[]> {
    return this.#call(async () => {
      refuseMisfit('searchTranscript', 'options', options, table)
      refuseMisfit('searchTranscript', 'keys', keys, listOf(textShape))
      assertWhole('The limit of a search', options.limit, 1)
      this.#checkTranscripts(root, keys)
      const words = searchWords(query)
      return words.length === 0 ? [] : this.#transcripts.search(root, [...keys], words, options.limit)
    })
  }

  deleteTranscript(root: string, key: string): Promise<void> {
    return this.#call(async () => {
      this.#checkTranscripts(root, [key])
      await this.#transcripts.remove(root, key)
    })
  }

  delete(world: string): Promise<void> {
    return this.#call(async () => {
      assertName(world)
      await Promise.all([this.#commits.settled(), this.#transcripts.settled()])
      await this.#table.delete(world)
    })
  }

  close(): Promise<void> {
    return (this.#closing ??= keptUntil(this.#close()))
  }

  enter(can?: string): Promise<number> {
    return this.#call(async () => this.#presence.enter(can))
  }

  workers(): Promise<readonly WorkerInfo[]> {
    return this.#call(async () => this.#table.workers())
  }

  sweep({ isQueueElsewhere = false } = {}): Promise<readonly number[]> {
    return this.#call(() => this.#freeBesides().then(() => this.#table.sweep(isQueueElsewhere)))
  }

  due(limit: number, options: Parameters<PostgresStore['due']>[1] = {}): Promise<readonly DueWorld[]> {
    return this.#call(async () => {
      assertWhole('The limit of store.due', limit, 1)
      return this.#table.due(limit, options)
    })
  }

  hold(world: string, options: Parameters<PostgresStore['hold']>[1]): Promise<boolean> {
    return this.#call(async () => {
      assertName(world)
      assertWellFormed('text', options.reason)
      return this.#table.hold(world, options)
    })
  }

  release(world: string, { root }: { readonly root?: string | undefined } = {}): Promise<void> {
    return this.#call(async () => {
      assertName(world)
      await this.#table.release(world, root)
    })
  }

  transaction<T>(act: (client: SqlClient) => Promise<T>, { isRepeatable = false } = {}): Promise<T> {
    return this.#call(async () => this.#connections[isRepeatable ? 'repeatable' : 'transaction'](act))
  }

  async place(placement: Placement, client: SqlClient, by?: Holding): Promise<boolean> {
    for (const name of [placement.world, placement.root]) assertName(name)
    assertWhole('The tick of a snapshot', placement.tick, 0)
    const { isBusy, lines, tick, world } = placement
    const { snapshot } = checkedBatch({ snapshot: { tick, lines }, isBusy }, world, false)
    this.#assertOpen()
    if (by !== undefined) await this.#worlds.assertHeld(by, placement.root, client)
    return this.#table.place({ ...placement, lines: snapshot?.lines ?? [] }, client)
  }

  async #close(): Promise<void> {
    const closed = await Promise.allSettled(
      [...this.#open.values()].map(async (opening) => {
        const journal = await opening.catch(() => undefined)
        await journal?.close()
      }),
    )
    await Promise.allSettled(this.#calls)
    this.#watch.close()
    await this.#presence.close()
    await this.#connections.close()
    for (const one of closed) if (one.status === 'rejected') throw one.reason
  }

  #freeBesides(): Promise<void> {
    return this.#table.freeBesides(this.#presence.worker, this.#open)
  }

  #forget(place: string, journal: Promise<PostgresJournal>): void {
    if (this.#open.get(place) === journal) this.#open.delete(place)
  }

  #checkTranscripts(root: string, keys: readonly string[]): void {
    assertName(root)
    for (const key of keys) namesInTranscriptKey(key)
  }

  #assertOpen(): void {
    if (!this.#closing) return
    throw new EntiaError('store-closed', 'The store is closed, so nothing can be opened in it. Make a new one.')
  }

  async #call<T>(act: () => Promise<T>): Promise<T> {
    this.#assertOpen()
    return this.#during(act())
  }

  /** Closing waits for it. */
  #during<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call)
    const forget = (): void => void this.#calls.delete(call)
    call.then(forget, forget)
    return call
  }
}
