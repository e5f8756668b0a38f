import type { JournalRow, Post, StoredWorld } from '../port.ts'
import type { Statement } from './connections.ts'
import { pack } from './packed.ts'
import { placeOf } from './place.ts'

/** What one statement does to one world. */
export interface WorldChange {
  readonly id: number
  readonly epoch: number
  /** How many statements have changed it so far. */
  readonly commits: number
  readonly place: string
  readonly tick: number | undefined
  readonly oldest: number | undefined
  readonly newest: number | undefined
  readonly isBusy: boolean | undefined
  readonly rows: readonly JournalRow[]
  readonly snapshots: readonly StoredWorld['snapshot'][]
  /** Snapshots between these ticks fall away, and rows up to `rowsTo`. */
  readonly dropped: { readonly after: number; readonly before: number; readonly rowsTo: number } | undefined
  readonly taken: readonly number[]
  readonly sent: readonly Post[]
}

/** A text for the table of texts. */
export interface TextChange {
  readonly place: string
  readonly root: string
  readonly text: string
}

/** What is written together. */
export interface Changes {
  readonly worlds: readonly WorldChange[]
  /** Letters that no world sends. */
  readonly letters: readonly Post[]
  /** One under each key. */
  readonly texts: readonly TextChange[]
}

export interface StatementPlace {
  readonly schema: string
  /** Where news of letters is given. */
  readonly channel: string
  /** Who holds the worlds. */
  readonly worker: number | undefined
}

/** Which statement of which store object it is, so that what no world sends is written once too. */
export interface StatementNumber {
  /** A UUID. */
  readonly sender: string
  /** Higher than that of every earlier statement of this sender. */
  readonly number: number
}

/** Keys of worlds that fit in one notification of 8,000 bytes. */
const keysPerNotification = 200

/** How long an answer may take, and for each megabyte besides. Then the connection is thought lost, and the statement is sent again. */
const answerMs = 10_000
const answerMsPerMegabyte = 1_000

/**
 * One statement that writes all of it, or of a world that has another holder by now nothing. It answers with the ids of the
 * worlds that it has changed. Sent a second time it changes nothing again, even if it arrives when later ones are done: the
 * commits of its worlds have gone up by then, and so has the number of its sender.
 */
export function commitStatement(changes: Changes, place: StatementPlace, number: StatementNumber): Statement {
  return tickStatement(changes, place) ?? new CommitText(changes, place, number).statement()
}

/** What most commits are, one row of one world, as plain parameters: it takes three quarters of the time. */
function tickStatement({ letters, texts, worlds }: Changes, { schema, worker }: StatementPlace): Statement | undefined {
  const [world, ...others] = worlds
  const [row, ...rows] = world?.rows ?? []
  if (world === undefined || row === undefined) return undefined
  const more = [others, rows, world.snapshots, world.taken, world.sent, letters, texts]
  if (more.some(({ length }) => length > 0)) return undefined
  const { commits, epoch, id, isBusy, newest, oldest, tick } = world
  const line = Buffer.from(row.line)
  return {
    name: 'entia-worlds-tick',
    text: `
      WITH held AS (
        UPDATE ${schema}.worlds SET commits = $3::bigint + 1, tick = $4, oldest = $5, newest = $6, busy = $7, worker = $8
        WHERE id = $1 AND epoch = $2 AND commits = $3 RETURNING id
      ), added AS (
        INSERT INTO ${schema}.rows (world, tick, line) SELECT id, $4, $9 FROM held
      ) SELECT ARRAY[id::text] AS held FROM held`,
    values: [id, epoch, commits, tick, oldest, newest, isBusy, worker, line],
    answerMs: answerMsFor(line.length),
  }
}

function answerMsFor(bytes: number): number {
  return answerMs + (answerMsPerMegabyte * bytes) / 1e6
}

const isOfHolder = (world: string) => `${world} IN (SELECT id FROM held)`
const isFirstTime = 'EXISTS (SELECT FROM sender)'

