import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { EntiaError } from '../base/entia-error.ts'
import { lazily } from '../base/lazily.ts'
import type { JournalRow, LostTicks, StoredWorld, WorldInfo, Letter } from './port.ts'
import { decodeName, encodeName } from './file-name.ts'
import type { Database, JournalHead, KeptText, Transcripts, Write, Holding, LetterTo } from './medium.ts'
import { NewestTicks } from './newest-ticks.ts'
import { damaged, explaining } from './sqlite-connection.ts'
import { SqliteFiles } from './sqlite-files.ts'
import { TranscriptFolder } from './transcript-folder.ts'
import { TranscriptIndex } from './transcript-index.ts'

export interface DatabasePlace {
  readonly root: string
  readonly file: string
  /** Of the newest ticks. */
  readonly newest: string
  /** Of its transcripts; absolute. */
  readonly transcripts: string
}

/** A root world's database file. What a commit runs are index searches, so none costs more as worlds grow. */
export class SqliteDatabase implements Database {
  readonly place: string
  readonly transcripts: Transcripts
  readonly #root: string
  readonly #db: DatabaseSync
  readonly #statements: ReturnType<typeof prepare>
  readonly #onClosed: () => void
  readonly #files: SqliteFiles
  readonly #newest: NewestTicks

  constructor(db: DatabaseSync, { root, file, newest, transcripts }: DatabasePlace, onClosed: () => void) {
    this.place = file
    // Most databases are opened by somebody who wants no transcript.
    const transaction = (act: () => void): void => this.#files.transaction(act)
    const index = lazily(() => new TranscriptIndex(db, file, { transaction }))
    this.transcripts = new TranscriptFolder(transcripts, index)
    this.#root = root
    this.#db = db
    this.#files = new SqliteFiles(db, file)
    this.#newest = new NewestTicks(newest)
    this.#onClosed = onClosed
    try {
      this.#statements = prepare(db)
    } catch (error) {
      db.close()
      throw damaged(file, 'its tables are not those of its schema version', { cause: error })
    }
  }

  head(world: string): JournalHead | undefined {
    if (this.#files.gone !== undefined) throw this.#files.gone
    return explaining(this.place, () => this.#find(world).head)
  }

  lostTicks(world: string): LostTicks | undefined {
    const newestTick = this.#newest.of(world)
    const tick = newestTick === undefined ? undefined : this.head(world)?.tick
    return newestTick === undefined || (tick ?? -1) >= newestTick ? undefined : { tick, newestTick }
  }

  write(writes: readonly Write[], texts: readonly KeptText[], letters: readonly LetterTo[] = []): void {
    this.#files.transaction(() => {
      for (const write of writes) this.#write(write)
      for (const { key, text } of texts) this.#statements.putText.run(key, text)
      for (const letter of letters) this.#enter(letter)
    })
    for (const { world, rows, snapshot } of writes) {
      if (rows.length > 0 || snapshot) this.#newest.note(world, Math.max(rows.at(-1)?.tick ?? 0, snapshot?.tick ?? 0))
    }
  }

  read(world: string, from: 'newest' | 'oldest'): StoredWorld | undefined {
    return explaining(this.place, () => {
      const { id, head } = this.#find(world)
      if (id === undefined || !head) return undefined
      const tick = from === 'newest' ? head.newestSnapshot : head.oldestSnapshot
      return this.#readFrom(world, id, tick, head.tick)
    })
  }

  readPart(world: string, from: number, to: number): StoredWorld | undefined {
    return explaining(this.place, () => {
      const { id } = this.#find(world)
      const tick = id === undefined ? undefined : this.#statements.snapshotBefore.get(id, from)?.['tick']
      return id === undefined || typeof tick !== 'number' ? undefined : this.#readFrom(world, id, tick, to)
    })
  }

  holding(world: string): Holding {
    return explaining(this.place, () => {
      const row = this.#statements.holding.get(encodeName(world))
      const wakeAtMs = row?.['wake_at']
      return { epoch: Number(row?.['epoch'] ?? 0), wakeAtMs: typeof wakeAtMs === 'number' ? wakeAtMs : undefined }
    })
  }

