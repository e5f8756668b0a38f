import { watchLeaseMs } from '../memory-streams.ts'
import type { Streams, StreamedText, WorldName, WrittenText } from '../port.ts'
import type { Connections } from './connections.ts'
import { placeOf, textIn } from './place.ts'
import type { SqlRow } from './port.ts'

/** A note that somebody watches is renewed no more often: most looks only read. */
const renewEachMs = watchLeaseMs / 4
/** What was written stays for a while after nobody watches, so that a holder that hangs meanwhile finds out. */
const textsLastMs = 4 * watchLeaseMs

/**
 * `watches`: until when somebody watches a world. `streams`: what models write there meanwhile. Neither is logged: a crash of
 * Postgres empties both. A number comes from the transaction, not from a sequence, which would begin anew with the table.
 */
export const streamTables = (schema: string): string => `
  CREATE UNLOGGED TABLE ${schema}.watches (
    place uuid PRIMARY KEY,
    until timestamptz NOT NULL,
    number bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint
  ) WITH (fillfactor = 50);
  CREATE UNLOGGED TABLE ${schema}.streams (
    place uuid NOT NULL,
    id bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    effect bigint NOT NULL,
    epoch integer NOT NULL,
    attempt integer NOT NULL,
    first integer NOT NULL,
    next integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (place, id, effect)
  );
`

const isOld = (row: string): string =>
  `${row}.until < clock_timestamp() - make_interval(secs => ${textsLastMs / 1_000})`

/** The parts of a sweep that remove what nobody watches any more, as items of a WITH. */
export const streamSweep = (schema: string): string => {
  return `unwatched AS (
    DELETE FROM ${schema}.watches AS w WHERE ${isOld('w')}
  ), unwatched_texts AS (
    DELETE FROM ${schema}.streams AS s
    WHERE NOT EXISTS (SELECT FROM ${schema}.watches AS w WHERE w.place = s.place AND NOT ${isOld('w')})
  )`
}

/** What models stream, in tables beside the worlds. */
export class StreamsTable implements Streams {
  readonly #connections: Connections
  readonly #schema: string
  /** When this store last said that it watches a world, by the world's place. */
  readonly #noted = new Map<string, number>()

  constructor(connections: Connections, schema: string) {
    this.#connections = connections
    this.#schema = schema
  }

  async watch(worlds: Parameters<Streams['watch']>[0]): Promise<readonly (readonly WrittenText[])[]> {
    const places = worlds.map(({ root, world }) => placeOf(world, root).place)
    const due = this.#due(places)
    const rows = await this.#connections.run({
      name: 'entia-watch',
      text: `WITH noted AS (
          INSERT INTO ${this.#schema}.watches AS w (place, until)
          SELECT place, clock_timestamp() + make_interval(secs => ${watchLeaseMs / 1_000})
          FROM unnest($3::uuid[]) AS d (place) ORDER BY place
          ON CONFLICT (place) DO UPDATE SET until = excluded.until,
            number = CASE WHEN w.until < clock_timestamp() THEN excluded.number ELSE w.number END
        )
        SELECT s.* FROM unnest($1::uuid[], $2::bigint[]) AS g (place, after)
        JOIN ${this.#schema}.streams AS s ON s.place = g.place AND s.id > g.after ORDER BY s.id`,
      values: [places, worlds.map(({ after }) => after), due],
    })
    const nowMs = performance.now()
    for (const place of due) this.#noted.set(place, nowMs)
    const byPlace = Map.groupBy(rows, ({ place }) => String(place))
    return places.map((place) => (byPlace.get(place) ?? []).map(textOf))
  }

  async watched(worlds: readonly WorldName[]): Promise<readonly (number | undefined)[]> {
    const places = worlds.map(({ root, world }) => placeOf(world, root).place)
    const rows = await this.#connections.run({
      name: 'entia-watched',
      text: `SELECT place, number FROM ${this.#schema}.watches WHERE place = ANY($1::uuid[]) AND until >= clock_timestamp()`,
      values: [places],
    })
    const numbers = new Map(rows.map(({ number, place }) => [place, Number(number)]))
    return places.map((place) => numbers.get(place))
  }

  async write(texts: readonly (WorldName & StreamedText)[]): Promise<void> {
    await this.#connections.run({
      name: 'entia-stream',
      text: `WITH given AS MATERIALIZED (
          SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[], $6::integer[], $7::bytea[])
            AS g (place, effect, epoch, attempt, first, next, body)
        ), replaced AS (
          DELETE FROM ${this.#schema}.streams AS s USING given AS g
          WHERE s.place = g.place AND (s.epoch < g.epoch OR (s.epoch = g.epoch AND s.effect = g.effect AND g.first = 0))
        )
        INSERT INTO ${this.#schema}.streams (place, effect, epoch, attempt, first, next, body)
        SELECT * FROM given WHERE body <> ''`,
      values: [
        texts.map(({ root, world }) => placeOf(world, root).place),
        texts.map(({ effect }) => effect),
        texts.map(({ epoch }) => epoch),
        texts.map(({ attempt }) => attempt),
        texts.map(({ first }) => first),
        texts.map(({ next }) => next),
        texts.map(({ line }) => Buffer.from(line)),
      ],
    })
  }

  /** Places whose note is to be written now. */
  #due(places: readonly string[]): readonly string[] {
    const nowMs = performance.now()
    for (const [place, atMs] of this.#noted) if (atMs + renewEachMs <= nowMs) this.#noted.delete(place)
    return places.filter((place) => !this.#noted.has(place))
  }
}

function textOf({ attempt, body, effect, epoch, first, id, next }: SqlRow): WrittenText {
  return {
    id: Number(id),
    effect: Number(effect),
    epoch: Number(epoch),
    attempt: Number(attempt),
    first: Number(first),
    next: Number(next),
    line: textIn(body),
  }
}