class CommitText {
  readonly #schema: string
  readonly #values: unknown[] = []
  readonly #bytes = new Bytes()
  #bytesAt = 0
  readonly #parts: string[] = []
  /** Which parts there are: the text of the statement is a function of them. */
  readonly #kinds: string[] = []
  #held = "'{}'::text[]"
  #notified = '0'

  constructor(
    { letters, texts, worlds }: Changes,
    { channel, schema, worker }: StatementPlace,
    number: StatementNumber,
  ) {
    this.#schema = schema
    if (worlds.length > 0) this.#addHeld(worlds, worker)
    if (letters.length + texts.length > 0) this.#addSender(number)
    this.#addRows(worlds)
    this.#addSnapshots(worlds)
    const takes = this.#addTaken(worlds)
    this.#addMail(worlds, letters, takes, channel)
    this.#addTexts(texts)
  }

  statement(): Statement {
    const all = this.#bytes.all()
    if (this.#bytesAt > 0) this.#values[this.#bytesAt - 1] = all
    return {
      name: `entia-${this.#kinds.join('-')}`,
      text: `WITH ${this.#parts.join(',\n')}\nSELECT ${this.#held} AS held, ${this.#notified} AS notified`,
      values: this.#values,
      answerMs: answerMsFor(all.length),
    }
  }

  #addHeld(worlds: readonly WorldChange[], worker: number | undefined): void {
    this.#add('worlds', () => [
      `held AS (
        UPDATE ${this.#schema}.worlds AS w
        SET commits = b.commits + 1, tick = b.tick, oldest = b.oldest, newest = b.newest, busy = b.busy,
          worker = ${this.#value('int', worker)}
        FROM unnest(
          ${this.#column('bigint', worlds, ({ id }) => id)},
          ${this.#column('int', worlds, ({ epoch }) => epoch)},
          ${this.#column('bigint', worlds, ({ commits }) => commits)},
          ${this.#column('bigint', worlds, ({ tick }) => tick)},
          ${this.#column('bigint', worlds, ({ oldest }) => oldest)},
          ${this.#column('bigint', worlds, ({ newest }) => newest)},
          ${this.#column('boolean', worlds, ({ isBusy }) => isBusy)}
        ) AS b (id, epoch, commits, tick, oldest, newest, busy)
        WHERE w.id = b.id AND w.epoch = b.epoch AND w.commits = b.commits
        RETURNING w.id
      )`,
    ])
    this.#held = '(SELECT array_agg(id::text) FROM held)'
  }

  #addSender({ number, sender }: StatementNumber): void {
    this.#add('sender', () => [
      `sender AS (
        INSERT INTO ${this.#schema}.senders AS s (id, number)
        VALUES (${this.#value('uuid', sender)}, ${this.#value('bigint', number)})
        ON CONFLICT (id) DO UPDATE SET number = excluded.number, at = excluded.at WHERE s.number < excluded.number
        RETURNING id
      )`,
    ])
  }

  #addRows(worlds: readonly WorldChange[]): void {
    const rows = worlds.flatMap(({ id, rows: own }) =>
      own.map(({ line, tick }) => ({ id, tick, ...this.#bytes.add(line) })),
    )
    if (rows.length === 0) return
    this.#add('rows', () => [
      `added AS (
        INSERT INTO ${this.#schema}.rows (world, tick, line)
        SELECT b.world, b.tick, ${this.#body()}
        FROM unnest(
          ${this.#column('bigint', rows, ({ id }) => id)},
          ${this.#column('bigint', rows, ({ tick }) => tick)},
          ${this.#sizes(rows)}
        ) AS b (world, tick, start, size)
        WHERE ${isOfHolder('b.world')}
      )`,
    ])
  }

  /** What falls away is never what is written by the same statement, since their order is not known. */
  #addSnapshots(worlds: readonly WorldChange[]): void {
    const snapshots = worlds.flatMap(({ id, snapshots: own }) =>
      own.map(({ lines, tick }) => {
        const { body, bytes } = pack(lines.map((line) => `${line}\n`).join(''))
        return { id, tick, lines: lines.length, bytes, ...this.#bytes.add(body) }
      }),
    )
    if (snapshots.length === 0) return
    const dropped = worlds.flatMap(({ dropped: own, id }) => (own === undefined ? [] : [{ id, ...own }]))
    const ids = this.#column('bigint', dropped, ({ id }) => id)
    this.#add('snapshots', () => [
      `dropped AS (
        DELETE FROM ${this.#schema}.snapshots AS s
        USING unnest(
          ${ids},
          ${this.#column('bigint', dropped, ({ after }) => after)},
          ${this.#column('bigint', dropped, ({ before }) => before)}
        ) AS b (world, after, before)
        WHERE s.world = b.world AND s.tick > b.after AND s.tick < b.before AND ${isOfHolder('b.world')}
      )`,
      `cut AS (
        DELETE FROM ${this.#schema}.rows AS r
        USING unnest(${ids}, ${this.#column('bigint', dropped, ({ rowsTo }) => rowsTo)}) AS b (world, tick)
        WHERE r.world = b.world AND r.tick <= b.tick AND ${isOfHolder('b.world')}
      )`,
      `saved AS (
        INSERT INTO ${this.#schema}.snapshots (world, tick, lines, bytes, body)
        SELECT b.world, b.tick, b.lines, b.bytes, ${this.#body()}
        FROM unnest(
          ${this.#column('bigint', snapshots, ({ id }) => id)},
          ${this.#column('bigint', snapshots, ({ tick }) => tick)},
          ${this.#column('int', snapshots, ({ lines }) => lines)},
          ${this.#column('int', snapshots, ({ bytes }) => bytes)},
          ${this.#sizes(snapshots)}
        ) AS b (world, tick, lines, bytes, start, size)
        WHERE ${isOfHolder('b.world')}
        ON CONFLICT (world, tick) DO UPDATE SET lines = excluded.lines, bytes = excluded.bytes, body = excluded.body
      )`,
    ])
  }

  #addTaken(worlds: readonly WorldChange[]): boolean {
    const taken = worlds.flatMap(({ id, place, taken: own }) => own.map((letter) => ({ id, place, letter })))
    if (taken.length === 0) return false
    this.#add('taken', () => [
      `taken AS (
        DELETE FROM ${this.#schema}.mail AS m
        USING unnest(
          ${this.#column('bigint', taken, ({ id }) => id)},
          ${this.#column('uuid', taken, ({ place }) => place)},
          ${this.#column('bigint', taken, ({ letter }) => letter)}
        ) AS b (world, place, letter)
        WHERE m.id = b.letter AND m.place = b.place AND ${isOfHolder('b.world')}
        RETURNING m.id
      )`,
    ])
    return true
  }

  #addMail(worlds: readonly WorldChange[], letters: readonly Post[], takes: boolean, channel: string): void {
    const mail = [
      ...worlds.flatMap(({ id, sent }) => sent.map((post) => ({ sender: id, ...this.#mailOf(post) }))),
      ...letters.map((post) => ({ sender: undefined, ...this.#mailOf(post) })),
    ]
    if (mail.length === 0) return
    const isFromWorlds = mail[0]?.sender !== undefined
    const mayBeSent = [
      ...(isFromWorlds ? [isOfHolder('b.sender')] : []),
      ...(letters.length > 0 ? [`(b.sender IS NULL AND ${isFirstTime})`] : []),
    ]
    // What is taken goes first: it gives its id free.
    const conditions = [`(${mayBeSent.join(' OR ')})`, ...(takes ? ['(SELECT count(*) FROM taken) >= 0'] : [])]
    const kinds = [...(isFromWorlds ? ['sent'] : []), ...(letters.length > 0 ? ['mail'] : [])]
    this.#add(kinds.join('-'), () => [
      `sent AS (
        INSERT INTO ${this.#schema}.mail (place, root, name, dedup, body)
        SELECT b.place, b.root, b.name, b.dedup, ${this.#body()}
        FROM unnest(
          ${this.#column('bigint', mail, ({ sender }) => sender)},
          ${this.#column('uuid', mail, ({ place }) => place)},
          ${this.#column('text', mail, ({ root }) => root)},
          ${this.#column('text', mail, ({ world }) => world)},
          ${this.#column('uuid', mail, ({ dedup }) => dedup)},
          ${this.#sizes(mail)}
        ) WITH ORDINALITY AS b (sender, place, root, name, dedup, start, size, number)
        WHERE ${conditions.join(' AND ')}
        ORDER BY b.number
        ON CONFLICT DO NOTHING
      )`,
    ])
    const payloads = this.#value('text[]', notifications(mail.map(({ place }) => place)))
    const notify = `pg_notify(${this.#value('text', channel)}, payload)`
    this.#notified = `(SELECT count(${notify}) FROM unnest(${payloads}) AS payload)`
  }

  #addTexts(texts: readonly TextChange[]): void {
    if (texts.length === 0) return
    // In order of their keys, so that two stores do not wait for each other.
    const kept = texts
      .map(({ place, root, text }) => ({ place, root, ...this.#bytes.add(text) }))
      .sort((a, b) => (a.place < b.place ? -1 : 1))
    this.#add('texts', () => [
      `kept AS (
        INSERT INTO ${this.#schema}.texts (place, root, body)
        SELECT b.place, b.root, ${this.#body()}
        FROM unnest(
          ${this.#column('uuid', kept, ({ place }) => place)},
          ${this.#column('text', kept, ({ root }) => root)},
          ${this.#sizes(kept)}
        ) AS b (place, root, start, size)
        WHERE ${isFirstTime}
        ON CONFLICT (place) DO UPDATE SET body = excluded.body
      )`,
    ])
  }

  #mailOf({ id, line, root, world }: Post) {
    return {
      ...placeOf(world, root),
      dedup: id === undefined ? undefined : placeOf(id).place,
      ...this.#bytes.add(line),
    }
  }

  #add(kind: string, parts: () => readonly string[]): void {
    this.#kinds.push(kind)
    this.#parts.push(...parts())
  }

  #value(type: string, value: unknown): string {
    return `$${this.#values.push(value)}::${type}`
  }

  #column<T>(type: string, rows: readonly T[], of: (row: T) => unknown): string {
    return this.#value(`${type}[]`, rows.map(of))
  }

  #sizes(rows: readonly PartOfBytes[]): string {
    return `${this.#column('int', rows, ({ start }) => start)}, ${this.#column('int', rows, ({ size }) => size)}`
  }

  #body(): string {
    if (this.#bytesAt === 0) this.#bytesAt = this.#values.push(undefined)
    return `substring($${this.#bytesAt}::bytea FROM b.start FOR b.size)`
  }
}

function notifications(places: readonly string[]): readonly string[] {
  const keys = [...new Set(places)]
  const texts: string[] = []
  for (let from = 0; from < keys.length; from += keysPerNotification) {
    texts.push(keys.slice(from, from + keysPerNotification).join(','))
  }
  return texts
}

interface PartOfBytes {
  /** The first byte of all is 1. */
  readonly start: number
  readonly size: number
}

/** Many texts as one value: a list of bytes would be sent as text of twice the length. */
class Bytes {
  readonly #parts: Buffer[] = []
  #size = 0

  add(part: Buffer | string): PartOfBytes {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    const start = this.#size + 1
    this.#parts.push(bytes)
    this.#size += bytes.length
    return { start, size: bytes.length }
  }

  all(): Buffer {
    return Buffer.concat(this.#parts)
  }
}
