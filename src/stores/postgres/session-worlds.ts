import type { WorldName } from '../port.ts'
import type { Connections } from './connections.ts'
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
  readonly #connections: Connections
  readonly #options: SessionWorldsOptions

  constructor(connections: Connections, options: SessionWorldsOptions) {
    this.#connections = connections
    this.#options = options
  }

  async due(): Promise<readonly WorldName[]> {
    const { schema } = this.#options
    const rows = await this.#connections.run({
      name: 'entia-sessions-due',
      text: `WITH chosen AS (
          SELECT place FROM ${schema}.worlds WHERE wake_at <= ${nowInMs}
          UNION SELECT place FROM ${schema}.mail WHERE root <> name
        ) SELECT w.root, w.name FROM chosen JOIN ${schema}.worlds AS w USING (place)
          WHERE w.root <> w.name AND w.worker IS NULL AND w.quarantine IS NULL`,
      values: [],
    })
    return rows.map(({ name, root }) => ({ world: nameOf(name), root: nameOf(root) }))
  }

  async strikes(sessions: readonly WorldName[]): Promise<readonly number[]> {
    if (sessions.length === 0) return []
    const { lockClass, schema } = this.#options
    const places = sessions.map(({ root, world }) => placeOf(world, root).place)
    const rows = await this.#connections.run({
      name: 'entia-sessions-strikes',
      text: `SELECT w.place, cardinality(w.strikes) + (w.worker IS NOT NULL AND NOT EXISTS (
            SELECT FROM ${schema}.workers AS l WHERE l.id = w.worker AND ${isAlive('l', lockClass)}))::integer AS strikes
        FROM ${schema}.worlds AS w WHERE w.place = ANY($1::uuid[])`,
      values: [places],
    })
    const byPlace = new Map(rows.map(({ place, strikes }) => [String(place), Number(strikes)]))
    return places.map((place) => byPlace.get(place) ?? 0)
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

  async tell(client: SqlClient): Promise<void> {
    await client.query('SELECT pg_notify($1, $2)', [this.#options.channel, lineNews])
  }
}
