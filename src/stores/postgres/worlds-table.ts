import { EntiaError } from '../../world/entia-error.ts'
import { encodeName } from '../file-name.ts'
import { type LockOwner, lockedError } from '../lock-owner.ts'
import type { WorldInfo } from '../port.ts'
import { stateIn } from './commit-queue.ts'
import type { Connections } from './connections.ts'
import { pack } from './packed.ts'
import { nameOf, placeOf, textIn, type WorldPlace } from './place.ts'
import type { DueWorld, FleetTotals, Placement, SqlClient, SqlRow, WorkerInfo } from './port.ts'
import { isAlive } from './presence.ts'

/** A holder may let go between a refusal and the question who it is. */
const maxOpenTries = 3
/** No statement is under way for so long. */
const senderLastsMs = 3_600_000

/** What is done with worlds as a whole: who holds them, what there is, what is due. */
export class WorldsTable {
  readonly #connections: Connections
  readonly #schema: string
  readonly #lockClass: number

  constructor(connections: Connections, schema: string, lockClass: number) {
    this.#connections = connections
    this.#schema = schema
    this.#lockClass = lockClass
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
            epoch = w.epoch + 1, worker = excluded.worker, holder = excluded.holder, since = excluded.since,
            strikes = w.strikes + CASE WHEN w.worker <> $4 AND NOT ${this.#isHeld('w')} THEN 1 ELSE 0 END
          WHERE w.worker IS NULL OR w.worker = $4 OR $6 OR NOT ${this.#isHeld('w')}
          RETURNING id, epoch, commits, tick, oldest, newest, busy`,
        values: [at.place, at.root, at.world, worker, Buffer.from(owner.holder), seize],
      })
      if (row !== undefined) return { id: Number(row['id']), ...stateIn(row) }
      const holder = await this.#holder(at)
      if (holder !== undefined || tries === maxOpenTries) {
        throw lockedError(nameOf(at.world), holder, this.#connections.place)
      }
    }
  }

  /** Gives worlds free, unless they have another holder by now. Those that were never written are forgotten. */
  async park(
    worlds: readonly { readonly id: number; readonly epoch: number; readonly wakeAtMs: number | undefined }[],
  ) {
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
        UPDATE ${this.#schema}.worlds AS w SET worker = NULL, holder = NULL, strikes = 0, wake_at = b.wake_at
        FROM given AS b WHERE w.id = b.id AND w.epoch = b.epoch AND (w.tick IS NOT NULL OR b.wake_at IS NOT NULL)`,
      values,
    })
  }

