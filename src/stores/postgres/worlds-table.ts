import { EntiaError } from '../../base/entia-error.ts'
import { encodeName } from '../file-name.ts'
import { type LockOwner, lockedError } from '../lock-owner.ts'
import { stateIn } from './commit-queue.ts'
import type { Connections } from './connections.ts'
import type { Placement } from './dispatcher.ts'
import type { Parked } from './parking.ts'
import { nameOf, placedWorld, placeOf, textIn, type WorldPlace } from './place.ts'
import type { DueWorld, PostgresStore, SqlClient, SqlRow, StoreTotals, WorkerInfo } from './port.ts'
import { isAlive, struck } from './presence.ts'
import { sweepIn } from './sweep.ts'

/** A holder may let go between a refusal and the question who it is. */
const maxOpenTries = 3
/** How often it is looked for what workers hold that are in the list no more: all that is held is compared with it. */
const orphansEachMs = 5_000

export interface WorldsTableOptions {
  readonly schema: string
  readonly channel: string
  readonly lockClass: number
  readonly leaseMs: number
}

/** What is done with worlds as a whole: who holds them, what there is, what is due. */
export class WorldsTable {
  readonly #connections: Connections
  readonly #schema: string
  readonly #lockClass: number
  readonly #leaseMs: number
  readonly #channel: string
  #orphansSoughtAt = -Infinity

  constructor(connections: Connections, { channel, leaseMs, lockClass, schema }: WorldsTableOptions) {
    this.#connections = connections
    this.#schema = schema
    this.#lockClass = lockClass
    this.#leaseMs = leaseMs
    this.#channel = channel
  }

