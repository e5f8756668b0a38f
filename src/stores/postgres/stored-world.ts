import { thrownMessage } from '../../base/thrown-message.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { fencedError, notKept, assertContiguous } from '../order.ts'
import type { JournalRow, Letter, StoredWorld } from '../port.ts'
import type { Connections } from './connections.ts'
import type { Holding } from './dispatcher.ts'
import { unpack } from './packed.ts'
import { placeOf, textIn, type WorldPlace } from './place.ts'
import type { SqlClient, SqlRow } from './port.ts'

/** Which part of a world is read: from the snapshot at or before a tick up to another. */
export interface Part {
  readonly from: number | 'newest' | 'oldest'
  readonly to: number | undefined
  /** Under which epoch it has to be held; absent: it is only looked at. */
  readonly epoch?: number | undefined
}

/** Reads worlds as of one instant each. */
export class StoredWorlds {
  readonly #connections: Connections
  readonly #schema: string

  constructor(connections: Connections, schema: string) {
    this.#connections = connections
    this.#schema = schema
  }

  /** `undefined` if it was never written. @throws `world-fenced`, `corrupt-snapshot`, `corrupt-journal`, `invalid-argument` */
  async read(world: string, at: WorldPlace, { epoch, from, to }: Part): Promise<StoredWorld | undefined> {
    const rows = await this.#connections.run({
      name: 'entia-read',
      text: `
        WITH head AS MATERIALIZED (SELECT id, epoch, oldest, newest, tick FROM ${this.#schema}.worlds WHERE place = $1),
        first AS MATERIALIZED (
          SELECT s.world, s.tick, s.lines, s.bytes, s.body FROM head JOIN ${this.#schema}.snapshots AS s ON s.world = head.id
          WHERE s.tick <= coalesce($2, CASE WHEN $3 THEN head.oldest END, head.newest) ORDER BY s.tick DESC LIMIT 1
        )
        SELECT 0 AS kind, tick, epoch AS number, NULL::bytea AS body, oldest AS more FROM head
        UNION ALL SELECT 1, tick, lines, body, bytes FROM first
        UNION ALL (
          SELECT 2, r.tick, NULL, r.line, NULL FROM first JOIN ${this.#schema}.rows AS r ON r.world = first.world
          WHERE r.tick > first.tick AND ($4::bigint IS NULL OR r.tick <= $4)
        )
        ORDER BY kind, tick`,
      values: [at.place, typeof from === 'number' ? from : null, from === 'oldest', to],
    })
    const [head, first, ...behind] = rows
    if (head !== undefined && epoch !== undefined && Number(head['number']) !== epoch) throw fencedError(world, epoch)
    if (head === undefined && epoch !== undefined) throw fencedError(world, epoch)
    if (head === undefined || head['tick'] === null) return undefined
    const { place } = this.#connections
    if (first?.['kind'] !== 1) {
      if (typeof from === 'number') throw notKept(world, from, Number(head['more']))
      throw corruptSnapshot(world, place, 'its snapshot is missing')
    }
    const stored = { snapshot: snapshotIn(world, place, first), rows: behind.map(rowIn) }
    assertContiguous(world, stored, place)
    assertReaches(world, stored, Math.min(Number(head['tick']), to ?? Infinity), place)
    return stored
  }

  /** The newest tick of each; `undefined` for one that was never written. */
  async ticks(worlds: readonly WorldPlace[]): Promise<readonly (number | undefined)[]> {
    const rows = await this.#connections.run({
      name: 'entia-ticks',
      text: `SELECT place, tick FROM ${this.#schema}.worlds WHERE place = ANY($1::uuid[]) AND tick IS NOT NULL`,
      values: [worlds.map(({ place }) => place)],
    })
    const ticks = new Map(rows.map(({ place, tick }) => [place, Number(tick)]))
    return worlds.map(({ place }) => ticks.get(place))
  }

  /** The rows behind a tick, up to another; `undefined` where some are not kept any more. */
  async rows({ place }: WorldPlace, after: number, to: number): Promise<readonly JournalRow[] | undefined> {
    const [head, ...rows] = await this.#connections.run({
      name: 'entia-rows',
      text: `SELECT 0 AS kind, tick, NULL::bytea AS body FROM ${this.#schema}.worlds WHERE place = $1
        UNION ALL
        SELECT 1, r.tick, r.line FROM ${this.#schema}.worlds AS w JOIN ${this.#schema}.rows AS r ON r.world = w.id
          WHERE w.place = $1 AND r.tick > $2 AND ($3::bigint IS NULL OR r.tick <= $3)
        ORDER BY kind, tick`,
      values: [place, after, to === Infinity ? null : to],
    })
    const isWhole = head !== undefined && rows.length === Math.max(0, Math.min(Number(head['tick'] ?? -1), to) - after)
    const isThere = head !== undefined && head['tick'] !== null && Number(head['tick']) >= after
    return isWhole && isThere ? rows.map(rowIn) : undefined
  }

  /** The oldest letters that wait for a world. @throws `world-fenced` */
  async letters(world: string, { place }: WorldPlace, epoch: number, limit: number): Promise<readonly Letter[]> {
    const [head, ...rows] = await this.#connections.run({
      name: 'entia-letters',
      text: `SELECT NULL::bigint AS id, NULL::bytea AS body, epoch FROM ${this.#schema}.worlds WHERE place = $1
        UNION ALL (SELECT id, body, NULL FROM ${this.#schema}.mail WHERE place = $1 ORDER BY id LIMIT $2)`,
      values: [place, Number.isFinite(limit) ? limit : null],
    })
    if (Number(head?.['epoch']) !== epoch) throw fencedError(world, epoch)
    return rows.map((row) => ({ id: Number(row['id']), line: textIn(row['body']) }))
  }

  /** Keeps a holder from being succeeded until the transaction is over. @throws `world-fenced` if it was */
  async assertHeld({ epoch, world }: Holding, root: string, client: SqlClient): Promise<void> {
    const { rows } = await client.query(
      `SELECT FROM ${this.#schema}.worlds WHERE place = $1 AND epoch = $2 FOR SHARE`,
      [placeOf(world, root).place, epoch],
    )
    if (rows.length === 0) throw fencedError(world, epoch)
  }
}