  /** @param root only that world and those in its database. @default all */
  async list(root?: string): Promise<readonly WorldInfo[]> {
    const [letters, worlds, values] =
      root === undefined
        ? ['true', 'true', []]
        : ['root = $1', 'place = $2 OR (root = $1 AND root <> name)', [placeOf(root).root, placeOf(root).place]]
    const rows = await this.#connections.run({
      text: `
        WITH living AS MATERIALIZED (SELECT w.* FROM ${this.#schema}.workers AS w WHERE ${this.#isAlive('w')}),
        boxes AS (SELECT place, min(root) AS root, min(name) AS name, count(*) AS letters
          FROM ${this.#schema}.mail WHERE ${letters} GROUP BY place),
        chosen AS (SELECT * FROM ${this.#schema}.worlds WHERE ${worlds})
        SELECT coalesce(w.root, b.root) AS root, coalesce(w.name, b.name) AS name, w.tick, w.busy, w.wake_at, b.letters, w.quarantine,
          w.holder, l.pid, l.host, to_char(w.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since,
          (SELECT coalesce(sum(octet_length(line)), 0) FROM ${this.#schema}.rows WHERE world = w.id) +
          (SELECT coalesce(sum(bytes - lines), 0) FROM ${this.#schema}.snapshots WHERE world = w.id) AS size
        FROM chosen AS w
          LEFT JOIN living AS l ON l.id = w.worker
          FULL JOIN boxes AS b ON b.place = w.place
        WHERE w.tick IS NOT NULL OR b.letters IS NOT NULL`,
      values,
    })
    return rows.map(infoIn).sort((a, b) => (a.name < b.name ? -1 : 1))
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

  async totals(): Promise<FleetTotals> {
    const of = (table: string): string => `${this.#schema}.${table}`
    const [row = {}] = await this.#connections.run({
      text: `SELECT (SELECT count(*) FROM ${of('workers')} AS w WHERE ${this.#isAlive('w')}) AS workers,
        (SELECT count(*) FROM ${of('line')} WHERE slot) AS running, (SELECT count(*) FROM ${of('line')} WHERE NOT slot) AS waiting,
        (SELECT count(*) FROM ${of('worlds')} WHERE quarantine IS NOT NULL) AS quarantined,
        (SELECT count(*) FROM ${of('mail')}) AS letters,
        (SELECT extract(epoch FROM clock_timestamp() - at) * 1000 FROM ${of('mail')} ORDER BY id LIMIT 1) AS oldest`,
      values: [],
    })
    return {
      workersAlive: Number(row['workers']),
      sessionsRunning: Number(row['running']),
      sessionsWaiting: Number(row['waiting']),
      worldsQuarantined: Number(row['quarantined']),
      lettersWaiting: Number(row['letters']),
      oldestLetterMs: Math.max(0, Math.round(Number(row['oldest'] ?? 0))),
    }
  }

  async sweep(): Promise<readonly number[]> {
    const rows = await this.#connections.run({
      name: 'entia-sweep',
      // Who commits or sweeps at this moment is not waited for: the next sweep comes soon.
      text: `WITH dead AS MATERIALIZED (
          SELECT id FROM ${this.#schema}.workers AS w WHERE NOT ${this.#isAlive('w')} FOR UPDATE SKIP LOCKED
        ), lost AS MATERIALIZED (
          SELECT id FROM ${this.#schema}.worlds WHERE worker IN (SELECT id FROM dead) FOR UPDATE SKIP LOCKED
        ), freed AS (
          UPDATE ${this.#schema}.worlds AS w SET worker = NULL, holder = NULL, strikes = w.strikes + 1,
            wake_at = CASE WHEN w.busy IS NOT FALSE AND w.tick IS NOT NULL
              THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint ELSE w.wake_at END
          FROM lost WHERE w.id = lost.id
        ), silent AS (
          DELETE FROM ${this.#schema}.senders WHERE at < clock_timestamp() - make_interval(secs => ${senderLastsMs / 1_000})
        ), gone AS (
          DELETE FROM ${this.#schema}.workers AS w USING dead WHERE w.id = dead.id RETURNING w.id
        ) SELECT id FROM gone`,
      values: [],
    })
    return rows.map(({ id }) => Number(id))
  }

  async due(limit: number, kinds: readonly string[] | undefined): Promise<readonly DueWorld[]> {
    const rows = await this.#connections.run({
      name: 'entia-due',
      text: `
        WITH RECURSIVE dead AS MATERIALIZED (SELECT id FROM ${this.#schema}.workers AS w WHERE NOT ${this.#isAlive('w')}),
        boxes (place, root, name) AS (
          (SELECT place, root, name FROM ${this.#schema}.mail ORDER BY place, id LIMIT 1)
          UNION ALL
          SELECT next.place, next.root, next.name FROM boxes CROSS JOIN LATERAL (
            SELECT place, root, name FROM ${this.#schema}.mail AS m WHERE m.place > boxes.place ORDER BY place, id LIMIT 1
          ) AS next
        ), due AS (
          (SELECT b.place, b.root, b.name FROM boxes AS b LEFT JOIN ${this.#schema}.worlds AS w ON w.place = b.place
            WHERE b.root = b.name AND w.quarantine IS NULL AND (w.worker IS NULL OR w.worker IN (SELECT id FROM dead))
              AND ${isOfKind('b.root')} LIMIT $1)
          UNION
          (SELECT place, root, name FROM ${this.#schema}.worlds
            WHERE wake_at <= extract(epoch FROM clock_timestamp()) * 1000 AND root = name AND quarantine IS NULL
              AND (worker IS NULL OR worker IN (SELECT id FROM dead)) AND ${isOfKind('root')} ORDER BY wake_at LIMIT $1)
          UNION
          (SELECT w.place, w.root, w.name FROM dead JOIN ${this.#schema}.worlds AS w ON w.worker = dead.id
            WHERE w.root = w.name AND w.quarantine IS NULL AND w.tick IS NOT NULL AND w.busy IS NOT FALSE
              AND ${isOfKind('w.root')} LIMIT $1)
        )
        SELECT due.root, due.name, coalesce(w.epoch, 0) AS epoch, coalesce(w.strikes, 0) AS strikes
        FROM due LEFT JOIN ${this.#schema}.worlds AS w ON w.place = due.place LIMIT $1`,
      values: [limit, kinds?.map(encodeName), encodeName('/')],
    })
    return rows.map((row) => ({
      name: nameOf(row['name']),
      root: nameOf(row['root']),
      epoch: Number(row['epoch']),
      strikes: Number(row['strikes']),
    }))
  }

  /** @param isTaken its holder's commits are refused from now on */
  async hold(world: string, root: string | undefined, reason: string, isTaken: boolean): Promise<void> {
    const rows = await this.#connections.run({
      text: `UPDATE ${this.#schema}.worlds AS w SET quarantine = $2, epoch = w.epoch + $3::int,
          worker = CASE WHEN $3 = 1 THEN NULL ELSE w.worker END, holder = CASE WHEN $3 = 1 THEN NULL ELSE w.holder END,
          wake_at = CASE WHEN $3 = 1 AND w.busy IS NOT FALSE THEN 0 ELSE w.wake_at END
        WHERE w.place = $1 RETURNING id`,
      values: [placeOf(world, root).place, Buffer.from(reason), isTaken ? 1 : 0],
    })
    if (rows.length === 0) throw noSuchWorld(world)
  }

  async release(world: string, root: string | undefined): Promise<void> {
    const rows = await this.#connections.run({
      text: `UPDATE ${this.#schema}.worlds SET quarantine = NULL, strikes = 0 WHERE place = $1 RETURNING id`,
      values: [placeOf(world, root).place],
    })
    if (rows.length === 0) throw noSuchWorld(world)
  }

  async place({ isBusy, lines, root, tick, world }: Placement, client: SqlClient): Promise<boolean> {
    const at = placeOf(world, root)
    const texts = [...lines]
    const { body, bytes } = pack(texts.map((line) => `${line}\n`).join(''))
    const { rows } = await client.query(
      `SELECT ${this.#schema}.place_world($1, $2, $3, $4, $5, $6, $7, $8) AS is_made`,
      [at.place, at.root, at.world, tick, isBusy, texts.length, bytes, body],
    )
    return rows[0]?.['is_made'] === true
  }

  async #holder({ place }: WorldPlace): Promise<LockOwner | undefined> {
    const [row] = await this.#connections.run({
      text: `SELECT w.holder, to_char(w.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since, l.pid, l.host
        FROM ${this.#schema}.worlds AS w JOIN ${this.#schema}.workers AS l ON l.id = w.worker WHERE w.place = $1`,
      values: [place],
    })
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
      const owner = await this.#holder({ place: String(held['place']), root: '', world: '' })
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

