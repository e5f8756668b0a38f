import type { LaunchedSession, QueuedSession } from '../../stores/postgres/dispatcher.ts'
import { encodeName } from '../../stores/file-name.ts'
import type { SqlClient } from '../../stores/postgres/port.ts'
import type { NewWorkflow } from './dbos-sdk.ts'
import {
  attributesOf,
  claimsIn,
  executorOf,
  plain,
  queuedIn,
  type SessionRow,
  workerIn,
  workflowId,
} from './session-row.ts'

/** In this order they get slots. */
const priorities = {
  /** It is held, and waits for a slot again. */
  again: 0,
  /** It had a slot before. */
  back: 1,
  first: 2,
} as const

/** Of those that only wait: what goes back into the queue, or here, is to be given again. */
const awake = priorities.back
const asleep = 2

/** How many sessions there are. */
export interface QueueLook {
  readonly running: number
  /** In the queue for a slot. */
  readonly queued: number
  /** Held by workers, and waiting for a slot. */
  readonly again: number
  /** That only wait, and are to be held. */
  readonly awake: number
}

/** What a worker takes. */
export interface Taking {
  readonly worker: number
  /** Most that run at once, over all workers, and of one tenant. */
  readonly cap: number
  readonly tenantCap: number
  /** Most with a slot that are taken now. */
  readonly room: number
  /** How many workers share what waits. */
  readonly drivers: number
  /** Workflows that are left to later. */
  readonly except: readonly string[]
}

/** The workflow, the worker that has it, and the number of its claim. */
export interface ClaimKey {
  readonly workflow: string
  readonly worker: number
  readonly claim: number
}

export interface WorkflowsPlace {
  /** Of DBOS's tables. */
  readonly schema: string
  /** Of the tables of worlds: other fleets have other queues. */
  readonly fleet: string
}

/**
 * The sessions of a fleet among the workflows of DBOS. A workflow is a session from its launch to its end, and its id names it:
 *
 * | Queue | Status | Executor | |
 * |---|---|---|---|
 * | sessions | ENQUEUED | | waits for a slot |
 * | sessions | ENQUEUED | a worker | is held, and waits for a slot again |
 * | sessions | PENDING | a worker | has a slot |
 * | waiting | ENQUEUED | a worker | is held, and only waits |
 * | waiting | ENQUEUED | | only waits: to be held, or at rest |
 *
 * No executor of DBOS looks at these queues. `recovery_attempts` counts how often a session was given to a worker, so that who had it
 * before changes nothing.
 */
export class SessionWorkflows {
  readonly #table: string
  readonly #queue: string
  readonly #waiting: string
  readonly #fleet: string

  constructor({ fleet, schema }: WorkflowsPlace) {
    this.#table = `"${schema.replaceAll('"', '""')}".workflow_status`
    this.#fleet = fleet
    this.#queue = `${fleet}-sessions`
    this.#waiting = `${this.#queue}-waiting`
  }

