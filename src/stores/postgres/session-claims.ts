import { isAlive } from './presence.ts'

/** What is notified to all workers when sessions may get slots, and behind which the id of a worker stands where it is for that one. */
export const lineNews = 'line'

/**
 * Notifies as many workers as there are new places, of those that have room and found nothing to do, as SQL: with all of them
 * woken for each place, a fleet would do little else. One that is not woken, since it looks at this moment, looks again soon.
 */
export function wakeSome(schema: string, channel: string, most: string): string {
  return `${schema}.wake_workers(${channel}, (${most})::integer)`
}

/** Sessions that only wait, and need no room, are given so many at once. */
const mostWaiting = 100

/** Ahead of all that never had a slot stand those that had one. */
const aheadBy = '4611686018427387904'

/**
 * How many sessions of each tenant have a slot and wait in line, and of all together: so that a claim does not count them.
 *
 * - `tenants`: `head` orders tenants with as many slots: by the first session that each has in line.
 * - `line_totals`: one row. `drivers`: workers that have said what they can.
 * - `line_changes`: what was changed since the counts were last brought up to date, which is done by who claims: who enters, ends or
 *   gives back writes a row of its own, and waits for no one.
 */
export const countTables = (schema: string, lockClass: number): string =>
  [tables(schema), wakeWorkers(schema), triggers(schema), countsOfBefore(schema), nextSessions(schema, lockClass)].join(
    ' ',
  )

const tables = (schema: string): string => `
  CREATE TABLE ${schema}.tenants (
    tenant bytea PRIMARY KEY, slots integer NOT NULL, waiting integer NOT NULL, head bigint
  ) WITH (fillfactor = 70);
  CREATE INDEX tenants_next ON ${schema}.tenants (slots, head) WHERE waiting > 0;
  CREATE INDEX tenants_gone ON ${schema}.tenants (tenant) WHERE slots = 0 AND waiting = 0;
  CREATE TABLE ${schema}.line_totals (slots integer NOT NULL, waiting integer NOT NULL, drivers integer NOT NULL)
    WITH (fillfactor = 10);
  CREATE TABLE ${schema}.line_changes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant bytea,
    slots integer NOT NULL DEFAULT 0,
    waiting integer NOT NULL DEFAULT 0,
    drivers integer NOT NULL DEFAULT 0,
    head bigint
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
  CREATE INDEX line_again ON ${schema}.line (id) WHERE wants AND worker IS NOT NULL;
`

const wakeWorkers = (schema: string): string => `
  ALTER TABLE ${schema}.workers ADD COLUMN waits boolean NOT NULL DEFAULT false;
  CREATE INDEX workers_waiting ON ${schema}.workers (id) WHERE waits;
  CREATE FUNCTION ${schema}.wake_workers(channel text, most integer) RETURNS void LANGUAGE sql SET enable_seqscan = off AS $body$
    WITH woken AS (
      UPDATE ${schema}.workers SET waits = false WHERE id IN (
        SELECT w.id FROM ${schema}.workers AS w WHERE w.waits ORDER BY w.seen DESC LIMIT most FOR UPDATE SKIP LOCKED)
      RETURNING id
    ) SELECT pg_notify(channel, '${lineNews} ' || id) FROM woken
  $body$;
`

const triggers = (schema: string): string => `
  CREATE FUNCTION ${schema}.line_changed() RETURNS trigger LANGUAGE plpgsql AS $body$
  DECLARE
    slots integer := 0;
    waiting integer := 0;
  BEGIN
    IF TG_OP <> 'INSERT' THEN
      slots := -OLD.slot::integer;
      waiting := -(OLD.wants AND OLD.worker IS NULL)::integer;
    END IF;
    IF TG_OP = 'DELETE' THEN
      IF slots <> 0 OR waiting <> 0 THEN
        INSERT INTO ${schema}.line_changes (tenant, slots, waiting) VALUES (OLD.tenant, slots, waiting);
      END IF;
      RETURN NULL;
    END IF;
    slots := slots + NEW.slot::integer;
    waiting := waiting + (NEW.wants AND NEW.worker IS NULL)::integer;
    IF slots <> 0 OR waiting <> 0 THEN
      INSERT INTO ${schema}.line_changes (tenant, slots, waiting, head)
      VALUES (NEW.tenant, slots, waiting, CASE WHEN waiting > 0 THEN ${keyIn('NEW')} END);
    END IF;
    RETURN NULL;
  END $body$;
  CREATE TRIGGER line_counted AFTER INSERT OR UPDATE OF slot, wants, worker OR DELETE ON ${schema}.line
    FOR EACH ROW EXECUTE FUNCTION ${schema}.line_changed();

  CREATE FUNCTION ${schema}.line_emptied() RETURNS trigger LANGUAGE plpgsql AS $body$
  BEGIN
    DELETE FROM ${schema}.tenants;
    DELETE FROM ${schema}.line_changes WHERE tenant IS NOT NULL;
    UPDATE ${schema}.line_totals SET slots = 0, waiting = 0;
    RETURN NULL;
  END $body$;
  CREATE TRIGGER line_counted_anew AFTER TRUNCATE ON ${schema}.line
    FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.line_emptied();

  CREATE FUNCTION ${schema}.drivers_changed() RETURNS trigger LANGUAGE plpgsql AS $body$
  DECLARE
    change integer := 0;
  BEGIN
    IF TG_OP <> 'INSERT' THEN change := -(OLD.can IS NOT NULL)::integer; END IF;
    IF TG_OP <> 'DELETE' THEN change := change + (NEW.can IS NOT NULL)::integer; END IF;
    IF change <> 0 THEN INSERT INTO ${schema}.line_changes (drivers) VALUES (change); END IF;
    RETURN NULL;
  END $body$;
  CREATE TRIGGER drivers_counted AFTER INSERT OR UPDATE OF can OR DELETE ON ${schema}.workers
    FOR EACH ROW EXECUTE FUNCTION ${schema}.drivers_changed();
`