  /**
   * Makes this worker the holder, under the next epoch.
   * @throws `world-locked` while a living worker holds it, unless it is seized
   */
  async take(at: WorldPlace, owner: LockOwner, worker: number, seize: boolean) {
    for (let tries = 1; ; tries++) {
      const [row] = await this.#connections.run({
        name: 'entia-take',
        text: `
          INSERT INTO ${this.#schema}.worlds AS w (place, root, name, epoch, worker, holder, since)
          VALUES ($1, $2, $3, 1, $4, $5, clock_timestamp())
          ON CONFLICT (place) DO UPDATE SET
            wake_at = CASE WHEN w.worker IS NULL THEN w.wake_at END, epoch = w.epoch + 1, worker = excluded.worker, holder = excluded.holder, since = excluded.since,
            strikes = CASE WHEN w.worker <> $4 AND NOT ${this.#isHeld('w')} THEN ${struck('w')} ELSE w.strikes END
          WHERE w.worker IS NULL OR w.worker = $4 OR $6 OR NOT ${this.#isHeld('w')}
          RETURNING id, epoch, commits, tick, oldest, newest, busy, wake_at`,
        values: [at.place, at.root, at.world, worker, Buffer.from(owner.holder), seize],
      })
      if (row !== undefined) {
        const wakeAt = row['wake_at']
        return { id: Number(row['id']), ...stateIn(row), wasDueMs: wakeAt === null ? undefined : Number(wakeAt) }
      }
      const holder = await this.#holder(at)
      if (holder !== undefined || tries === maxOpenTries) {
        throw lockedError(nameOf(at.world), holder, this.#connections.place)
      }
    }
  }

  /** Gives worlds free, unless they have another holder by now. Those that were never written are forgotten. */
  async park(worlds: readonly Parked[]) {
    const values = [
      worlds.map(({ id }) => id),
      worlds.map(({ epoch }) => epoch),
      worlds.map(({ wakeAtMs }) => wakeAtMs),
    ]
    await this.#connections.write({
      name: 'entia-park',
      text: `WITH given AS (
          SELECT * FROM unnest($1::bigint[], $2::int[], $3::bigint[]) AS b (id, epoch, wake_at)
        ), forgotten AS (
          DELETE FROM ${this.#schema}.worlds AS w USING given AS b
          WHERE w.id = b.id AND w.epoch = b.epoch AND w.tick IS NULL AND b.wake_at IS NULL
        )
        UPDATE ${this.#schema}.worlds AS w SET worker = NULL, holder = NULL, strikes = '{}', wake_at = b.wake_at
        FROM given AS b WHERE w.id = b.id AND w.epoch = b.epoch AND (w.tick IS NOT NULL OR b.wake_at IS NOT NULL)`,
      values,
    })
  }

  /** Removes a world and what belongs to it. @throws `no-such-world`, `world-locked` */
  async delete(world: string): Promise<void> {
    const { place, root } = placeOf(world)
    await this.#connections.repeatable(async (client) => {
      const rows = (where: string, key: string) =>
        client.query(
          `SELECT id, place, name, (worker IS NOT NULL AND ${this.#isHeld('w')}) AS is_held
           FROM ${this.#schema}.worlds AS w WHERE ${where} ORDER BY root <> name, id FOR UPDATE`,
          [key],
        )
      const own = (await rows('w.place = $1', place)).rows
      const children = (await rows('w.root = $1 AND w.root <> w.name', root)).rows
      if (own.length + children.length > 0 || (await this.#hasMore(client, root))) {
        await this.#remove(client, [...own, ...children])
        for (const table of ['mail', 'texts'])
          await client.query(`DELETE FROM ${this.#schema}.${table} WHERE root = $1`, [root])
        await this.#removeTranscripts(client, root)
        return
      }
      // A child's name does not say its root.
      const [child] = (await rows('w.name = $1 AND w.root <> w.name', root)).rows
      if (child !== undefined) return this.#remove(client, [child])
      const mail = await client.query(`DELETE FROM ${this.#schema}.mail WHERE name = $1 RETURNING id`, [root])
      if (mail.rows.length > 0) return
      throw noSuchWorld(world)
    })
  }

  async workers(): Promise<readonly WorkerInfo[]> {
    const rows = await this.#connections.run({
      text: `SELECT id, pid, host, note, ${this.#isAlive('w')} AS is_alive,
          extract(epoch FROM clock_timestamp() - seen) * 1000 AS seen_ms,
          (SELECT count(*) FROM ${this.#schema}.worlds AS h WHERE h.worker = w.id AND h.root = h.name) AS worlds,
          (SELECT count(*) FROM ${this.#schema}.worlds AS h WHERE h.worker = w.id AND h.root <> h.name) AS sessions
        FROM ${this.#schema}.workers AS w ORDER BY id`,
      values: [],
    })
    return rows.map((row) => ({
      id: Number(row['id']),
      pid: Number(row['pid']),
      host: String(row['host']),
      note: textIn(row['note']),
      seenMs: Math.max(0, Math.round(Number(row['seen_ms']))),
      isAlive: row['is_alive'] === true,
      worlds: Number(row['worlds']),
      sessions: Number(row['sessions']),
    }))
  }

  async totals(): Promise<StoreTotals> {
    const of = (table: string): string => `${this.#schema}.${table}`
    const [row = {}] = await this.#connections.run({
      text: `SELECT (SELECT count(*) FROM ${of('workers')} AS w WHERE ${this.#isAlive('w')}) AS workers,
        (SELECT count(*) FROM ${of('worlds')} WHERE quarantine IS NOT NULL) AS quarantined,
        (SELECT count(*) FROM ${of('mail')}) AS letters,
        (SELECT extract(epoch FROM clock_timestamp() - at) * 1000 FROM ${of('mail')} ORDER BY id LIMIT 1) AS oldest`,
      values: [],
    })
    return {
      workersAlive: Number(row['workers']),
      worldsQuarantined: Number(row['quarantined']),
      lettersWaiting: Number(row['letters']),
      oldestLetterMs: Math.max(0, Math.round(Number(row['oldest'] ?? 0))),
    }
  }

  /**
   * Frees what a worker holds without knowing it: a statement that took a world may come late, when it was closed again.
   * @param open by the places of those that it knows, also while this is under way
   */
  async freeBesides(worker: number | undefined, open: ReadonlyMap<string, unknown>): Promise<void> {
    if (worker === undefined) return
    const rows = await this.#connections.run({
      name: 'entia-held-besides',
      text: `SELECT id, place, epoch FROM ${this.#schema}.worlds WHERE worker = $1 AND place <> ALL($2::uuid[])`,
      values: [worker, [...open.keys()]],
    })
    const unknown = rows.filter(({ place }) => !open.has(String(place)))
    if (unknown.length === 0) return
    await this.park(unknown.map(({ epoch, id }) => ({ id: Number(id), epoch: Number(epoch), wakeAtMs: 0 })))
  }

  async sweep(isQueueElsewhere: boolean): Promise<readonly number[]> {
    const nowMs = performance.now()
    const hasOrphans = nowMs > this.#orphansSoughtAt + orphansEachMs
    if (hasOrphans) this.#orphansSoughtAt = nowMs
    const rows = await this.#connections.run({
      name: 'entia-sweep',
      text: sweepIn({ schema: this.#schema, dead: `NOT ${this.#isAlive('w')}` }),
      values: [hasOrphans, this.#channel, isQueueElsewhere],
    })
    return rows.map(({ id }) => Number(id))
  }

  async due(
    limit: number,
    { except = [], kinds, suspects }: NonNullable<Parameters<PostgresStore['due']>[1]>,
  ): Promise<readonly DueWorld[]> {
    const { below = 0, from = 0, most = 1 } = suspects ?? {}
    const rows = await this.#connections.run({
      name: 'entia-due',
      text: `
        WITH RECURSIVE dead AS MATERIALIZED (SELECT id FROM ${this.#schema}.workers AS w WHERE NOT ${this.#isAlive('w')}),
        boxes (place, root, name, since) AS (
          (SELECT place, root, name, at FROM ${this.#schema}.mail ORDER BY place, id LIMIT 1)
          UNION ALL
          SELECT next.* FROM boxes CROSS JOIN LATERAL (
            SELECT place, root, name, at FROM ${this.#schema}.mail AS m WHERE m.place > boxes.place ORDER BY place, id LIMIT 1
          ) AS next
        ), due AS (
          (SELECT b.place, b.root, b.name, extract(epoch FROM b.since) * 1000 AS since
            FROM boxes AS b LEFT JOIN ${this.#schema}.worlds AS w ON w.place = b.place
            WHERE b.root = b.name AND ${isForUs('w', 'b.root')} LIMIT $1)
          UNION ALL
          (SELECT w.place, w.root, w.name, w.wake_at FROM ${this.#schema}.worlds AS w
            WHERE w.wake_at <= ${nowInMs} AND w.root = w.name AND ${isForUs('w', 'w.root')}
            ORDER BY w.wake_at LIMIT $1)
          UNION ALL
          (SELECT w.place, w.root, w.name, 0 FROM dead JOIN ${this.#schema}.worlds AS w ON w.worker = dead.id
            WHERE w.root = w.name AND w.tick IS NOT NULL AND w.busy IS NOT FALSE AND ${isForUs('w', 'w.root')} LIMIT $1)
        ), first AS (
          SELECT place, root, name, min(since) AS since FROM due GROUP BY place, root, name ORDER BY since LIMIT $1
        )
        SELECT f.root, f.name, coalesce(w.epoch, 0) AS epoch, coalesce(${strikesOfDue('w')}, 0) AS strikes,
          greatest(extract(epoch FROM clock_timestamp()) * 1000 - f.since, 0) AS waited
        FROM first AS f LEFT JOIN ${this.#schema}.worlds AS w ON w.place = f.place ORDER BY f.since`,
      values: [limit, kinds?.map(encodeName), encodeName('/'), except.map(encodeName), from, most === 0 ? below : 0],
    })
    const due = rows.map((row) => ({
      name: nameOf(row['name']),
      root: nameOf(row['root']),
      epoch: Number(row['epoch']),
      strikes: Number(row['strikes']),
      waitedMs: Number(row['waited']),
    }))
    const [, ...others] = due.filter(({ strikes }) => from <= strikes && strikes < below)
    return due.filter((world) => !others.includes(world))
  }

  /**
   * Where strikes are asked for, who lives takes its strike back within its lease, so that is waited for.
   * @returns false where they are not there
   */
  async hold(world: string, { reason, root, seize = false, strikes }: Parameters<PostgresStore['hold']>[1]) {
    const { place } = placeOf(world, root)
    const rows = await this.#connections.run({
      text: `UPDATE ${this.#schema}.worlds AS w SET quarantine = $2, epoch = w.epoch + $3::int,
          worker = CASE WHEN $3 = 1 THEN NULL ELSE w.worker END, holder = CASE WHEN $3 = 1 THEN NULL ELSE w.holder END,
          wake_at = CASE WHEN $3 = 1 AND w.busy IS NOT FALSE THEN 0 ELSE w.wake_at END
        WHERE w.place = $1 AND ($4::int IS NULL OR w.worker IS NULL AND cardinality(w.strikes) >= $4
          AND w.since < clock_timestamp() - make_interval(secs => ${this.#leaseMs / 1_000})) RETURNING id`,
      values: [place, Buffer.from(reason), seize ? 1 : 0, strikes],
    })
    if (rows.length === 0 && strikes === undefined) throw noSuchWorld(world)
    return rows.length > 0
  }

  async release(world: string, root: string | undefined): Promise<void> {
    const rows = await this.#connections.run({
      text: `UPDATE ${this.#schema}.worlds SET quarantine = NULL, strikes = '{}' WHERE place = $1 RETURNING id`,
      values: [placeOf(world, root).place],
    })
    if (rows.length === 0) throw noSuchWorld(world)
  }

  async place(placement: Placement, client: SqlClient): Promise<boolean> {
    const { rows } = await client.query(
      `SELECT ${this.#schema}.place_world($1, $2, $3, $4, $5, $6, $7, $8) AS is_made`,
      placedWorld(placement),
    )
    return rows[0]?.['is_made'] === true
  }

  /** @param client within whose transaction it is asked. @default none */
  async #holder({ place }: Pick<WorldPlace, 'place'>, client?: SqlClient): Promise<LockOwner | undefined> {
    const text = `SELECT w.holder, to_char(w.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since, l.pid, l.host
      FROM ${this.#schema}.worlds AS w JOIN ${this.#schema}.workers AS l ON l.id = w.worker WHERE w.place = $1`
    const rows =
      client === undefined
        ? await this.#connections.run({ text, values: [place] })
        : (await client.query(text, [place])).rows
    const [row] = rows
    return row === undefined ? undefined : ownerIn(row)
  }

  async #hasMore(client: SqlClient, root: string): Promise<boolean> {
    const { rows } = await client.query(
      `SELECT EXISTS (SELECT FROM ${this.#schema}.texts WHERE root = $1)
        OR EXISTS (SELECT FROM ${this.#schema}.transcripts WHERE root = $1)
        OR EXISTS (SELECT FROM ${this.#schema}.mail WHERE root = $1) AS has_more`,
      [root],
    )
    return rows[0]?.['has_more'] === true
  }

  async #remove(client: SqlClient, worlds: readonly SqlRow[]): Promise<void> {
    const held = worlds.find((row) => row['is_held'] === true)
    if (held !== undefined) {
      const owner = await this.#holder({ place: String(held['place']) }, client)
      throw lockedError(nameOf(held['name']), owner, this.#connections.place)
    }
    const ids = worlds.map((row) => Number(row['id']))
    for (const table of ['rows', 'snapshots']) {
      await client.query(`DELETE FROM ${this.#schema}.${table} WHERE world = ANY($1)`, [ids])
    }
    await client.query(`DELETE FROM ${this.#schema}.mail WHERE place = ANY($1)`, [worlds.map((row) => row['place'])])
    await client.query(`DELETE FROM ${this.#schema}.worlds WHERE id = ANY($1)`, [ids])
  }

  async #removeTranscripts(client: SqlClient, root: string): Promise<void> {
    await client.query(
      `WITH gone AS (DELETE FROM ${this.#schema}.transcripts WHERE root = $1 RETURNING id)
       DELETE FROM ${this.#schema}.transcript_lines WHERE transcript IN (SELECT id FROM gone)`,
      [root],
    )
  }

  #isAlive(row: string): string {
    return isAlive(row, this.#lockClass)
  }

  /** Whether the worker that holds a world is alive. */
  #isHeld(world: string): string {
    return `EXISTS (SELECT FROM ${this.#schema}.workers AS l WHERE l.id = ${world}.worker AND ${this.#isAlive('l')})`
  }
}