/** With the kinds as the second parameter of a statement, and what ends them in a name as the third. */
function isOfKind(root: string): string {
  return `($2::text[] IS NULL OR split_part(${root}, $3, 1) = ANY($2))`
}

function noSuchWorld(world: string): EntiaError {
  return new EntiaError('no-such-world', `There is no world '${world}' in this store. See store.list().`, { world })
}

function infoIn(row: SqlRow): WorldInfo {
  const { busy, letters, name, quarantine, root, size, tick, wake_at: wakeAt } = row
  const isHeld = row['pid'] !== null
  return {
    name: nameOf(name),
    root: name === root ? undefined : nameOf(root),
    tick: tick === null ? undefined : Number(tick),
    isBusy: typeof busy === 'boolean' ? busy : undefined,
    ...(letters !== null && { letters: Number(letters) }),
    ...(isHeld && { heldBy: ownerIn(row) }),
    ...(quarantine !== null && { quarantine: textIn(quarantine) }),
    // Who has it has woken.
    ...(wakeAt !== null && !isHeld && { wakeAtMs: Number(wakeAt) }),
    sizeBytes: Number(size),
  }
}

function ownerIn(row: SqlRow): LockOwner {
  const { holder, host, pid, since } = row
  return { holder: textIn(holder), pid: Number(pid), host: String(host), since: String(since) }
}
