import { assertName, assertWhole } from '../check-arguments.ts'
import type { ListOptions, WorldInfo } from '../port.ts'
import type { Connections } from './connections.ts'
import { nameOf, placeOf, textIn } from './place.ts'
import type { SqlRow } from './port.ts'
import { isAlive } from './presence.ts'
import { beginOfName } from './schema.ts'
import { ownerIn } from './worlds-table.ts'

/** What there is, as `store.list` says it. */
export class ListedWorlds {
  readonly #connections: Connections
  readonly #schema: string
  readonly #lockClass: number

  constructor(connections: Connections, schema: string, lockClass: number) {
    this.#connections = connections
    this.#schema = schema
    this.#lockClass = lockClass
  }

  /** @throws `invalid-argument` */
  async list({ limit, root }: ListOptions): Promise<readonly WorldInfo[]> {
    if (root !== undefined) assertName(root)
    if (limit !== undefined) assertWhole('The limit of store.list', limit, 0)
    if (root !== undefined) return limit === 0 ? [] : this.#listed([root])
    return this.#listed(limit === undefined ? undefined : await this.#firstRoots(limit))
  }

  /** @param roots only these root worlds and those in their databases. @default all */
  async #listed(roots: readonly string[] | undefined): Promise<readonly WorldInfo[]> {
    const places = roots?.map((each) => placeOf(each))
    const [letters, worlds, values] =
      places === undefined
        ? ['true', `SELECT * FROM ${this.#schema}.worlds`, []]
        : [
            'root = ANY($1)',
            `SELECT * FROM ${this.#schema}.worlds WHERE place = ANY($2)
              UNION ALL SELECT * FROM ${this.#schema}.worlds WHERE root = ANY($1) AND root <> name`,
            [places.map((at) => at.root), places.map(({ place }) => place)],
          ]
    const rows = await this.#connections.run({
      text: `
        WITH living AS MATERIALIZED (SELECT w.* FROM ${this.#schema}.workers AS w WHERE ${isAlive('w', this.#lockClass)}),
        boxes AS (SELECT place, min(root) AS root, min(name) AS name, count(*) AS letters
          FROM ${this.#schema}.mail WHERE ${letters} GROUP BY place),
        chosen AS (${worlds})
        SELECT coalesce(w.root, b.root) AS root, coalesce(w.name, b.name) AS name, w.tick, w.busy, w.worker, w.wake_at, b.letters, w.quarantine,
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

  /** Those of which only sessions were ever written are left out. */
  async #firstRoots(limit: number): Promise<readonly string[]> {
    const rows = await this.#connections.run({
      text: `SELECT DISTINCT root COLLATE "C" AS root FROM (
          (SELECT root FROM ${this.#schema}.worlds WHERE root = name AND tick IS NOT NULL ORDER BY ${beginOfName('root')} LIMIT $1)
          UNION ALL SELECT root FROM ${this.#schema}.mail
        ) AS roots ORDER BY 1 LIMIT $1`,
      values: [limit],
    })
    return rows.map(({ root }) => nameOf(root))
  }
}

function infoIn(row: SqlRow): WorldInfo {
  const { busy, letters, name, quarantine, root, size, tick, wake_at: wakeAt } = row
  const isHeld = row['pid'] !== null
  return {
    name: nameOf(name),
    root: name === root ? undefined : nameOf(root),
    tick: tick === null ? undefined : Number(tick),
    isBusy: typeof busy === 'boolean' ? busy : undefined,
    ...(busy === true && row['worker'] === null && Number(wakeAt ?? 1) > 0 && { isParked: true as const }),
    ...(letters !== null && { letters: Number(letters) }),
    ...(isHeld && { heldBy: ownerIn(row) }),
    ...(quarantine !== null && { quarantine: textIn(quarantine) }),
    // Who has it has woken.
    ...(wakeAt !== null && !isHeld && { wakeAtMs: Number(wakeAt) }),
    sizeBytes: Number(size),
  }
}
