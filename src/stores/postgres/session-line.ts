import { fencedError } from '../order.ts'
import type { Connections } from './connections.ts'
import type { Dispatcher, Holding, LaunchedSession, SessionClaim, SessionCounts, SlotRequest } from './dispatcher.ts'
import { nameOf, placedWorld, placeOf, textIn } from './place.ts'
import type { SqlRow } from './port.ts'
import { isAlive } from './presence.ts'

export interface LineOptions {
  readonly schema: string
  readonly channel: string
  /** Resolves with the id of this worker. */
  readonly worker: () => Promise<number>
  readonly onNews: (hear: () => void) => () => void
}

/** What is notified when somebody may get a slot. */
export const lineNews = 'line'

/**
 * `line`: sessions that wait for a slot or have been given to a worker. `wants`: it waits for a slot, in line or where it is
 * held; with neither a slot nor that it only waits, and is given to a worker as it is. `rests`: not before a letter, or the instant
 * at which it is due, wakes it. `ahead`: it had a slot before. `claim` counts how often it was given away, so that who had it before
 * changes nothing. `unfit`: until when it is not given to a worker again that cannot drive it; `unfit_since`: nobody could since then.
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
    rests boolean NOT NULL DEFAULT false,
    ahead boolean NOT NULL DEFAULT false,
    unfit jsonb NOT NULL DEFAULT '{}',
    unfit_since timestamptz,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX line_slot ON ${schema}.line (tenant) WHERE slot;
  CREATE INDEX line_worker ON ${schema}.line (worker) WHERE worker IS NOT NULL;
  CREATE INDEX line_resting ON ${schema}.line (place) WHERE rests;
  CREATE INDEX line_waiting ON ${schema}.line (id) WHERE worker IS NULL AND NOT wants AND NOT rests;
  CREATE INDEX line_wants ON ${schema}.line (tenant, ahead DESC, id) WHERE wants AND worker IS NULL;
  ${nextSessions(schema, lockClass)}
`

/** Sessions that only wait, and need no room, are given so many at once. */
const mostWaiting = 100

/**
 * One worker after the other, so that the cap holds: each statement of it sees what the last one has committed. Rows are searched by
 * their keys, whatever is known of a table that was empty a moment ago.
 */
const nextSessions = (schema: string, lockClass: number): string => `
  CREATE FUNCTION ${schema}.next_sessions(me integer, cap integer, tenant_cap integer, room integer,
      suspect_from integer, suspect_below integer, most_suspects integer, channel text)
    RETURNS TABLE (claimed bigint, its_root text, its_name text, its_job bytea, its_strikes integer, has_slot boolean)
    LANGUAGE plpgsql SET enable_seqscan = off AS $body$
  DECLARE
    living integer[];
    suspects uuid[];
    drivers integer;
    free integer;
    granted integer;
    now_ms bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lockClass}, -1);
    SELECT array_agg(w.id), count(w.can) INTO living, drivers FROM ${schema}.workers AS w WHERE ${isAlive('w', lockClass)};
    -- Who is thought dead would lose at once what it is given.
    IF living IS NULL OR me <> ALL (living) THEN RETURN; END IF;
    UPDATE ${schema}.line AS l SET worker = NULL, wants = l.slot OR l.wants, slot = false, ahead = true
      WHERE l.worker IS NOT NULL AND l.worker <> ALL (living);
    SELECT cap - count(*) INTO free FROM ${schema}.line AS l WHERE l.slot;
    UPDATE ${schema}.line AS l SET slot = true, wants = false WHERE l.place IN (
      SELECT w.place FROM ${schema}.line AS w WHERE w.wants AND w.worker IS NOT NULL ORDER BY w.id LIMIT greatest(free, 0));
    GET DIAGNOSTICS granted = ROW_COUNT;
    IF granted > 0 THEN PERFORM pg_notify(channel, '${lineNews}'); END IF;
    room := least(room, free - granted);
    now_ms := extract(epoch FROM clock_timestamp()) * 1000;
    suspects := ARRAY(
      SELECT w.place FROM ${schema}.worlds AS w JOIN ${schema}.line AS l ON l.place = w.place AND l.worker IS NULL
      WHERE w.strikes <> '{}' AND ${strikesOf('w')} >= suspect_from AND ${strikesOf('w')} < suspect_below);
    IF room > 0 THEN
      -- A share, where others could take some, too.
      SELECT least(room, ceil(count(*) / greatest(drivers, 1)::numeric)) INTO room FROM (
        SELECT FROM ${schema}.line AS l WHERE l.wants AND l.worker IS NULL LIMIT room * greatest(drivers, 1)) AS waiting;
    END IF;
    RETURN QUERY
    ${pickedOf(schema)}
    UPDATE ${schema}.line AS l
      SET worker = me, slot = l.wants, wants = false, claim = l.claim + 1, since = clock_timestamp()
      FROM picked AS p WHERE l.place = p.place
      RETURNING l.claim, l.root, l.name, l.job,
        coalesce((SELECT ${strikesOf('w')} FROM ${schema}.worlds AS w WHERE w.place = l.place), 0), l.slot;
  END $body$;
`

