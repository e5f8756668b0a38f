import { SerialByKey } from '../../base/serial.ts'
import type { Append } from '../medium.ts'
import { assertReached, assertRepeated } from '../order.ts'
import type { TranscriptHit } from '../port.ts'
import type { Connections } from './connections.ts'
import { keyIn, placeOf, textIn } from './place.ts'
import type { SqlClient, SqlRow } from './port.ts'
import { type Candidate, countOf, indexed, lexemesOf, markOf, queryOf, ranked } from './transcript-words.ts'

/** How many lines are weighed: those with rare words, and the best of the others by how often they have the words. */
const maxCandidates = 200

/** The transcripts of all roots. Calls for one root run one after the other, in their order. */
export class TranscriptsTable {
  readonly #connections: Connections
  readonly #schema: string
  readonly #work = new SerialByKey()

  constructor(connections: Connections, schema: string) {
    this.#connections = connections
    this.#schema = schema
  }

  append(root: string, append: Append): Promise<void> {
    return this.#work.run(root, async () => {
      if (!(await this.#extend(root, append))) {
        await this.#connections.repeatable((client) => this.#join(client, root, append))
      }
    })
  }

  read(root: string, key: string): Promise<readonly string[] | undefined> {
    return this.#work.run(root, async () => {
      const rows = await this.#connections.run({
        name: 'entia-transcript',
        text: `SELECT l.body FROM ${this.#schema}.transcripts AS t JOIN ${this.#schema}.transcript_lines AS l ON l.transcript = t.id
          WHERE t.place = $1 ORDER BY l.line`,
        values: [keyIn(root, key)],
      })
      return rows.length === 0 ? undefined : rows.map(({ body }) => textIn(body))
    })
  }

  remove(root: string, key: string): Promise<void> {
    return this.#work.run(root, async () => {
      await this.#connections.run({
        text: `WITH gone AS (DELETE FROM ${this.#schema}.transcripts WHERE place = $1 RETURNING id)
          DELETE FROM ${this.#schema}.transcript_lines WHERE transcript IN (SELECT id FROM gone)`,
        values: [keyIn(root, key)],
      })
    })
  }

  search(
    root: string,
    keys: readonly string[],
    words: readonly string[],
    limit: number,
  ): Promise<readonly TranscriptHit[]> {
    return this.#work.run(root, () => this.#search(root, keys, words, limit))
  }

  async settled(): Promise<void> {
    await this.#work.settled()
  }

  /** Appends behind the end, with one statement; `false` if the end is elsewhere. */
  async #extend(root: string, { from, key, lines }: Append): Promise<boolean> {
    const place = keyIn(root, key)
    const [there] = await this.#connections.run({
      name: 'entia-transcript-end',
      text: `SELECT id, lines FROM ${this.#schema}.transcripts WHERE place = $1`,
      values: [place],
    })
    if (Number(there?.['lines'] ?? -1) !== from) return false
    const id = Number(there?.['id'])
    const added = lineValues({ from, key, lines }, id)
    const rows = await this.#connections.run({
      name: 'entia-transcript-extend',
      text: `WITH behind AS (
          UPDATE ${this.#schema}.transcripts SET lines = lines + $3, searchable = searchable + $4, words = words + $5
          WHERE id = $1 AND lines = $2 RETURNING id
        ) ${this.#insertLines('(SELECT id FROM behind)', 6)} RETURNING 1`,
      values: [id, from, lines.length, added.searchable, added.length, ...added.columns],
    })
    return rows.length === lines.length
  }

  /** Appends where a part may be there, or nothing at all. */
  async #join(client: SqlClient, root: string, append: Append): Promise<void> {
    const { from, key, lines } = append
    const { rows } = await client.query(
      `INSERT INTO ${this.#schema}.transcripts AS t (place, root, key, lines, searchable, words) VALUES ($1, $2, $3, 0, 0, 0)
       ON CONFLICT (place) DO UPDATE SET lines = t.lines RETURNING id, lines`,
      [keyIn(root, key), placeOf(root).root, key],
    )
    const [id, lineCount] = [Number(rows[0]?.['id']), Number(rows[0]?.['lines'])]
    assertReached(append, lineCount, this.#connections.place)
    const there = await client.query(
      `SELECT line, body, words IS NOT NULL AS is_indexed FROM ${this.#schema}.transcript_lines
       WHERE transcript = $1 AND line >= $2 AND line < $3 ORDER BY line`,
      [id, from, from + lines.length],
    )
    assertRepeated(
      append,
      there.rows.map(({ body }) => textIn(body)),
      this.#connections.place,
    )
    const unindexed = there.rows.filter((row) => row['is_indexed'] === false).map(({ line }) => Number(line))
    const late = unindexed.flatMap((line) => {
      const { searchable } = lines[line - from] ?? {}
      return searchable === undefined ? [] : [{ line, ...indexed(searchable, id) }]
    })
    for (const { length, line, words } of late) {
      await client.query(
        `UPDATE ${this.#schema}.transcript_lines SET words = $3, length = $4 WHERE transcript = $1 AND line = $2`,
        [id, line, words, length],
      )
    }
    const rest = { key, from: Math.max(from, lineCount), lines: lines.slice(lineCount - from) }
    const added = lineValues(rest, id)
    if (rest.lines.length > 0) await client.query(this.#insertLines('($1::bigint)', 2), [id, ...added.columns])
    await client.query(
      `UPDATE ${this.#schema}.transcripts SET lines = lines + $2, searchable = searchable + $3, words = words + $4 WHERE id = $1`,
      [id, rest.lines.length, added.searchable + late.length, added.length + sum(late.map(({ length }) => length))],
    )
  }

  #insertLines(transcript: string, at: number): string {
    return `INSERT INTO ${this.#schema}.transcript_lines (transcript, line, body, length, words)
      SELECT t.id, b.line, substring($${at}::bytea FROM b.start FOR b.size), b.length, b.words::tsvector
      FROM (SELECT ${transcript} AS id) AS t, unnest(
        $${at + 1}::int[], $${at + 2}::int[], $${at + 3}::int[], $${at + 4}::int[], $${at + 5}::text[]
      ) AS b (line, start, size, length, words) WHERE t.id IS NOT NULL`
  }

  async #search(
    root: string,
    keys: readonly string[],
    words: readonly string[],
    limit: number,
  ): Promise<readonly TranscriptHit[]> {
    const phrases = words.map(lexemesOf).filter((lexemes) => lexemes.length > 0)
    if (phrases.length === 0 || keys.length === 0) return []
    const asked = await this.#connections.run({
      name: 'entia-search-where',
      text: `SELECT id, key, place = ANY($2::uuid[]) AS is_asked, searchable, words FROM ${this.#schema}.transcripts WHERE root = $1`,
      values: [placeOf(root).root, keys.map((key) => keyIn(root, key))],
    })
    const ids = asked.filter((row) => row['is_asked'] === true).map(({ id }) => Number(id))
    if (ids.length === 0) return []
    const found = await this.#connections.run({
      name: 'entia-search',
      text: searchText(this.#schema),
      values: [
        phrases.map((lexemes) => `(${ids.map((id) => `'${markOf(id)}'`).join('|')})&(${queryOf(lexemes)})`),
        phrases.map((lexemes) => `(${queryOf(lexemes)})`).join('|'),
        phrases.flat(),
        Math.max(maxCandidates, limit),
        ids.map((id) => `'${markOf(id)}'`).join('|'),
      ],
    })
    const keyById = new Map(asked.map(({ id, key }) => [Number(id), String(key)]))
    const lines = sum(asked.map(({ searchable }) => Number(searchable)))
    const best = ranked(candidatesIn(found, phrases, keyById), {
      lines,
      averageLength: sum(asked.map((row) => Number(row['words']))) / Math.max(1, lines),
      linesWith: phrases.map((_, phrase) =>
        Number(found[0]?.['counts'] === undefined ? 0 : (found[0]['counts'] as readonly number[])[phrase]),
      ),
    }).slice(0, limit)
    const idByKey = new Map([...keyById].map(([id, key]) => [key, id]))
    const texts = await this.#connections.run({
      name: 'entia-search-texts',
      text: `SELECT l.body FROM unnest($1::bigint[], $2::int[]) WITH ORDINALITY AS b (transcript, line, number)
        JOIN ${this.#schema}.transcript_lines AS l ON l.transcript = b.transcript AND l.line = b.line ORDER BY b.number`,
      values: [best.map(({ key }) => idByKey.get(key)), best.map(({ index }) => index)],
    })
    return best.map(({ index, key }, at) => ({ key, index, text: textIn(texts[at]?.['body']) }))
  }
}