  park(world: string, wakeAtMs: number | undefined): void {
    if (this.#files.gone !== undefined) return
    this.#files.transaction(() => {
      const id = this.#find(world).id ?? this.#addWorld(world)
      this.#statements.park.run(wakeAtMs ?? null, id)
    })
  }

  letters(world: string, limit: number): readonly Letter[] {
    return explaining(this.place, () => {
      const rows = this.#statements.letters.all(encodeName(world), Math.min(limit, Number.MAX_SAFE_INTEGER))
      return rows.map((row) => ({ id: row['id'] as number, line: row['line'] as string }))
    })
  }

  rowsBehind(world: string, tick: number, to: number): readonly JournalRow[] {
    return explaining(this.place, () => {
      const { id } = this.#find(world)
      const found = id === undefined ? [] : this.#statements.rowsBehind.all(id, tick, id, Math.min(to, 2 ** 40 - 1))
      return found.map((row) => ({ tick: row['tick'] as number, line: row['line'] as string }))
    })
  }

  text(key: string): string | undefined {
    return explaining(this.place, () => this.#statements.text.get(key)?.['text'] as string | undefined)
  }

  remove(world: string): boolean {
    return explaining(this.place, () => {
      const { id } = this.#find(world)
      if (id === undefined) return false
      this.#files.transaction(() => {
        this.#statements.dropRows.run(id, id, 2 ** 40 - 1)
        this.#statements.dropSnapshots.run(id, -1, Number.MAX_SAFE_INTEGER)
        this.#statements.dropLetters.run(id)
        this.#statements.dropWorld.run(id)
      })
      this.#newest.forget(world)
      return true
    })
  }

  list(sizes: boolean): readonly WorldInfo[] {
    return explaining(this.place, () =>
      (sizes ? this.#statements.list : this.#statements.briefList).all().flatMap((row): readonly WorldInfo[] => {
        const name = decodeName(row['name'] as string) ?? ''
        const head = this.#headOf(name, row)
        const root = name === this.#root ? undefined : this.#root
        const letters = row['letters'] as number
        const wakeAtMs = row['wake_at']
        const due = { ...(letters > 0 && { letters }), ...(typeof wakeAtMs === 'number' && { wakeAtMs }) }
        if (!head)
          return letters === 0 ? [] : [{ name, root, tick: undefined, ...due, sizeBytes: sizes ? 0 : undefined }]
        const id = row['id'] as number
        const busy = this.#statements.busy.get(id, id, id, id)?.['busy']
        const isBusy = typeof busy === 'number' ? busy === 1 : undefined
        return [{ name, root, tick: head.tick, isBusy, ...due, sizeBytes: sizes ? (row['size'] as number) : undefined }]
      }),
    )
  }

  close(): void {
    this.#newest.close(this.#files.isSame)
    try {
      explaining(this.place, () => this.#db.close())
    } finally {
      this.#onClosed()
    }
  }

  #readFrom(world: string, id: number, tick: number, to: number): StoredWorld {
    const lines: string[] = []
    for (const { seq, line } of this.#statements.snapshotLines.iterate(id, tick)) {
      if (seq !== lines.length) throw this.#corruptSnapshot(world, `line ${lines.length} of tick ${tick} is missing`)
      lines.push(line as string)
    }
    const rows: JournalRow[] = []
    for (const row of this.#statements.rowsBehind.iterate(id, tick, id, to)) {
      rows.push({ tick: row['tick'] as number, line: row['line'] as string })
    }
    return { snapshot: { tick, lines }, rows }
  }

  /** Rows and snapshots that fall away go first, so that even a full disk has their room for what comes. */
  #write({ world, rows, snapshot, record, isBusy, epoch, isFirst, taken, sent }: Write): void {
    const found = this.#find(world)
    const id = found.id ?? this.#addWorld(world)
    if (isFirst) this.#statements.enterEpoch.run(epoch, id)
    for (const letter of taken) this.#statements.takeLetter.run(letter, id)
    for (const letter of sent) this.#enter(letter)
    const busy = isBusy === undefined ? null : Number(isBusy)
    if (snapshot) {
      this.#statements.dropSnapshots.run(id, record ? snapshot.tick - 1 : -1, snapshot.tick)
      if (!record) this.#statements.dropRows.run(id, id, snapshot.tick)
      for (const [seq, line] of snapshot.lines.entries()) {
        this.#statements.addSnapshotLine.run(id, snapshot.tick, seq, line, busy)
      }
    }
    for (const { tick, line } of rows) {
      if (record || !snapshot || tick > snapshot.tick) this.#statements.addRow.run(id, tick, line, busy)
    }
  }

  #enter({ id, line, world }: LetterTo): void {
    this.#statements.addLetter.run(this.#find(world).id ?? this.#addWorld(world), id ?? null, line)
  }

  #addWorld(world: string): number {
    const id = Number(this.#statements.addWorld.run(encodeName(world)).lastInsertRowid)
    if (id < maxWorlds) return id
    const what = `${this.place} has ${maxWorlds} worlds, which is as many as one database holds`
    throw new EntiaError('store-failed', `${what}. Delete worlds of it with store.delete().`, { file: this.place })
  }

  #find(world: string): { readonly id?: number; readonly head?: JournalHead | undefined } {
    const row = this.#statements.find.get(encodeName(world))
    return row ? { id: row['id'] as number, head: this.#headOf(world, row) } : {}
  }

  /** A world that was entered and never written, as the root is when only children of it were, has no head. */
  #headOf(world: string, row: Record<string, SQLOutputValue>): JournalHead | undefined {
    const { oldest, newest, last } = row
    if (typeof oldest !== 'number' || typeof newest !== 'number') {
      if (last === null) return undefined
      throw this.#corruptSnapshot(world, 'there are rows and no snapshot')
    }
    return { oldestSnapshot: oldest, newestSnapshot: newest, tick: Math.max(newest, Number(last)) }
  }

  #corruptSnapshot(world: string, why: string): EntiaError {
    return new EntiaError(
      'corrupt-snapshot',
      `The snapshot of the world '${world}' in ${this.place} is damaged: ${why}. Put a backup in its place, or remove ` +
        `the world with store.delete('${world}').`,
      { world, place: this.place },
    )
  }
}