  /** The id of a session's workflow: `entia/desk/4711/session-…`. */
  idOf(world: string, root: string): string {
    return workflowId(this.#fleet, world, root)
  }

  workflowOf(session: LaunchedSession): NewWorkflow {
    const { root, world } = session
    const shown = [plain(root), encodeName(world)]
    const [id, attributes] = [this.idOf(world, root), attributesOf(session)]
    return { id, queue: this.#queue, priority: priorities.first, attributes, shown }
  }

  /** What DBOS keeps in milliseconds is no order of launches; and one that was withdrawn may be launched again. */
  async begin(client: SqlClient, { attributes, id }: NewWorkflow): Promise<void> {
    await client.query(
      `UPDATE ${this.#table} SET status = 'ENQUEUED', queue_name = '${this.#queue}', priority = ${priorities.first}, ${free},
          recovery_attempts = 0, completed_at = NULL, created_at = ${nowMs},
          attributes = $2::jsonb || jsonb_build_object('launched', (extract(epoch FROM clock_timestamp()) * 1e6)::bigint)
        WHERE workflow_uuid = $1`,
      [id, JSON.stringify(attributes)],
    )
  }

  async exists(client: SqlClient): Promise<boolean> {
    const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS is_there', [this.#table])
    return rows[0]?.['is_there'] === true
  }

  async withdraw(client: SqlClient, id: string): Promise<boolean> {
    const set = `status = 'CANCELLED', ${over}`
    const where = `workflow_uuid = $1 AND ${isQueued} AND executor_id IS NULL AND recovery_attempts = 0`
    return (await this.#update(client, set, where, [id])).length > 0
  }

  async position(client: SqlClient, id: string): Promise<number | undefined> {
    const isFirst = (row: string): string =>
      `${row}.status = 'ENQUEUED' AND ${row}.queue_name = '${this.#queue}' AND ${row}.priority = ${priorities.first}`
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM ${this.#table} AS b WHERE ${isFirst('b')} AND ${launched('b')} < ${launched('w')}) AS before
        FROM ${this.#table} AS w WHERE w.workflow_uuid = $1 AND ${isFirst('w')}`,
      [id],
    )
    return rows[0] === undefined ? undefined : Number(rows[0]['before'])
  }

  async look(client: SqlClient): Promise<QueueLook> {
    const { rows } = await client.query(
      `SELECT count(*) FILTER (WHERE status = 'PENDING') AS running,
          count(*) FILTER (WHERE ${isQueued} AND queue_name = $1 AND executor_id IS NULL) AS queued,
          count(*) FILTER (WHERE ${isQueued} AND queue_name = $1 AND executor_id IS NOT NULL) AS again,
          count(*) FILTER (WHERE queue_name = $2 AND executor_id IS NULL AND priority = ${awake}) AS awake
        FROM ${this.#table} WHERE queue_name IN ($1, $2) AND ${isActive}`,
      [this.#queue, this.#waiting],
    )
    const { again, awake: woken, queued, running } = rows[0] ?? {}
    return { running: Number(running), queued: Number(queued), again: Number(again), awake: Number(woken) }
  }

  /** Those that have any. */
  async workers(client: SqlClient): Promise<readonly number[]> {
    const { rows } = await client.query(
      `SELECT DISTINCT executor_id FROM ${this.#table} WHERE ${this.#isOurs} AND ${isActive} AND executor_id IS NOT NULL`,
    )
    return rows.flatMap((row) => workerIn(row['executor_id']) ?? [])
  }

  /** What dead workers had is to be given again: ahead of all that never had a slot, or without one. */
  async recover(client: SqlClient, dead: readonly number[]): Promise<boolean> {
    const set = `status = 'ENQUEUED', priority = ${priorities.back}, ${free}`
    return (await this.#update(client, set, `executor_id = ANY($1) AND ${isActive}`, [dead.map(executorOf)])).length > 0
  }

  /** Has sessions that are held and wait for a slot get one, where they are. */
  async grantAgain(client: SqlClient, cap: number): Promise<boolean> {
    const isAgain = `queue_name = '${this.#queue}' AND ${isQueued} AND executor_id IS NOT NULL`
    const next = `SELECT workflow_uuid FROM ${this.#table} WHERE ${isAgain} ORDER BY priority, ${launched()} LIMIT ${this.#free('$1')}`
    const where = `workflow_uuid IN (${next}) AND ${isAgain}`
    return (await this.#update(client, `status = 'PENDING'`, where, [cap])).length > 0
  }

  /** Sessions that were given before, and that a worker could be given now. */
  givenBefore(client: SqlClient, worker: number): Promise<readonly SessionRow[]> {
    const where = `${isQueued} AND executor_id IS NULL AND recovery_attempts > 0 AND ${this.#isAwake} AND ${isFit('$1')}`
    return this.#select(client, where, [executorOf(worker)])
  }

  /**
   * Gives a worker those that only wait, and of the others those whose tenants have the fewest slots: of a tenant those first that
   * had a slot before.
   */
  async take(
    client: SqlClient,
    { cap, drivers, except, room, tenantCap, worker }: Taking,
  ): Promise<readonly SessionRow[]> {
    const isFree = `${isQueued} AND executor_id IS NULL AND ${isFit('$1')} AND workflow_uuid <> ALL ($2)`
    const set = `executor_id = $1, recovery_attempts = recovery_attempts + 1, started_at_epoch_ms = ${nowMs}`
    const isAwake = `queue_name = '${this.#waiting}' AND priority = ${awake} AND ${isFree}`
    const waiting = `SELECT workflow_uuid FROM ${this.#table} WHERE ${isAwake} ORDER BY ${launched()} LIMIT ${mostWaiting}`
    const me = executorOf(worker)
    const held = await this.#update(client, set, `workflow_uuid IN (${waiting}) AND ${isAwake}`, [me, except])
    if (room <= 0) return held
    const next = `WITH tenants AS (
        SELECT ${tenant} AS tenant, count(*) AS slots FROM ${this.#table}
        WHERE queue_name = '${this.#queue}' AND status = 'PENDING' GROUP BY 1
      ), queued AS (
        SELECT workflow_uuid, ${tenant} AS tenant, priority, ${launched()} AS launched,
          row_number() OVER (PARTITION BY ${tenant} ORDER BY priority, ${launched()}) AS nth
        FROM ${this.#table} WHERE queue_name = '${this.#queue}' AND ${isFree}
      ), turns AS (
        SELECT q.*, coalesce(t.slots, 0) + q.nth AS slots FROM queued AS q LEFT JOIN tenants AS t USING (tenant)
      ) SELECT workflow_uuid FROM turns WHERE slots <= $3 ORDER BY slots, priority, launched
        LIMIT least(${this.#free('$4')}, $5::integer, (SELECT ceil(count(*) / $6::numeric) FROM queued))`
    const where = `workflow_uuid IN (${next}) AND ${isQueued} AND executor_id IS NULL`
    const values = [me, except, tenantCap, cap, room, drivers]
    return [...held, ...(await this.#update(client, `status = 'PENDING', ${set}`, where, values))]
  }

  held(client: SqlClient, worker: number): Promise<readonly SessionRow[]> {
    return this.#select(client, `executor_id = $1 AND ${isActive}`, [executorOf(worker)])
  }

  /** Its slot is free; whoever has it goes on waiting. */
  giveBack(client: SqlClient, claim: ClaimKey): Promise<boolean> {
    const set = `status = 'ENQUEUED', queue_name = '${this.#waiting}', ${wasFit}`
    return this.#change(client, claim, set, `status = 'PENDING'`)
  }

  wantSlot(client: SqlClient, claim: ClaimKey): Promise<boolean> {
    const set = `queue_name = '${this.#queue}', priority = ${priorities.again}`
    return this.#change(client, claim, set, `queue_name = '${this.#waiting}'`)
  }

  async hasSlot(client: SqlClient, { claim, worker, workflow }: ClaimKey): Promise<boolean | undefined> {
    const { rows } = await client.query(
      `SELECT status = 'PENDING' AS has_slot FROM ${this.#table} WHERE ${isOfClaim} AND ${isActive}`,
      [workflow, executorOf(worker), claim],
    )
    return rows[0] === undefined ? undefined : rows[0]['has_slot'] === true
  }

  /** @returns `unfitMs`: how long one worker after the other has done so; `undefined`: the claim does not count */
  async putBack(
    client: SqlClient,
    { claim, worker, workflow }: ClaimKey,
    unfitMs: number,
  ): Promise<{ readonly unfitMs: number | undefined } | undefined> {
    const unfit = `coalesce(attributes -> 'unfit', '{}')`
    const said = `jsonb_build_object('since', coalesce(${unfit} -> 'since', to_jsonb(${nowMs})), executor_id, ${nowMs} + ${Math.ceil(unfitMs)})`
    const attributes =
      unfitMs > 0 ? `attributes = attributes || jsonb_build_object('unfit', ${unfit} || ${said})` : wasFit
    const { rows } = await client.query(
      `UPDATE ${this.#table} SET status = 'ENQUEUED', priority = ${priorities.back}, updated_at = ${nowMs}, ${free}, ${attributes}
        WHERE ${this.#isOurs} AND ${isOfClaim} AND ${isActive}
        RETURNING ${nowMs} - (attributes #>> '{unfit,since}')::bigint AS unfit_ms`,
      [workflow, executorOf(worker), claim],
    )
    if (rows[0] === undefined) return undefined
    const { unfit_ms: forMs } = rows[0]
    return { unfitMs: forMs === null ? undefined : Number(forMs) }
  }

  rest(client: SqlClient, claim: ClaimKey): Promise<boolean> {
    const set = `status = 'ENQUEUED', queue_name = '${this.#waiting}', priority = ${asleep}, ${free}, ${wasFit}`
    return this.#change(client, claim, set, 'true')
  }

  finish(client: SqlClient, claim: ClaimKey): Promise<boolean> {
    return this.#change(client, claim, `status = 'SUCCESS', ${over}`, 'true')
  }

  async wake(client: SqlClient, ids: readonly string[]): Promise<boolean> {
    const where = `workflow_uuid = ANY($1) AND queue_name = '${this.#waiting}' AND ${isQueued} AND executor_id IS NULL AND priority = ${asleep}`
    return (await this.#update(client, `priority = ${awake}`, where, [ids])).length > 0
  }

  async remove(client: SqlClient, ids: readonly string[]): Promise<void> {
    await this.#update(client, `status = 'CANCELLED', ${over}`, `workflow_uuid = ANY($1) AND ${isActive}`, [ids])
  }

  async jobs(client: SqlClient, root: string): Promise<readonly string[]> {
    const rows = await this.#select(client, `${isActive} AND attributes ->> 'root' = $1`, [encodeName(root)])
    return rows.map(({ job }) => job)
  }

  async list(client: SqlClient): Promise<readonly QueuedSession[]> {
    const { rows } = await client.query(
      `SELECT attributes, executor_id, status, queue_name = '${this.#queue}' AS is_queued,
          queue_name = '${this.#waiting}' AND executor_id IS NULL AND priority = ${asleep} AS rests,
          ${nowMs} - coalesce(CASE WHEN executor_id IS NOT NULL THEN started_at_epoch_ms END, created_at) AS age
        FROM ${this.#table} WHERE ${this.#isOurs} AND ${isActive}
        ORDER BY executor_id IS NULL, queue_name = '${this.#waiting}', priority, ${launched()}`,
    )
    return queuedIn(rows)
  }

  get #isOurs(): string {
    return `queue_name IN ('${this.#queue}', '${this.#waiting}')`
  }

  /** In the queue for a slot, or to be held without one. */
  get #isAwake(): string {
    return `(queue_name = '${this.#queue}' OR priority = ${awake})`
  }

  /** How many slots are free. */
  #free(cap: string): string {
    return `(SELECT greatest(0, ${cap}::integer - count(*)) FROM ${this.#table} WHERE queue_name = '${this.#queue}' AND status = 'PENDING')`
  }

  async #change(
    client: SqlClient,
    { claim, worker, workflow }: ClaimKey,
    set: string,
    where: string,
  ): Promise<boolean> {
    const values = [workflow, executorOf(worker), claim]
    return (await this.#update(client, set, `${isOfClaim} AND ${isActive} AND ${where}`, values)).length > 0
  }

  async #update(
    client: SqlClient,
    set: string,
    where: string,
    values: readonly unknown[],
  ): Promise<readonly SessionRow[]> {
    const { rows } = await client.query(
      `UPDATE ${this.#table} SET ${set}, updated_at = ${nowMs} WHERE ${this.#isOurs} AND ${where} RETURNING ${columns}`,
      values,
    )
    return claimsIn(rows)
  }

  async #select(client: SqlClient, where: string, values: readonly unknown[]): Promise<readonly SessionRow[]> {
    const { rows } = await client.query(
      `SELECT ${columns} FROM ${this.#table} WHERE ${this.#isOurs} AND ${where}`,
      values,
    )
    return claimsIn(rows)
  }
}

/** Sessions that only wait, and need no room, are held so many at once. */
const mostWaiting = 100

const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
const columns = 'workflow_uuid, status, recovery_attempts, priority, attributes'
const isActive = `status IN ('ENQUEUED', 'PENDING')`
const isQueued = `status = 'ENQUEUED'`
const isOfClaim = 'workflow_uuid = $1 AND executor_id = $2 AND recovery_attempts = $3::bigint'
const tenant = `attributes ->> 'tenant'`
const free = 'executor_id = NULL, owner_xid = NULL, started_at_epoch_ms = NULL'
const over = `owner_xid = NULL, deduplication_id = NULL, completed_at = ${nowMs}`
/** Whoever had it could drive it. */
const wasFit = `attributes = attributes #- '{unfit,since}'`

/** When it was launched, in microseconds. */
function launched(row?: string): string {
  return `(${row === undefined ? '' : `${row}.`}attributes ->> 'launched')::bigint`
}

/** Whether a session may be given to an executor that perhaps could not drive it a while ago. */
function isFit(executor: string): string {
  return `coalesce((attributes -> 'unfit' ->> ${executor}::text)::numeric, 0) <= ${nowMs}`
}
