import { fencedError } from '../order.ts'
import type { Connections } from './connections.ts'
import type { Dispatcher, Holding, LaunchedSession, SessionClaim, SessionCounts, SlotRequest } from './dispatcher.ts'
import { nameOf, placedWorld, placeOf, textIn } from './place.ts'
import type { SqlRow } from './port.ts'
import { lineNews, wakeSome } from './session-claims.ts'

export interface LineOptions {
  readonly schema: string
  readonly channel: string
  /** Resolves with the id of this worker. */
  readonly worker: () => Promise<number>
  readonly onNews: (hear: () => void) => () => void
}

/**
 * `line`: sessions that wait for a slot or have been given to a worker. `wants`: it waits for a slot, in line or where it is
 * held; with neither a slot nor that it only waits, and is given to a worker as it is. `rests`: not before a letter, or the instant
 * at which it is due, wakes it. `ahead`: it had a slot before. `claim` counts how often it was given away, so that who had it before
 * changes nothing. `unfit`: until when it is not given to a worker again that cannot drive it; `unfit_since`: nobody could since then.
 */
export const lineTables = (schema: string): string => `
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
`

/** The line of sessions that wait for one of the slots that all workers share. */
export class SessionLineTable implements Dispatcher {
  readonly #connections: Connections
  readonly #options: LineOptions
  readonly #hearers = new Set<() => void>()
  /** Others know that this worker has room and found nothing. */
  #waits = false
  /** It is not known that it has no session. */
  #mayHold = true

  constructor(connections: Connections, options: LineOptions) {
    this.#connections = connections
    this.#options = options
  }

  on(hear: () => void): () => void {
    const listener = (): void => hear()
    this.#hearers.add(listener)
    const end = this.#options.onNews(() => {
      // Who is woken does not wait any more, for the others.
      this.#waits = false
      listener()
    })
    return () => {
      this.#hearers.delete(listener)
      end()
    }
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
          ON CONFLICT (place) DO NOTHING RETURNING ${wakeSome(schema, '$11', '1')}
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

  async next(asking: SlotRequest): Promise<readonly SessionClaim[]> {
    const claims = await this.#next(asking)
    const waited = this.#waits
    this.#waits = claims.length === 0 && asking.room > 0
    // What came while it was not known yet that this worker waits has woken another one, or none.
    return this.#waits && !waited ? this.#next(asking) : claims
  }

  async #next({ cap, room, suspects, tenantCap = cap }: SlotRequest): Promise<readonly SessionClaim[]> {
    const { channel, schema, worker } = this.#options
    const me = await worker()
    const { below = 0, from = 0, most = 1 } = suspects ?? {}
    this.#mayHold = true
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
    if (!this.#mayHold) return []
    const rows = await this.#connections.run({
      name: 'entia-line-held',
      text: `SELECT l.claim::float8 AS claimed, l.root AS its_root, l.name AS its_name, l.job AS its_job, l.slot AS has_slot,
          coalesce(cardinality(w.strikes), 0) AS its_strikes
        FROM ${schema}.line AS l LEFT JOIN ${schema}.worlds AS w ON w.place = l.place WHERE l.worker = $1`,
      values: [await worker()],
    })
    return rows.map(claimIn)
  }

  /** This worker had so many sessions when it last asked for the state of all. */
  knowHeld(count: number): void {
    this.#mayHold = count > 0
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
    // Which of the others can drive it is not known.
    const news = unfitMs > 0 ? 'all' : 'some'
    const set = `worker = NULL, slot = false, wants = l.slot OR l.wants, ahead = true, ${unfit}`
    const [row] = await this.#change(claim, set, news)
    return row === undefined || row['unfit_ms'] === null ? undefined : Number(row['unfit_ms'])
  }

  async rest(claim: SessionClaim): Promise<void> {
    await this.#change(
      claim,
      'worker = NULL, slot = false, wants = false, rests = true, ahead = true, unfit_since = NULL',
    )
  }

  /** It compares what is there, since a letter may come while the session is put to rest. */
  async wake(among?: readonly string[]): Promise<void> {
    const { channel, schema } = this.#options
    await this.#connections.run({
      name: 'entia-line-wake',
      text: `WITH resting AS MATERIALIZED (
          SELECT place FROM ${schema}.line WHERE rests AND ($2::uuid[] IS NULL OR place = ANY($2))
        ), woken AS (
          UPDATE ${schema}.line AS l SET rests = false, since = clock_timestamp() FROM resting AS r
          WHERE l.place = r.place AND l.rests AND (
            EXISTS (SELECT FROM ${schema}.mail AS m WHERE m.place = r.place)
            OR EXISTS (SELECT FROM ${schema}.worlds AS w
              WHERE w.place = r.place AND w.wake_at <= extract(epoch FROM clock_timestamp()) * 1000))
          RETURNING l.place
        ) SELECT ${wakeSome(schema, '$1', 'SELECT count(*) FROM woken')} WHERE EXISTS (SELECT FROM woken)`,
      values: [channel, among],
    })
  }

  async finish(claim: SessionClaim): Promise<void> {
    const { channel, schema, worker } = this.#options
    await this.#connections.run({
      name: 'entia-line-finish',
      text: `WITH gone AS (DELETE FROM ${schema}.line WHERE place = $1 AND claim = $2 AND worker = $3 RETURNING place),
        letters AS (DELETE FROM ${schema}.mail AS m USING gone WHERE m.place = gone.place)
        SELECT ${wakeSome(schema, '$4', '1')} FROM gone`,
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
        SELECT ${wakeSome(schema, '$2', 'SELECT count(*) FROM gone')} WHERE EXISTS (SELECT FROM gone)`,
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

  async #change(claim: SessionClaim, set: string, news: 'all' | 'some' = 'some'): Promise<readonly SqlRow[]> {
    const { channel, schema, worker } = this.#options
    const told = news === 'all' ? `pg_notify($4, '${lineNews}')` : wakeSome(schema, '$4', '1')
    const rows = await this.#connections.run({
      text: `WITH changed AS (
          UPDATE ${schema}.line AS l SET ${set} WHERE l.place = $1 AND l.claim = $2 AND l.worker = $3 RETURNING l.unfit_since
        ) SELECT ${told}, extract(epoch FROM clock_timestamp() - unfit_since) * 1000 AS unfit_ms FROM changed`,
      values: [placeOf(claim.world, claim.root).place, claim.id, await worker(), channel],
    })
    // This worker may use what it has left.
    for (const hear of this.#hearers) hear()
    return rows
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