/** Of a line that was there before they were. */
const countsOfBefore = (schema: string): string => `
  INSERT INTO ${schema}.tenants (tenant, slots, waiting, head)
    SELECT tenant, count(*) FILTER (WHERE slot), count(*) FILTER (WHERE wants AND worker IS NULL),
      min(${keyIn('l')}) FILTER (WHERE wants AND worker IS NULL) FROM ${schema}.line AS l GROUP BY tenant;
  INSERT INTO ${schema}.line_totals (slots, waiting, drivers)
    SELECT (SELECT count(*) FROM ${schema}.line WHERE slot), (SELECT count(*) FROM ${schema}.line WHERE wants AND worker IS NULL),
      (SELECT count(*) FROM ${schema}.workers WHERE can IS NOT NULL);
`

/** Where a session stands in line. */
function keyIn(row: string): string {
  return `(${row}.id - CASE WHEN ${row}.ahead THEN ${aheadBy} ELSE 0 END)`
}

/**
 * One worker after the other, so that the cap holds: each statement of it sees what the last one has committed. It takes time for
 * what it gives and for what was changed, not for what there is. Rows are searched by their keys, whatever is known of a table that
 * was empty a moment ago.
 */
const nextSessions = (schema: string, lockClass: number): string => `
  DROP FUNCTION IF EXISTS ${schema}.next_sessions(integer, integer, integer, integer, integer, integer, integer, text);
  CREATE FUNCTION ${schema}.next_sessions(me integer, cap integer, tenant_cap integer, room integer,
      suspect_from integer, suspect_below integer, most_suspects integer, channel text)
    RETURNS TABLE (claimed bigint, its_root text, its_name text, its_job bytea, its_strikes integer, has_slot boolean)
    LANGUAGE plpgsql SET enable_seqscan = off AS $body$
  DECLARE
    suspects uuid[];
    given uuid[];
    served bytea[];
    totals ${schema}.line_totals;
    free integer;
    asked integer := room;
    granted integer := 0;
    now_ms bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(${lockClass}, -1);
    -- Who is thought dead would lose at once what it is given.
    IF NOT EXISTS (SELECT FROM ${schema}.workers AS w WHERE w.id = me AND ${isAlive('w', lockClass)}) THEN RETURN; END IF;
    ${countsUpToDate(schema)}
    SELECT * INTO totals FROM ${schema}.line_totals;
    free := cap - totals.slots;
    given := ARRAY(
      SELECT l.place FROM ${schema}.line AS l WHERE free > 0 AND l.wants AND l.worker IS NOT NULL ORDER BY l.id LIMIT greatest(free, 0));
    granted := cardinality(given);
    IF granted > 0 THEN
      UPDATE ${schema}.line AS l SET slot = true, wants = false WHERE l.place = ANY(given);
      PERFORM pg_notify(channel, '${lineNews} ' || g.worker) FROM (
        SELECT DISTINCT l.worker FROM ${schema}.line AS l WHERE l.place = ANY(given)) AS g;
    END IF;
    -- A share, where others could take some, too.
    room := least(room, free - granted, ceil(totals.waiting / greatest(totals.drivers, 1)::numeric));
    now_ms := extract(epoch FROM clock_timestamp()) * 1000;
    suspects := ARRAY(
      SELECT w.place FROM ${schema}.worlds AS w
      CROSS JOIN LATERAL (SELECT FROM ${schema}.line AS l WHERE l.place = w.place AND l.worker IS NULL LIMIT 1) AS waiting
      WHERE w.strikes <> '{}' AND ${strikesOf(schema, lockClass)} >= suspect_from
        AND ${strikesOf(schema, lockClass)} < suspect_below);
    SELECT coalesce(array_agg(p.place), '{}'), coalesce(array_agg(DISTINCT p.tenant) FILTER (WHERE p.tenant IS NOT NULL), '{}')
      INTO given, served FROM (${pickedOf(schema)}) AS p;
    RETURN QUERY
    UPDATE ${schema}.line AS l
      SET worker = me, slot = l.wants, wants = false, claim = l.claim + 1, since = clock_timestamp()
      WHERE l.place = ANY(given)
      RETURNING l.claim, l.root, l.name, l.job,
        coalesce((SELECT ${strikesOf(schema, lockClass)} FROM ${schema}.worlds AS w WHERE w.place = l.place), 0), l.slot;
    UPDATE ${schema}.tenants AS t SET head = (
        SELECT ${keyIn('l')} FROM ${schema}.line AS l WHERE l.tenant = t.tenant AND l.wants AND l.worker IS NULL
        ORDER BY l.ahead DESC, l.id LIMIT 1)
      WHERE t.tenant = ANY(served);
    UPDATE ${schema}.workers AS w SET waits = asked > 0 AND cardinality(given) = 0
      WHERE w.id = me AND w.waits <> (asked > 0 AND cardinality(given) = 0);
  END $body$;
`