const searchText = (schema: string): string => `
  WITH hits AS MATERIALIZED (
    SELECT q.phrase, hit.transcript, hit.line
    FROM unnest($1::text[]) WITH ORDINALITY AS q (query, phrase)
    CROSS JOIN LATERAL (
      SELECT transcript, line FROM ${schema}.transcript_lines WHERE words @@ q.query::tsquery LIMIT 1000
    ) AS hit
  ), counts AS MATERIALIZED (
    SELECT phrase, count(*)::int AS found FROM hits GROUP BY phrase
  ), best AS MATERIALIZED (
    SELECT transcript, line FROM hits WHERE phrase IN (SELECT phrase FROM counts WHERE found <= $4)
    UNION
    (SELECT transcript, line FROM ${schema}.transcript_lines
      WHERE EXISTS (SELECT FROM counts WHERE found > $4) AND words @@ ('(' || $5 || ')&(' || $2 || ')')::tsquery
      ORDER BY ts_rank(words, $2::tsquery) DESC LIMIT $4)
  )
  SELECT l.transcript, l.line, l.length, u.lexeme, u.positions, c.counts
  FROM best JOIN ${schema}.transcript_lines AS l ON l.transcript = best.transcript AND l.line = best.line
    CROSS JOIN LATERAL (
      SELECT array_agg(lexeme) AS lexeme, json_agg(positions) AS positions FROM unnest(l.words) WHERE lexeme = ANY($3::text[])
    ) AS u
    CROSS JOIN (
      SELECT array_agg(coalesce(found, 0) ORDER BY q.phrase) AS counts
      FROM generate_series(1, cardinality($1::text[])) AS q (phrase) LEFT JOIN counts ON counts.phrase = q.phrase
    ) AS c`

