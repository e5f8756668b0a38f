import type { WorldName } from '../port.ts'
import { nameOf, placeOf } from './place.ts'
import type { SessionWorlds, SqlClient } from './port.ts'
import { isAlive } from './presence.ts'
import { lineNews } from './session-claims.ts'
import { nowInMs } from './worlds-table.ts'

export interface SessionWorldsOptions {
  readonly schema: string
  readonly channel: string
  readonly lockClass: number
}

/** The Worlds of sessions, for dispatchers whose queue is not the table of the line. */
export class SessionWorldsTable implements SessionWorlds {
  readonly #options: SessionWorldsOptions

  constructor(options: SessionWorldsOptions) {
    this.#options = options
  }

  async due(client: SqlClient, among?: readonly string[]): Promise<readonly WorldName[]> {
    const { schema } = this.#options
    const { rows } = await client.query(
      `WITH chosen AS (
          SELECT place FROM ${schema}.worlds WHERE wake_at <= ${nowInMs}
          UNION SELECT place FROM ${schema}.mail WHERE root <> name
        ) SELECT w.root, w.name FROM chosen JOIN ${schema}.worlds AS w USING (place)
          WHERE w.root <> w.name AND w.worker IS NULL AND w.quarantine IS NULL AND ($1::uuid[] IS NULL OR w.place = ANY($1))`,
      [among],
    )
    return rows.map(({ name, root }) => ({ world: nameOf(name), root: nameOf(root) }))
  }

  async strikes(sessions: readonly WorldName[], client: SqlClient): Promise<readonly number[]> {
    if (sessions.length === 0) return []
    const { lockClass, schema } = this.#options
    const places = sessions.map(({ root, world }) => placeOf(world, root).place)
    const { rows } = await client.query(
      `SELECT w.place, cardinality(w.strikes) + (w.worker IS NOT NULL AND NOT EXISTS (
            SELECT FROM ${schema}.workers AS l WHERE l.id = w.worker AND ${isAlive('l', lockClass)}))::integer AS strikes
        FROM ${schema}.worlds AS w WHERE w.place = ANY($1::uuid[])`,
      [places],
    )
    const byPlace = new Map(rows.map(({ place, strikes }) => [String(place), Number(strikes)]))
    return places.map((place) => byPlace.get(place) ?? 0)
  }

  async living(workers: readonly number[], client: SqlClient) {
    const { lockClass, schema } = this.#options
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM ${schema}.workers WHERE can IS NOT NULL) AS drivers, coalesce(array_agg(w.id), '{}') AS ids
        FROM ${schema}.workers AS w WHERE w.id = ANY($1::integer[]) AND ${isAlive('w', lockClass)}`,
      [workers],
    )
    const { drivers, ids } = rows[0] ?? {}
    return { ids: new Set(Array.isArray(ids) ? ids.map(Number) : []), drivers: Math.max(1, Number(drivers)) }
  }

  async remove(world: string, root: string, client: SqlClient): Promise<boolean> {
    const { schema } = this.#options
    const { rows } = await client.query(
      `WITH gone AS (
          DELETE FROM ${schema}.worlds WHERE place = $1 AND epoch = 0 AND worker IS NULL RETURNING id, place
        ), snapshots AS (
          DELETE FROM ${schema}.snapshots AS s USING gone WHERE s.world = gone.id
        ), mail AS (
          DELETE FROM ${schema}.mail AS m USING gone WHERE m.place = gone.place
        ) SELECT id FROM gone`,
      [placeOf(world, root).place],
    )
    return rows.length > 0
  }

  async ended(sessions: readonly WorldName[], client: SqlClient): Promise<void> {
    const places = sessions.map(({ root, world }) => placeOf(world, root).place)
    await client.query(`DELETE FROM ${this.#options.schema}.mail WHERE place = ANY($1::uuid[])`, [places])
  }

  async tell(client: SqlClient): Promise<void> {
    await client.query('SELECT pg_notify($1, $2)', [this.#options.channel, lineNews])
  }
}
