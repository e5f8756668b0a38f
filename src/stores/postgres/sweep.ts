import { struck } from './presence.ts'
import { lineNews } from './session-claims.ts'
import { streamSweep } from './streams.ts'

/** How long letters wait for a session that is not in line: its parent may launch it again. Older ones came after its end. */
const unreadLastsMs = 600_000
/** No statement is under way for so long. */
const senderLastsMs = 3_600_000

/**
 * One statement that frees what dead workers held, tells all workers of it, and removes what nothing needs any more. Who commits or
 * sweeps at this moment is not waited for: the next sweep comes soon, and until then a dead worker stays in the list whose world was
 * left out. The parameters: whether to look for what was taken by statements that came late, when their worker was removed
 * before, which compares all that is held with the list; the channel; and whether sessions are in another queue than the line, so that
 * it is not known here which have ended.
 * @param parts `dead`: the condition over a row `w` of `workers`
 */
export function sweepIn({ dead, schema }: { readonly dead: string; readonly schema: string }): string {
  const isOrphan = (row: string): string =>
    `$1::boolean AND ${row}.worker IS NOT NULL AND NOT EXISTS (SELECT FROM ${schema}.workers AS h WHERE h.id = ${row}.worker)`
  return `WITH dead AS MATERIALIZED (
      SELECT id FROM ${schema}.workers AS w WHERE ${dead} FOR UPDATE SKIP LOCKED
    ), lost AS MATERIALIZED (
      SELECT w.id FROM dead JOIN ${schema}.worlds AS w ON w.worker = dead.id FOR UPDATE OF w SKIP LOCKED
    ), orphans AS MATERIALIZED (
      SELECT w.id FROM ${schema}.worlds AS w WHERE ${isOrphan('w')} FOR UPDATE SKIP LOCKED
    ), freed AS (
      UPDATE ${schema}.worlds AS w SET worker = NULL, holder = NULL, since = clock_timestamp(), strikes = ${struck('w')},
        wake_at = CASE WHEN w.busy IS NOT FALSE AND w.tick IS NOT NULL THEN 0 ELSE w.wake_at END
      WHERE w.id IN (SELECT id FROM lost UNION ALL SELECT id FROM orphans) RETURNING w.id
    ), lost_sessions AS MATERIALIZED (
      SELECT l.place FROM dead JOIN ${schema}.line AS l ON l.worker = dead.id FOR UPDATE OF l SKIP LOCKED
    ), orphan_sessions AS MATERIALIZED (
      SELECT l.place FROM ${schema}.line AS l WHERE ${isOrphan('l')} FOR UPDATE SKIP LOCKED
    ), freed_sessions AS (
      UPDATE ${schema}.line AS l SET worker = NULL, wants = l.slot OR l.wants, slot = false, ahead = true
      WHERE l.place IN (SELECT place FROM lost_sessions UNION ALL SELECT place FROM orphan_sessions) RETURNING l.place
    ), unread AS (
      DELETE FROM ${schema}.mail AS m
      WHERE m.root <> m.name AND m.at < clock_timestamp() - make_interval(secs => ${unreadLastsMs / 1_000})
        AND NOT EXISTS (SELECT FROM ${schema}.line AS l WHERE l.place = m.place)
        AND NOT EXISTS (SELECT FROM ${schema}.worlds AS w WHERE w.place = m.place AND ($3::boolean OR w.worker IS NOT NULL OR (w.busy AND w.quarantine IS NULL)))
    ), over AS (
      DELETE FROM ${schema}.pauses WHERE until < clock_timestamp() - interval '1 minute'
    ), silent AS (
      DELETE FROM ${schema}.senders WHERE at < clock_timestamp() - make_interval(secs => ${senderLastsMs / 1_000})
    ), absent AS (
      -- One that comes back is counted anew.
      DELETE FROM ${schema}.tenants WHERE tenant IN (
        SELECT tenant FROM ${schema}.tenants WHERE slots = 0 AND waiting = 0 FOR UPDATE SKIP LOCKED)
    ), ${streamSweep(schema)}, gone AS (
      DELETE FROM ${schema}.workers AS w USING dead WHERE w.id = dead.id
        AND NOT EXISTS (SELECT FROM ${schema}.worlds AS h WHERE h.worker = dead.id AND h.id NOT IN (SELECT id FROM lost))
        AND NOT EXISTS (SELECT FROM ${schema}.line AS h WHERE h.worker = dead.id AND h.place NOT IN (SELECT place FROM lost_sessions))
      RETURNING w.id
    ), told AS (
      SELECT pg_notify($2, '${lineNews}') FROM (SELECT FROM freed UNION ALL SELECT FROM freed_sessions) AS any_of_them LIMIT 1
    ) SELECT id FROM gone LEFT JOIN told ON true`
}