function candidatesIn(
  rows: readonly SqlRow[],
  phrases: readonly (readonly string[])[],
  keys: ReadonlyMap<number, string>,
) {
  return rows.map((row): Candidate => {
    const lexemes = row['lexeme'] as readonly string[]
    const positions = row['positions'] as readonly (readonly number[])[]
    const places = new Map(lexemes.map((lexeme, at) => [lexeme, positions[at] ?? []]))
    return {
      key: keys.get(Number(row['transcript'])) ?? '',
      index: Number(row['line']),
      length: Number(row['length']),
      counts: phrases.map((phrase) => countOf(phrase.map((lexeme) => places.get(lexeme) ?? []))),
    }
  })
}

/** Lines as parameters, and what they add to the numbers of their transcript. */
function lineValues({ from, lines }: Append, transcript: number) {
  const all = lines.map(({ searchable }) => (searchable === undefined ? undefined : indexed(searchable, transcript)))
  const bodies = lines.map(({ text }) => Buffer.from(text))
  let start = 1
  const starts = bodies.map(({ length }) => (start += length) - length)
  return {
    searchable: all.filter((one) => one !== undefined).length,
    length: sum(all.map((one) => one?.length ?? 0)),
    columns: [
      Buffer.concat(bodies),
      lines.map((_, index) => from + index),
      starts,
      bodies.map(({ length }) => length),
      all.map((one) => one?.length),
      all.map((one) => one?.words),
    ],
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
