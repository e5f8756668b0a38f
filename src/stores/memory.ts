import type {
  Append,
  Database,
  Holding,
  JournalHead,
  KeptText,
  LetterTo,
  Medium,
  Transcripts,
  Write,
} from './medium.ts'
import { memoryStreams } from './memory-streams.ts'
import { assertReached, assertRepeated } from './order.ts'
import type { JournalRow, Letter, SharedStore, StoredWorld, TranscriptHit, WorldInfo } from './port.ts'
import { storeOnDemand } from './store-on-demand.ts'
import type { TranscriptIndex } from './transcript-index.ts'

/** A store that lasts as long as the object. It keeps text, so that what is loaded is what was committed. */
export function memoryStore(): SharedStore {
  return { ...storeOnDemand(async () => new MemoryMedium()), streams: memoryStreams() }
}

interface Kept {
  /** In order of their ticks; never empty. */
  readonly snapshots: readonly StoredWorld['snapshot'][]
  readonly rows: JournalRow[]
  /** After the newest tick. */
  readonly isBusy: boolean | undefined
}

interface Waiting extends LetterTo {
  readonly number: number
}

class MemoryMedium implements Medium {
  readonly isShared = false
  readonly #databases = new Map<string, MemoryDatabase>()

  has(root: string): boolean {
    return this.#databases.has(root)
  }

  roots(): readonly string[] {
    return [...this.#databases.keys()]
  }

  open(root: string): Database {
    const database = this.#databases.get(root) ?? new MemoryDatabase(root)
    this.#databases.set(root, database)
    return database
  }

  view(root: string): Database {
    return this.open(root)
  }

  beside(root: string): Database {
    return this.open(root)
  }

  holder(): undefined {}

  passTo(): void {}

  remove(root: string): void {
    this.#databases.delete(root)
  }

  sizeBytes(): number {
    return 0
  }
}

class MemoryDatabase implements Database {
  readonly place = 'memory'
  readonly transcripts = new MemoryTranscripts()
  readonly #root: string
  readonly #worlds = new Map<string, Kept>()
  readonly #texts = new Map<string, string>()
  readonly #holdings = new Map<string, Holding>()
  readonly #letters = new Map<string, Waiting[]>()
  #letterCount = 0

  constructor(root: string) {
    this.#root = root
  }

  head(world: string): JournalHead | undefined {
    const kept = this.#worlds.get(world)
    const oldest = kept?.snapshots[0]
    const newest = kept?.snapshots.at(-1)
    if (!oldest || !newest) return undefined
    const tick = Math.max(newest.tick, kept.rows.at(-1)?.tick ?? 0)
    return { oldestSnapshot: oldest.tick, newestSnapshot: newest.tick, tick }
  }

  lostTicks(): undefined {}

  write(writes: readonly Write[], texts: readonly KeptText[], letters: readonly LetterTo[] = []): void {
    for (const write of writes) this.#write(write)
    for (const { key, text } of texts) this.#texts.set(key, text)
    for (const letter of letters) this.#enter(letter)
  }

  holding(world: string): Holding {
    return this.#holdings.get(world) ?? { epoch: 0, wakeAtMs: undefined }
  }

  park(world: string, wakeAtMs: number | undefined): void {
    this.#holdings.set(world, { ...this.holding(world), wakeAtMs })
  }

  letters(world: string, limit: number): readonly Letter[] {
    const waiting = this.#letters.get(world) ?? []
    return waiting.slice(0, limit).map(({ line, number }) => ({ id: number, line }))
  }

