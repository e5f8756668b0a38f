import { DatabaseSync } from 'node:sqlite'
import { EntiaError } from '../base/entia-error.ts'
import { damaged, explaining, inTransaction } from './sqlite-connection.ts'
import { transcriptTables, waitingWordsTable, wordsTable } from './sqlite-schema.ts'
import { indexedWords } from './search-words.ts'

/** How far a transcript goes: its whole lines, and the bytes that they take. */
export interface Reach {
  readonly lines: number
  readonly bytes: number
}

export interface IndexedLine {
  readonly line: number
  readonly startByte: number
  /** Without its line break. */
  readonly sizeBytes: number
  readonly searchable: string
}

/** A line that was found, by its place. */
export type FoundLine = Omit<IndexedLine, 'searchable'> & { readonly key: string }

export interface TranscriptIndexOptions {
  /** Whether this SQLite has full-text search. @default as it says */
  readonly hasFullText?: boolean
  /** Does all of it or, if it throws, nothing. @default in the database */
  readonly transaction?: (act: () => void) => void
}

/**
 * The full-text index of a root's transcripts, whose tables are made when it is first needed. Every call is synchronous;
 * those that write do it all or not at all. Where SQLite has no full-text search, as in Node 22.13 to 22.15 and 23.6, words
 * are kept until it has, and a search is refused.
 */
export class TranscriptIndex {
  readonly #place: string
  readonly #write: (act: () => void) => void
  readonly #statements: ReturnType<typeof prepare>

  /** @param place for error messages */
  constructor(db: DatabaseSync, place: string, options: TranscriptIndexOptions = {}) {
    const { hasFullText = hasFts5(db), transaction = (act) => inTransaction(db, act) } = options
    this.#write = transaction
    this.#place = place
    this.#transaction(() => makeTables(db, hasFullText))
    try {
      this.#statements = prepare(db, hasFullText)
    } catch (error) {
      throw damaged(place, 'its tables are not those of its schema version', { cause: error })
    }
  }

  /** How far a transcript was when its last append began; `undefined` if there was none. */
  reach(key: string): Reach | undefined {
    const row = explaining(this.#place, () => this.#statements.find.get(key))
    return row && { lines: Number(row['lines']), bytes: Number(row['bytes']) }
  }

  /**
   * Notes what an append is about to do.
   * @param there how far the transcript is; what is known of lines behind that is forgotten, since they are not there
   * @param lines those that are known already stay as they are
   */
  announce(key: string, there: Reach, lines: readonly IndexedLine[]): void {
    this.#transaction(() => {
      this.#statements.put.run(key, there.lines, there.bytes)
      const id = Number(this.#statements.find.get(key)?.['id'])
      this.#forget(id, there.lines)
      for (const { line, startByte, sizeBytes, searchable } of lines) {
        const { changes, lastInsertRowid } = this.#statements.addLine.run(id, line, startByte, sizeBytes)
        if (changes !== 0) this.#statements.addWords.run(lastInsertRowid, indexedWords(searchable))
      }
    })
  }

  remove(key: string): void {
    this.#transaction(() => {
      const id = this.#statements.find.get(key)?.['id']
      if (id === undefined) return
      this.#forget(Number(id), 0)
      this.#statements.drop.run(id)
    })
  }

  /** Best first. @param words one or more */
  search(keys: readonly string[], words: readonly string[], limit: number): readonly FoundLine[] {
    const { search } = this.#statements
    if (search === undefined) throw noFullText(this.#place)
    // In quotes nothing is an operator.
    const match = words.map((word) => `"${word}"`).join(' OR ')
    const rows = explaining(this.#place, () => search.all(match, JSON.stringify(keys), limit))
    return rows.map((row) => ({
      key: String(row['key']),
      line: Number(row['line']),
      startByte: Number(row['start_byte']),
      sizeBytes: Number(row['size_bytes']),
    }))
  }

  #forget(id: number, fromLine: number): void {
    this.#statements.dropWords.run(id, fromLine)
    this.#statements.dropLines.run(id, fromLine)
  }

  #transaction(act: () => void): void {
    explaining(this.#place, () => this.#write(act))
  }
}

export function memoryTranscriptIndex(): TranscriptIndex {
  const db = new DatabaseSync(':memory:')
  return new TranscriptIndex(db, 'memory')
}

function hasFts5(db: DatabaseSync): boolean {
  return db.prepare("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS used").get()?.['used'] === 1
}

function noFullText(place: string): EntiaError {
  return new EntiaError(
    'store-failed',
    `Transcripts in ${place} cannot be searched: the SQLite of Node ${process.versions.node} has no full-text search ` +
      '(FTS5). Use Node 22.16 or newer, or 24; what is written until then is found there.',
    { node: process.versions.node },
  )
}

/** What is there in part was damaged, and is not made again. */
function makeTables(db: DatabaseSync, hasFullText: boolean): void {
  const has = (table: string): boolean =>
    db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) !== undefined
  const isNew = !has('transcripts')
  const isWaiting = has('waiting_words')
  if (isNew) db.exec(transcriptTables)
  if (!hasFullText) {
    if (!isWaiting) db.exec(waitingWordsTable)
    return
  }
  if (isNew || (isWaiting && !has('transcript_words'))) db.exec(wordsTable)
  if (!isWaiting) return
  db.exec(`
    INSERT OR REPLACE INTO transcript_words (rowid, searchable) SELECT id, searchable FROM waiting_words;
    DROP TABLE waiting_words;
  `)
}

function prepare(db: DatabaseSync, hasFullText: boolean) {
  const [words, id] = hasFullText ? ['transcript_words', 'rowid'] : ['waiting_words', 'id']
  return {
    find: db.prepare('SELECT id, lines, bytes FROM transcripts WHERE key = ?'),
    put: db.prepare(`
      INSERT INTO transcripts (key, lines, bytes) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET lines = excluded.lines, bytes = excluded.bytes
    `),
    drop: db.prepare('DELETE FROM transcripts WHERE id = ?'),
    addLine: db.prepare(`
      INSERT INTO transcript_lines (transcript, line, start_byte, size_bytes) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
    `),
    addWords: db.prepare(`INSERT OR REPLACE INTO ${words} (${id}, searchable) VALUES (?, ?)`),
    dropWords: db.prepare(`
      DELETE FROM ${words}
      WHERE ${id} IN (SELECT id FROM transcript_lines WHERE transcript = ? AND line >= ?)
    `),
    dropLines: db.prepare('DELETE FROM transcript_lines WHERE transcript = ? AND line >= ?'),
    search: hasFullText
      ? db.prepare(`
      SELECT key, line, start_byte, size_bytes
      FROM transcript_words
        JOIN transcript_lines ON transcript_lines.id = transcript_words.rowid
        JOIN transcripts ON transcripts.id = transcript
      WHERE transcript_words MATCH ? AND key IN (SELECT value FROM json_each(?))
      ORDER BY bm25(transcript_words), key, line
      LIMIT ?
    `)
      : undefined,
  }
}