function snapshotIn(world: string, place: string, { body, more, number, tick }: SqlRow): StoredWorld['snapshot'] {
  const lines = unpacked(world, place, body, Number(more)).split('\n').slice(0, -1)
  if (lines.length === Number(number)) return { tick: Number(tick), lines }
  throw corruptSnapshot(world, place, `it has ${lines.length} lines of ${String(number)}`)
}

function unpacked(world: string, place: string, body: unknown, bytes: number): string {
  try {
    return body instanceof Buffer ? unpack({ body, bytes }) : ''
  } catch (error) {
    throw corruptSnapshot(world, place, `it cannot be unpacked (${thrownMessage(error)})`)
  }
}

function rowIn({ body, tick }: SqlRow): JournalRow {
  return { tick: Number(tick), line: textIn(body) }
}

function assertReaches(world: string, { rows, snapshot }: StoredWorld, tick: number, place: string): void {
  const last = rows.at(-1)?.tick ?? snapshot.tick
  if (last >= tick) return
  throw new EntiaError(
    'corrupt-journal',
    `Tick ${last + 1} of the world '${world}' is missing in ${place}: its newest tick is ${tick}. ` +
      `Put a backup in its place, or remove the world with store.delete('${world}').`,
    { world, place, tick: last + 1 },
  )
}

function corruptSnapshot(world: string, place: string, why: string): EntiaError {
  return new EntiaError(
    'corrupt-snapshot',
    `The snapshot of the world '${world}' in ${place} is damaged: ${why}. Put a backup in its place, or remove the world ` +
      `with store.delete('${world}').`,
    { world, place },
  )
}