  #write({ world, rows, snapshot, record, isBusy, epoch, isFirst, taken, sent }: Write): void {
    if (isFirst) this.#holdings.set(world, { epoch, wakeAtMs: undefined })
    if (rows.length > 0 || snapshot) {
      const kept: Kept = { ...(this.#worlds.get(world) ?? { snapshots: [], rows: [] }), isBusy }
      for (const row of rows) kept.rows.push(row)
      this.#worlds.set(world, snapshot ? replaced(kept, snapshot, record) : kept)
    }
    const waiting = this.#letters.get(world)
    if (waiting && taken.length > 0) {
      const left = waiting.filter(({ number }) => !taken.includes(number))
      if (left.length === 0) this.#letters.delete(world)
      else this.#letters.set(world, left)
    }
    for (const letter of sent) this.#enter(letter)
  }

  #enter(letter: LetterTo): void {
    const waiting = this.#letters.get(letter.world) ?? []
    if (letter.id !== undefined && waiting.some(({ id }) => id === letter.id)) return
    waiting.push({ ...letter, number: ++this.#letterCount })
    this.#letters.set(letter.world, waiting)
  }

  read(world: string, from: 'newest' | 'oldest'): StoredWorld | undefined {
    const kept = this.#worlds.get(world)
    const snapshot = kept?.snapshots.at(from === 'newest' ? -1 : 0)
    return kept && snapshot && { snapshot, rows: kept.rows.filter((row) => row.tick > snapshot.tick) }
  }

  readPart(world: string, from: number, to: number): StoredWorld | undefined {
    const kept = this.#worlds.get(world)
    const snapshot = kept?.snapshots.findLast(({ tick }) => tick <= from)
    return kept && snapshot && { snapshot, rows: kept.rows.filter(({ tick }) => tick > snapshot.tick && tick <= to) }
  }

  rowsBehind(world: string, tick: number, to: number): readonly JournalRow[] {
    const rows = this.#worlds.get(world)?.rows ?? []
    const first = rows[0]?.tick ?? 0
    // Rows have no gaps: a late part is found without a look at those before it.
    return rows.slice(Math.max(0, tick + 1 - first), Math.max(0, to + 1 - first))
  }

  text(key: string): string | undefined {
    return this.#texts.get(key)
  }

  remove(world: string): boolean {
    const hadLetters = this.#letters.delete(world)
    return this.#worlds.delete(world) || hadLetters
  }

  list(sizes: boolean): readonly WorldInfo[] {
    return [...new Set([...this.#worlds.keys(), ...this.#letters.keys()])].map((name) => {
      const { isBusy, rows = [], snapshots = [] } = this.#worlds.get(name) ?? {}
      const lines = sizes ? [...snapshots.flatMap((snapshot) => snapshot.lines), ...rows.map((row) => row.line)] : []
      const letters = this.#letters.get(name)?.length
      const { wakeAtMs } = this.holding(name)
      return {
        name,
        root: name === this.#root ? undefined : this.#root,
        tick: this.head(name)?.tick,
        isBusy,
        ...(letters !== undefined && { letters }),
        ...(wakeAtMs !== undefined && { wakeAtMs }),
        sizeBytes: sizes ? lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0) : undefined,
      }
    })
  }

  close(): void {}
}

function replaced(kept: Kept, snapshot: StoredWorld['snapshot'], record: boolean): Kept {
  return {
    snapshots: [...(record ? kept.snapshots.filter(({ tick }) => tick < snapshot.tick) : []), snapshot],
    rows: record ? kept.rows : kept.rows.filter((row) => row.tick > snapshot.tick),
    isBusy: kept.isBusy,
  }
}

interface Searchable {
  readonly key: string
  readonly line: number
  readonly searchable: string
}

/** Transcripts that last as long as the object. They are found as those of files are: by SQLite's index, made at the first search. */
class MemoryTranscripts implements Transcripts {
  readonly #texts = new Map<string, string[]>()
  #index: TranscriptIndex | undefined
  /** What the index does not have yet. */
  #unindexed: Searchable[] = []

  async append(append: Append): Promise<void> {
    const { key, lines, from } = append
    const texts = this.#texts.get(key) ?? []
    assertReached(append, texts.length, 'memory')
    assertRepeated(append, texts.slice(from, from + lines.length), 'memory')
    for (const { text } of lines.slice(texts.length - from)) texts.push(text)
    this.#texts.set(key, texts)
    for (const [index, { searchable }] of lines.entries()) {
      if (searchable !== undefined) this.#unindexed.push({ key, line: from + index, searchable })
    }
  }

  async read(key: string): Promise<readonly string[] | undefined> {
    const texts = this.#texts.get(key)
    return texts && [...texts]
  }

  async search(keys: readonly string[], words: readonly string[], limit: number): Promise<readonly TranscriptHit[]> {
    const { memoryTranscriptIndex } = await import('./transcript-index.ts')
    const index = (this.#index ??= memoryTranscriptIndex())
    for (const [key, lines] of Map.groupBy(this.#unindexed, (line) => line.key)) {
      const there = { lines: this.#texts.get(key)?.length ?? 0, bytes: 0 }
      const places = lines.map(({ line, searchable }) => ({ line, searchable, startByte: 0, sizeBytes: 0 }))
      index.announce(key, there, places)
    }
    this.#unindexed = []
    return index.search(keys, words, limit).map(({ key, line }) => ({
      key,
      index: line,
      text: this.#texts.get(key)?.[line] ?? '',
    }))
  }

  async remove(key: string): Promise<void> {
    this.#texts.delete(key)
    this.#index?.remove(key)
    this.#unindexed = this.#unindexed.filter((line) => line.key !== key)
  }
}