/** As an index is searched by it. */
export const nowInMs = '(extract(epoch FROM statement_timestamp()) * 1000)::bigint'

/** Where `dead` are the workers that are, the fifth parameter of a statement how many strikes suspects have, the sixth how many not. */
function isForUs(world: string, root: string): string {
  return `(${world}.worker IS NULL OR ${world}.worker IN (SELECT id FROM dead)) AND ${world}.quarantine IS NULL
    AND ${isOfKind(root)} AND (${strikesOfDue(world)} >= $5 AND ${strikesOfDue(world)} < $6) IS NOT TRUE`
}

/** Who still holds a world that is due has died, and was not swept yet. */
const strikesOfDue = (world: string): string =>
  `(cardinality(${world}.strikes) + (${world}.worker IS NOT NULL)::integer)`

/** With the kinds as the second parameter of a statement, what ends them in a name as the third, and others' names as the fourth. */
function isOfKind(root: string): string {
  return `($2::text[] IS NULL OR split_part(${root}, $3, 1) = ANY($2)) AND ${root} <> ALL($4::text[])`
}

function noSuchWorld(world: string): EntiaError {
  return new EntiaError('no-such-world', `There is no world '${world}' in this store. See store.list().`, { world })
}

export function ownerIn(row: SqlRow): LockOwner {
  const { holder, host, pid, since } = row
  return { holder: textIn(holder), pid: Number(pid), host: String(host), since: String(since) }
}