/** What the place of a row has room for beside the tick. */
const maxWorlds = 2 ** 23

const heads = `
  id, name,
  (SELECT min(tick) FROM snapshots WHERE world = id) AS oldest,
  (SELECT max(tick) FROM snapshots WHERE world = id) AS newest,
  (SELECT max(place) & 0xffffffffff FROM rows WHERE place BETWEEN id << 40 AND id << 40 | 0xffffffffff) AS last
`

/** Parameters are not numbered: Node 22.13 binds those by name alone. */
function prepare(db: DatabaseSync) {
  return {
    find: db.prepare(`SELECT ${heads} FROM worlds WHERE name = ?`),
    list: db.prepare(`
      SELECT ${heads},
        (SELECT coalesce(sum(octet_length(line)), 0) FROM snapshots WHERE world = id) +
        (SELECT coalesce(sum(octet_length(line)), 0) FROM rows
          WHERE place BETWEEN id << 40 AND id << 40 | 0xffffffffff) AS size,
        (SELECT count(*) FROM letters WHERE world = worlds.id) AS letters, wake_at
      FROM worlds
    `),
    briefList: db.prepare(
      `SELECT ${heads}, (SELECT count(*) FROM letters WHERE world = worlds.id) AS letters, wake_at FROM worlds`,
    ),
    // Of the newest tick: a row's, or, where a snapshot has taken its place, the snapshot's.
    busy: db.prepare(`
      SELECT busy FROM (
        SELECT tick, busy FROM rows WHERE place = (
          SELECT max(place) FROM rows WHERE place BETWEEN ? << 40 AND ? << 40 | 0xffffffffff
        )
        UNION ALL
        SELECT tick, busy FROM snapshots
          WHERE world = ? AND seq = 0 AND tick = (SELECT max(tick) FROM snapshots WHERE world = ?)
      ) ORDER BY tick DESC LIMIT 1
    `),
    snapshotLines: db.prepare('SELECT seq, line FROM snapshots WHERE world = ? AND tick = ? ORDER BY seq'),
    snapshotBefore: db.prepare('SELECT max(tick) AS tick FROM snapshots WHERE world = ? AND tick <= ?'),
    rowsBehind: db.prepare(`
      SELECT tick, line FROM rows
        WHERE place > (? << 40 | ?) AND place <= (? << 40 | ?) ORDER BY place
    `),
    holding: db.prepare('SELECT epoch, wake_at FROM worlds WHERE name = ?'),
    enterEpoch: db.prepare('UPDATE worlds SET epoch = ?, wake_at = NULL WHERE id = ?'),
    park: db.prepare('UPDATE worlds SET wake_at = ? WHERE id = ?'),
    letters: db.prepare(`
      SELECT id, line FROM letters WHERE world = (SELECT id FROM worlds WHERE name = ?) ORDER BY id LIMIT ?
    `),
    addLetter: db.prepare('INSERT INTO letters (world, dedup, line) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    takeLetter: db.prepare('DELETE FROM letters WHERE id = ? AND world = ?'),
    dropLetters: db.prepare('DELETE FROM letters WHERE world = ?'),
    addWorld: db.prepare('INSERT INTO worlds (name) VALUES (?)'),
    addRow: db.prepare('INSERT INTO rows (place, line, busy) VALUES (? << 40 | ?, ?, ?)'),
    addSnapshotLine: db.prepare('INSERT INTO snapshots (world, tick, seq, line, busy) VALUES (?, ?, ?, ?, ?)'),
    text: db.prepare('SELECT text FROM texts WHERE key = ?'),
    putText: db.prepare('INSERT INTO texts VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET text = excluded.text'),
    dropWorld: db.prepare('DELETE FROM worlds WHERE id = ?'),
    dropRows: db.prepare('DELETE FROM rows WHERE place BETWEEN ? << 40 AND (? << 40 | ?)'),
    dropSnapshots: db.prepare('DELETE FROM snapshots WHERE world = ? AND tick > ? AND tick <= ?'),
  }
}
