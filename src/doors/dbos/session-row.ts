import { z } from 'zod'
import { decodeName, encodeName } from '../../stores/file-name.ts'
import type { LaunchedSession, QueuedSession, SessionClaim } from '../../stores/postgres/dispatcher.ts'
import { keyOf } from '../../stores/postgres/place.ts'
import type { SqlRow } from '../../stores/postgres/port.ts'
import { lazily } from '../../base/lazily.ts'

/** A session that a worker may be given, or has. */
export interface SessionRow extends SessionClaim {
  readonly workflow: string
}

/** Postgres indexes no text that is much longer. */
const maxIdLength = 1_000

/** What a workflow has of its session. `launched`: in microseconds since 1970. */
const Attributes = lazily(() =>
  z.object({ root: z.string(), session: z.string(), tenant: z.string(), job: z.string(), launched: z.number() }),
)

export function attributesOf({ job, root, tenant, world }: LaunchedSession): Readonly<Record<string, string>> {
  return { root: encodeName(root), session: encodeName(world), tenant: encodeName(tenant), job }
}

export function workflowId(fleet: string, world: string, root: string): string {
  const id = [fleet, plain(root), encodeName(world)].join('/')
  return id.length <= maxIdLength ? id : `${fleet}/${keyOf(root, world)}`
}

/** A name that people can read, if no other one could be written like it. */
export function plain(name: string): string {
  return /^[\u0020-\u0024\u0026-\u007e]+$/.test(name) ? name : encodeName(name)
}

/** A worker, as DBOS names it. */
export function executorOf(worker: number): string {
  return `entia-${worker}`
}

export function workerIn(executor: unknown): number | undefined {
  const [, id] = /^entia-(\d+)$/.exec(typeof executor === 'string' ? executor : '') ?? []
  return id === undefined ? undefined : Number(id)
}

/** Those first that get a slot first. One that another version, or a person, has written otherwise is left alone. */
export function claimsIn(rows: readonly SqlRow[]): readonly SessionRow[] {
  const read = rows.flatMap((row) => {
    const said = Attributes().safeParse(row['attributes']).data
    if (said === undefined) return []
    const claim: SessionRow = {
      workflow: String(row['workflow_uuid']),
      id: Number(row['recovery_attempts']),
      ...namesIn(said),
      job: said.job,
      strikes: 0,
      hasSlot: row['status'] === 'PENDING',
    }
    return { claim, priority: Number(row['priority']), launched: said.launched }
  })
  const sorted = read.toSorted((a, b) => a.priority - b.priority || a.launched - b.launched)
  return sorted.map(({ claim }) => claim)
}

/** @param rows in order, with `is_queued`, `rests` and `age` */
export function queuedIn(rows: readonly SqlRow[]): readonly QueuedSession[] {
  return rows.flatMap((row) => {
    const said = Attributes().safeParse(row['attributes']).data
    if (said === undefined) return []
    return {
      ...namesIn(said),
      tenant: decodeName(said.tenant) ?? '',
      worker: workerIn(row['executor_id']),
      hasSlot: row['status'] === 'PENDING',
      wantsSlot: row['is_queued'] === true && row['status'] === 'ENQUEUED',
      isResting: row['rests'] === true,
      ageMs: Math.max(0, Math.round(Number(row['age']))),
    }
  })
}

function namesIn({ root, session }: { readonly root: string; readonly session: string }) {
  return { world: decodeName(session) ?? '', root: decodeName(root) ?? '' }
}
