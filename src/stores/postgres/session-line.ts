import type { Connections } from './connections.ts'
import { nameOf, placeOf, textIn } from './place.ts'
import type { LineClaim, LinePlace, SessionLine, SqlClient } from './port.ts'
import { isAlive } from './presence.ts'

export interface LineOptions {
  readonly schema: string
  readonly channel: string
  /** Resolves with the id of this worker. */
  readonly worker: () => Promise<number>
}

/** What is notified when somebody may get a slot. */
export const lineNews = 'line'

/**
 * `line`: sessions that wait for a slot or have been given to a worker. `wants`: it waits for a slot, in line or where it is
 * held. `ahead`: it had a slot before. `claim` counts how often it was given away, so that who had it before changes nothing.
 */
export const lineTables = (schema: string, lockClass: number): string => `
  CREATE TABLE ${schema}.line (
    id bigint GENERATED ALWAYS AS IDENTITY,
    place uuid NOT NULL PRIMARY KEY,
    root text NOT NULL,
    name text NOT NULL,
    tenant bytea NOT NULL,
    job bytea NOT NULL,
    claim bigint NOT NULL DEFAULT 0,
    worker integer,
    slot boolean NOT NULL DEFAULT false,
    wants boolean NOT NULL DEFAULT true,
    ahead boolean NOT NULL DEFAULT false,
    unfit jsonb NOT NULL DEFAULT '{}',
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX line_slot ON ${schema}.line (tenant) WHERE slot;
  CREATE INDEX line_worker ON ${schema}.line (worker) WHERE worker IS NOT NULL;
  CREATE INDEX line_wants ON ${schema}.line (tenant, ahead DESC, id) WHERE wants AND worker IS NULL;
  -- One at a time, so that the cap holds: each statement of it sees what the last one has committed.
  CREATE FUNCTION ${schema}.next_session(me integer, cap integer, tenant_cap integer)
    RETURNS TABLE (claimed bigint, its_root text, its_name text, its_job bytea, its_strikes integer)
    LANGUAGE plpgsql AS $body$
  DECLARE
    free integer;
    granted integer;
    picked uuid;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lockClass}, -1);
    UPDATE ${schema}.line AS l SET worker = NULL, slot = false, wants = true, ahead = true
      WHERE l.worker IS NOT NULL AND NOT EXISTS (
        SELECT FROM ${schema}.workers AS w WHERE w.id = l.worker AND ${isAlive('w', lockClass)});
    SELECT cap - count(*) INTO free FROM ${schema}.line AS l WHERE l.slot;
    UPDATE ${schema}.line AS l SET slot = true, wants = false WHERE l.place IN (
      SELECT w.place FROM ${schema}.line AS w WHERE w.wants AND w.worker IS NOT NULL ORDER BY w.id LIMIT greatest(free, 0));
    GET DIAGNOSTICS granted = ROW_COUNT;
    IF granted > 0 THEN PERFORM pg_notify(current_setting('entia.channel'), '${lineNews}'); END IF;
    IF free - granted <= 0 THEN RETURN; END IF;
    -- The first of each tenant; of these, that of the tenant with the fewest slots.
    WITH RECURSIVE tenants (tenant) AS (
      (SELECT min(l.tenant) FROM ${schema}.line AS l WHERE l.wants AND l.worker IS NULL)
      UNION ALL
      SELECT (SELECT min(l.tenant) FROM ${schema}.line AS l WHERE l.wants AND l.worker IS NULL AND l.tenant > t.tenant)
      FROM tenants AS t WHERE t.tenant IS NOT NULL
    ), firsts AS (
      SELECT first.*, (SELECT count(*) FROM ${schema}.line AS s WHERE s.slot AND s.tenant = t.tenant) AS slots
      FROM tenants AS t CROSS JOIN LATERAL (
        SELECT l.place, l.ahead, l.id FROM ${schema}.line AS l
        WHERE l.tenant = t.tenant AND l.wants AND l.worker IS NULL
          AND coalesce((l.unfit ->> me::text)::bigint, 0) <= extract(epoch FROM clock_timestamp()) * 1000
        ORDER BY l.ahead DESC, l.id LIMIT 1
      ) AS first WHERE t.tenant IS NOT NULL
    ) SELECT f.place INTO picked FROM firsts AS f WHERE f.slots < tenant_cap ORDER BY f.slots, f.ahead DESC, f.id LIMIT 1;
    RETURN QUERY UPDATE ${schema}.line AS l
      SET worker = me, slot = true, wants = false, claim = l.claim + 1, since = clock_timestamp()
      WHERE l.place = picked
      RETURNING l.claim, l.root, l.name, l.job,
        coalesce((SELECT w.strikes FROM ${schema}.worlds AS w WHERE w.place = l.place), 0);
  END $body$;
`

/** The line of sessions that wait for one of the slots that all workers share. */
export class SessionLineTable implements SessionLine {
  readonly #connections: Connections
  readonly #options: LineOptions

  constructor(connections: Connections, options: LineOptions) {
    this.#connections = connections
    this.#options = options
  }

  async enter({ job, root, tenant, world }: LinePlace, client: SqlClient): Promise<void> {
    const at = placeOf(world, root)
    const { channel, schema } = this.#options
    await client.query(
      `WITH entered AS (
        INSERT INTO ${schema}.line (place, root, name, tenant, job) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (place) DO NOTHING RETURNING place
      ) SELECT pg_notify($6, '${lineNews}') FROM entered`,
      [at.place, at.root, at.world, Buffer.from(tenant), Buffer.from(job), channel],
    )
  }