/** `picked`: the places of the next sessions, as one statement after the other would give them. */
const pickedOf = (schema: string): string => `
    WITH RECURSIVE tenants (tenant) AS (
      -- Not min(), which bytes have from Postgres 18 on.
      (SELECT l.tenant FROM ${schema}.line AS l WHERE room > 0 AND l.wants AND l.worker IS NULL ORDER BY l.tenant LIMIT 1)
      UNION ALL
      SELECT (SELECT l.tenant FROM ${schema}.line AS l WHERE l.wants AND l.worker IS NULL AND l.tenant > t.tenant
        ORDER BY l.tenant LIMIT 1)
      FROM tenants AS t WHERE t.tenant IS NOT NULL
    ), firsts AS (
      -- The first of each tenant. Each would have its tenant's slots as they are once those before it have theirs.
      SELECT f.place, f.ahead, f.id, s.count + f.nth - 1 AS slots
      FROM tenants AS t
      CROSS JOIN LATERAL (SELECT count(*) FROM ${schema}.line AS l WHERE l.slot AND l.tenant = t.tenant) AS s
      CROSS JOIN LATERAL (
        SELECT l.place, l.ahead, l.id, row_number() OVER (ORDER BY l.ahead DESC, l.id) AS nth FROM ${schema}.line AS l
        WHERE l.tenant = t.tenant AND l.wants AND l.worker IS NULL AND ${isForMe('l')}
        ORDER BY l.ahead DESC, l.id LIMIT greatest(room, 0)
      ) AS f WHERE t.tenant IS NOT NULL
    ), next AS (
      -- One that only waits needs no slot: what has the last one may wait for it.
      (SELECT l.place, 0 AS turn, l.id AS nth FROM ${schema}.line AS l
        WHERE l.worker IS NULL AND NOT l.wants AND NOT l.rests AND ${isForMe('l')} ORDER BY l.id LIMIT ${mostWaiting})
      UNION ALL
      -- The next slot is for the tenant with the fewest.
      (SELECT f.place, 1, row_number() OVER (ORDER BY f.slots, f.ahead DESC, f.id) FROM firsts AS f
        WHERE f.slots < tenant_cap ORDER BY 3 LIMIT greatest(room, 0))
    ), picked AS (
      -- Where a suspect may be among them, one at a time: with it no second one comes.
      SELECT n.place FROM next AS n ORDER BY n.turn, n.nth
        LIMIT CASE WHEN most_suspects > 0 AND cardinality(suspects) > 0 THEN 1 END
    )`

/** Of a holder that has died, and was not swept yet, too. */
function strikesOf(world: string): string {
  return `(cardinality(${world}.strikes) +
    (${world}.worker IS NOT NULL AND ${world}.worker <> me AND ${world}.worker <> ALL (living))::integer)`
}

/** Whether the worker that asks can drive a session, as far as is known, and may. */
function isForMe(session: string): string {
  return `coalesce((${session}.unfit ->> me::text)::bigint, 0) <= now_ms
    AND (most_suspects > 0 OR ${session}.place <> ALL (suspects))`
}

/** The line of sessions that wait for one of the slots that all workers share. */
export class SessionLineTable implements Dispatcher {
  readonly #connections: Connections
  readonly #options: LineOptions

  constructor(connections: Connections, options: LineOptions) {
    this.#connections = connections
    this.#options = options
  }

  on(hear: () => void): () => void {
    return this.#options.onNews(hear)
  }