const countsUpToDate = (schema: string): string => `
    WITH changes AS (
      DELETE FROM ${schema}.line_changes AS c WHERE c.id > 0 RETURNING c.tenant, c.slots, c.waiting, c.drivers, c.head
    ), counted AS (
      INSERT INTO ${schema}.tenants AS t (tenant, slots, waiting, head)
      SELECT c.tenant, sum(c.slots), sum(c.waiting), min(c.head) FROM changes AS c WHERE c.tenant IS NOT NULL GROUP BY c.tenant
      ON CONFLICT (tenant) DO UPDATE SET slots = t.slots + excluded.slots, waiting = t.waiting + excluded.waiting,
        head = least(t.head, excluded.head)
    ), sums AS (
      SELECT sum(c.slots) AS slots, sum(c.waiting) AS waiting, sum(c.drivers) AS drivers FROM changes AS c
    ) UPDATE ${schema}.line_totals AS t SET slots = t.slots + s.slots, waiting = t.waiting + s.waiting, drivers = t.drivers + s.drivers
      FROM sums AS s WHERE s.slots IS NOT NULL;`

/** The places of the next sessions, as one statement after the other would give them. */
const pickedOf = (schema: string): string => `
      WITH first_tenants AS MATERIALIZED (
        -- The next slot is for the tenant with the fewest. More tenants than there is room for are not needed, nor looked at.
        SELECT t.tenant, t.slots FROM (
          SELECT n.tenant, n.slots, n.head FROM ${schema}.tenants AS n
          WHERE room > 0 AND n.waiting > 0 AND n.slots < tenant_cap ORDER BY n.slots, n.head
        ) AS t CROSS JOIN LATERAL (
          SELECT FROM ${schema}.line AS l
          WHERE l.tenant = t.tenant AND l.wants AND l.worker IS NULL AND ${isForMe('l')} LIMIT 1
        ) AS one ORDER BY t.slots, t.head LIMIT greatest(room, 0)
      ), firsts AS (
        -- The first of each tenant. Each would have its tenant's slots as they are once those before it have theirs.
        SELECT t.tenant, f.place, f.ahead, f.id, t.slots + f.nth - 1 AS slots
        FROM first_tenants AS t CROSS JOIN LATERAL (
          SELECT l.place, l.ahead, l.id, row_number() OVER (ORDER BY l.ahead DESC, l.id) AS nth FROM ${schema}.line AS l
          WHERE l.tenant = t.tenant AND l.wants AND l.worker IS NULL AND ${isForMe('l')}
          ORDER BY l.ahead DESC, l.id LIMIT greatest(room, 0)
        ) AS f
      ), next AS (
        -- One that only waits needs no slot: what has the last one may wait for it.
        (SELECT l.place, NULL::bytea AS tenant, 0 AS turn, l.id AS nth FROM ${schema}.line AS l
          WHERE l.worker IS NULL AND NOT l.wants AND NOT l.rests AND ${isForMe('l')} ORDER BY l.id LIMIT ${mostWaiting})
        UNION ALL
        (SELECT f.place, f.tenant, 1, row_number() OVER (ORDER BY f.slots, f.ahead DESC, f.id) FROM firsts AS f
          WHERE f.slots < tenant_cap ORDER BY 4 LIMIT greatest(room, 0))
      )
      -- Where a suspect may be among them, one at a time: with it no second one comes.
      SELECT n.place, n.tenant FROM next AS n ORDER BY n.turn, n.nth
        LIMIT CASE WHEN most_suspects > 0 AND cardinality(suspects) > 0 THEN 1 END`

/** Of a holder that has died, and was not swept yet, too. */
function strikesOf(schema: string, lockClass: number): string {
  return `(cardinality(w.strikes) + (w.worker IS NOT NULL AND w.worker <> me AND NOT EXISTS (
      SELECT FROM ${schema}.workers AS h WHERE h.id = w.worker AND ${isAlive('h', lockClass)}))::integer)`
}

/** Whether the worker that asks can drive a session, as far as is known, and may. */
function isForMe(session: string): string {
  return `coalesce((${session}.unfit ->> me::text)::bigint, 0) <= now_ms
    AND (most_suspects > 0 OR ${session}.place <> ALL (suspects))`
}