  async withdraw(world: string, root: string): Promise<boolean> {
    const { schema } = this.#options
    return this.#connections.repeatable(async (client) => {
      const { rows } = await client.query(
        `WITH gone AS (
          DELETE FROM ${schema}.line WHERE place = $1 AND worker IS NULL AND NOT ahead RETURNING place
        ), worlds AS (
          DELETE FROM ${schema}.worlds AS w USING gone WHERE w.place = gone.place RETURNING w.id
        ), snapshots AS (
          DELETE FROM ${schema}.snapshots AS s USING worlds WHERE s.world = worlds.id
        ), mail AS (
          DELETE FROM ${schema}.mail AS m USING gone WHERE m.place = gone.place
        ) SELECT place FROM gone`,
        [placeOf(world, root).place],
      )
      return rows.length > 0
    })
  }

  async position(world: string, root: string): Promise<number | undefined> {
    const { schema } = this.#options
    const [row] = await this.#connections.run({
      text: `SELECT (SELECT count(*) FROM ${schema}.line AS b
          WHERE b.wants AND b.worker IS NULL AND NOT b.ahead AND b.id < l.id) AS before
        FROM ${schema}.line AS l WHERE l.place = $1 AND l.wants AND l.worker IS NULL AND NOT l.ahead`,
      values: [placeOf(world, root).place],
    })
    return row === undefined ? undefined : Number(row['before'])
  }

  async next(cap: number, tenantCap = cap): Promise<LineClaim | undefined> {
    const { channel, schema, worker } = this.#options
    const me = await worker()
    const rows = await this.#connections.repeatable(async (client) => {
      await client.query("SELECT set_config('entia.channel', $1, true)", [channel])
      const found = await client.query(`SELECT * FROM ${schema}.next_session($1, $2, $3)`, [me, cap, tenantCap])
      return found.rows
    })
    const [row] = rows
    if (row === undefined) return undefined
    return {
      id: Number(row['claimed']),
      root: nameOf(row['its_root']),
      world: nameOf(row['its_name']),
      job: textIn(row['its_job']),
      strikes: Number(row['its_strikes']),
    }
  }

  async giveBack(claim: LineClaim): Promise<void> {
    await this.#change(claim, 'slot = false')
  }

  async wantSlot(claim: LineClaim): Promise<void> {
    await this.#change(claim, 'wants = NOT l.slot, ahead = true')
  }

  async putBack(claim: LineClaim, unfitMs = 0): Promise<void> {
    const unfit =
      unfitMs <= 0
        ? ''
        : `, unfit = l.unfit || jsonb_build_object(l.worker::text,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${Math.ceil(unfitMs)})`
    await this.#change(claim, `worker = NULL, slot = false, wants = true, ahead = true${unfit}`)
  }

  async finish(claim: LineClaim): Promise<void> {
    const { channel, schema, worker } = this.#options
    await this.#connections.run({
      name: 'entia-line-finish',
      text: `WITH gone AS (DELETE FROM ${schema}.line WHERE place = $1 AND claim = $2 AND worker = $3 RETURNING place)
        SELECT pg_notify($4, '${lineNews}') FROM gone`,
      values: [placeOf(claim.world, claim.root).place, claim.id, await worker(), channel],
    })
  }

  /** Whether it has a slot; `undefined`: this worker does not have it any more. */
  async hasSlot(claim: LineClaim): Promise<boolean | undefined> {
    const { schema, worker } = this.#options
    const [row] = await this.#connections.run({
      name: 'entia-line-slot',
      text: `SELECT slot FROM ${schema}.line WHERE place = $1 AND claim = $2 AND worker = $3`,
      values: [placeOf(claim.world, claim.root).place, claim.id, await worker()],
    })
    return row === undefined ? undefined : row['slot'] === true
  }

  async held() {
    const { schema, worker } = this.#options
    const rows = await this.#connections.run({
      name: 'entia-line-held',
      text: `SELECT root, name, true AS is_session FROM ${schema}.line WHERE worker = $1
        UNION ALL SELECT root, name, false FROM ${schema}.worlds WHERE worker = $1 AND root = name`,
      values: [await worker()],
    })
    return rows.map((row) => ({
      root: nameOf(row['root']),
      world: nameOf(row['name']),
      isSession: row['is_session'] === true,
    }))
  }

  async list() {
    const { schema } = this.#options
    const rows = await this.#connections.run({
      text: `SELECT root, name, tenant, worker, slot, wants, ahead, id,
          extract(epoch FROM clock_timestamp() - since) * 1000 AS age FROM ${schema}.line
        ORDER BY worker IS NULL, ahead DESC, id`,
      values: [],
    })
    return rows.map((row) => ({
      root: nameOf(row['root']),
      world: nameOf(row['name']),
      tenant: textIn(row['tenant']),
      worker: row['worker'] === null ? undefined : Number(row['worker']),
      hasSlot: row['slot'] === true,
      wantsSlot: row['wants'] === true,
      ageMs: Math.max(0, Math.round(Number(row['age']))),
    }))
  }

  async #change(claim: LineClaim, set: string): Promise<void> {
    const { channel, schema, worker } = this.#options
    await this.#connections.run({
      text: `WITH changed AS (
          UPDATE ${schema}.line AS l SET ${set} WHERE l.place = $1 AND l.claim = $2 AND l.worker = $3 RETURNING l.place
        ) SELECT pg_notify($4, '${lineNews}') FROM changed`,
      values: [placeOf(claim.world, claim.root).place, claim.id, await worker(), channel],
    })
  }
}