  async launch({ job, tenant, ...placement }: LaunchedSession, by?: Holding): Promise<void> {
    const { channel, schema } = this.#options
    const holder = by && placeOf(by.world, placement.root).place
    const [row] = await this.#connections.run({
      name: 'entia-line-enter',
      text: `WITH held AS MATERIALIZED (
          SELECT 1 FROM ${schema}.worlds WHERE place = $12 AND epoch = $13 FOR SHARE
        ), placed AS MATERIALIZED (
          SELECT ${schema}.place_world($1, $2, $3, $4, $5, $6, $7, $8) AS is_made
          WHERE $12::uuid IS NULL OR EXISTS (SELECT FROM held)
        ), entered AS (
          INSERT INTO ${schema}.line (place, root, name, tenant, job) SELECT $1, $2, $3, $9, $10 FROM placed WHERE is_made
          ON CONFLICT (place) DO NOTHING RETURNING pg_notify($11, '${lineNews}')
        ) SELECT EXISTS (SELECT FROM held) AS is_held, (SELECT count(*) FROM entered) AS entered`,
      values: [...placedWorld(placement), Buffer.from(tenant), Buffer.from(job), channel, holder, by?.epoch],
    })
    if (by !== undefined && row?.['is_held'] !== true) throw fencedError(by.world, by.epoch)
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

  async next({ cap, room, suspects, tenantCap = cap }: SlotRequest): Promise<readonly SessionClaim[]> {
    const { channel, schema, worker } = this.#options
    const me = await worker()
    const { below = 0, from = 0, most = 1 } = suspects ?? {}
    // One statement: a worker that hangs between two would keep all others from the line.
    const rows = await this.#connections.run({
      name: 'entia-line-next',
      text: `SELECT * FROM ${schema}.next_sessions($1, $2, $3, $4, $5, $6, $7, $8)`,
      values: [me, cap, tenantCap, room, from, below, most, channel],
    })
    return rows.map(claimIn)
  }

  async held(): Promise<readonly SessionClaim[]> {
    const { schema, worker } = this.#options
    const rows = await this.#connections.run({
      name: 'entia-line-held',
      text: `SELECT l.claim::float8 AS claimed, l.root AS its_root, l.name AS its_name, l.job AS its_job, l.slot AS has_slot,
          coalesce(cardinality(w.strikes), 0) AS its_strikes
        FROM ${schema}.line AS l LEFT JOIN ${schema}.worlds AS w ON w.place = l.place WHERE l.worker = $1`,
      values: [await worker()],
    })
    return rows.map(claimIn)
  }

  async giveBack(claim: SessionClaim): Promise<void> {
    await this.#change(claim, 'slot = false, unfit_since = NULL')
  }

  async wantSlot(claim: SessionClaim): Promise<void> {
    await this.#change(claim, 'wants = NOT l.slot, ahead = true')
  }

  async putBack(claim: SessionClaim, unfitMs = 0): Promise<number | undefined> {
    const unfit =
      unfitMs <= 0
        ? 'unfit_since = NULL'
        : `unfit_since = coalesce(l.unfit_since, clock_timestamp()), unfit = l.unfit || jsonb_build_object(l.worker::text,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${Math.ceil(unfitMs)})`
    const [row] = await this.#change(
      claim,
      `worker = NULL, slot = false, wants = l.slot OR l.wants, ahead = true, ${unfit}`,
    )
    return row === undefined || row['unfit_ms'] === null ? undefined : Number(row['unfit_ms'])
  }

  async rest(claim: SessionClaim): Promise<void> {
    await this.#change(
      claim,
      'worker = NULL, slot = false, wants = false, rests = true, ahead = true, unfit_since = NULL',
    )
  }

  /** It compares what is there, since a letter may come while the session is put to rest. */
  async wake(): Promise<void> {
    const { channel, schema } = this.#options
    await this.#connections.run({
      name: 'entia-line-wake',
      text: `WITH resting AS MATERIALIZED (
          SELECT place FROM ${schema}.line WHERE rests
        ), woken AS (
          UPDATE ${schema}.line AS l SET rests = false, since = clock_timestamp() FROM resting AS r
          WHERE l.place = r.place AND l.rests AND (
            EXISTS (SELECT FROM ${schema}.mail AS m WHERE m.place = r.place)
            OR EXISTS (SELECT FROM ${schema}.worlds AS w
              WHERE w.place = r.place AND w.wake_at <= extract(epoch FROM clock_timestamp()) * 1000))
          RETURNING l.place
        ) SELECT pg_notify($1, '${lineNews}') FROM woken LIMIT 1`,
      values: [channel],
    })
  }

  async finish(claim: SessionClaim): Promise<void> {
    const { channel, schema, worker } = this.#options
    await this.#connections.run({
      name: 'entia-line-finish',
      text: `WITH gone AS (DELETE FROM ${schema}.line WHERE place = $1 AND claim = $2 AND worker = $3 RETURNING place),
        letters AS (DELETE FROM ${schema}.mail AS m USING gone WHERE m.place = gone.place)
        SELECT pg_notify($4, '${lineNews}') FROM gone`,
      values: [placeOf(claim.world, claim.root).place, claim.id, await worker(), channel],
    })
  }

  async jobs(root: string): Promise<readonly string[]> {
    const rows = await this.#connections.run({
      text: `SELECT job FROM ${this.#options.schema}.line WHERE root = $1 ORDER BY id`,
      values: [placeOf(root).root],
    })
    return rows.map((row) => textIn(row['job']))
  }

  async remove(worlds: readonly string[], root: string): Promise<void> {
    const { channel, schema } = this.#options
    await this.#connections.run({
      text: `WITH gone AS (DELETE FROM ${schema}.line WHERE place = ANY($1) RETURNING place),
        letters AS (DELETE FROM ${schema}.mail AS m USING gone WHERE m.place = gone.place)
        SELECT pg_notify($2, '${lineNews}') FROM gone LIMIT 1`,
      values: [worlds.map((world) => placeOf(world, root).place), channel],
    })
  }

  /** Whether it has a slot; `undefined`: this worker does not have it any more. */
  async hasSlot(claim: SessionClaim): Promise<boolean | undefined> {
    const { schema, worker } = this.#options
    const [row] = await this.#connections.run({
      name: 'entia-line-slot',
      text: `SELECT slot FROM ${schema}.line WHERE place = $1 AND claim = $2 AND worker = $3`,
      values: [placeOf(claim.world, claim.root).place, claim.id, await worker()],
    })
    return row === undefined ? undefined : row['slot'] === true
  }

  async list() {
    const { schema } = this.#options
    const rows = await this.#connections.run({
      text: `SELECT root, name, tenant, worker, slot, wants, rests,
          extract(epoch FROM clock_timestamp() - since) * 1000 AS age FROM ${schema}.line
        ORDER BY worker IS NULL, rests, ahead DESC, id`,
      values: [],
    })
    return rows.map((row) => ({
      root: nameOf(row['root']),
      world: nameOf(row['name']),
      tenant: textIn(row['tenant']),
      worker: row['worker'] === null ? undefined : Number(row['worker']),
      hasSlot: row['slot'] === true,
      wantsSlot: row['wants'] === true,
      isResting: row['rests'] === true,
      ageMs: Math.max(0, Math.round(Number(row['age']))),
    }))
  }

  async counts(): Promise<SessionCounts> {
    const { schema } = this.#options
    const [row = {}] = await this.#connections.run({
      text: `SELECT (SELECT count(*) FROM ${schema}.line WHERE slot) AS running, (SELECT count(*) FROM ${schema}.line WHERE wants) AS waiting`,
      values: [],
    })
    return { sessionsRunning: Number(row['running']), sessionsWaiting: Number(row['waiting']) }
  }

  /** Its connections are the store's. */
  async close(): Promise<void> {}

  async #change(claim: SessionClaim, set: string): Promise<readonly SqlRow[]> {
    const { channel, schema, worker } = this.#options
    return this.#connections.run({
      text: `WITH changed AS (
          UPDATE ${schema}.line AS l SET ${set} WHERE l.place = $1 AND l.claim = $2 AND l.worker = $3 RETURNING l.unfit_since
        ) SELECT pg_notify($4, '${lineNews}'), extract(epoch FROM clock_timestamp() - unfit_since) * 1000 AS unfit_ms FROM changed`,
      values: [placeOf(claim.world, claim.root).place, claim.id, await worker(), channel],
    })
  }
}

function claimIn(row: SqlRow): SessionClaim {
  return {
    id: Number(row['claimed']),
    root: nameOf(row['its_root']),
    world: nameOf(row['its_name']),
    job: textIn(row['its_job']),
    strikes: Number(row['its_strikes']),
    hasSlot: row['has_slot'] === true,
  }
}
