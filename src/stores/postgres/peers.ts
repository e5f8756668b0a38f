import type { Connections, Statement } from './connections.ts'
import type { LetterWatch } from './letter-watch.ts'
import { nameOf, textIn } from './place.ts'
import type { Peers, PeerState, SqlRow } from './port.ts'
import { isAlive, type Presence } from './presence.ts'
import { nowInMs } from './worlds-table.ts'

export interface PeersOptions {
  readonly schema: string
  readonly channel: string
  readonly lockClass: number
  /** Resolves with the id of this worker. */
  readonly worker: () => Promise<number>
  readonly onNews: (hear: () => void) => () => void
  readonly presence: Presence
  readonly watch: LetterWatch
  /** This worker holds so many worlds, and has so many sessions of the line, as the tables have it. */
  readonly holds: (worlds: number, sessions: number) => Promise<void> | undefined
}

/** What is notified when a worker has come, or a pause begins. */
export const peerNews = 'peers'

/** `pauses`: until when nobody calls a provider. */
export const peerTables = (schema: string): string => `
  CREATE TABLE ${schema}.pauses (provider bytea PRIMARY KEY, until timestamptz NOT NULL) WITH (fillfactor = 50);
`

/** The workers beside this one, and what one of them asks of all. */
export class PeersTable implements Peers {
  readonly #connections: Connections
  readonly #options: PeersOptions
  /** What workers that are alive have said that they can, by their ids. It may be long, and is read once. */
  #said: ReadonlyMap<number, string> = new Map()

  constructor(connections: Connections, options: PeersOptions) {
    this.#connections = connections
    this.#options = options
  }

  on(hear: () => void): () => void {
    return this.#options.onNews(hear)
  }

  onLetters(hear: (places: readonly string[]) => void): () => void {
    return this.#options.watch.onNotified(hear)
  }

  async pause(provider: string, forMs: number): Promise<void> {
    const { channel, schema } = this.#options
    await this.#connections.run({
      name: 'entia-pause',
      text: `WITH paused AS (
          INSERT INTO ${schema}.pauses AS p (provider, until)
          VALUES ($1, clock_timestamp() + make_interval(secs => least($2::float8, 1e9) / 1000))
          ON CONFLICT (provider) DO UPDATE SET until = excluded.until WHERE p.until < excluded.until RETURNING provider
        ) SELECT pg_notify($3, '${peerNews}') FROM paused`,
      values: [Buffer.from(provider), forMs, channel],
    })
  }

  async state(): Promise<PeerState> {
    const { lockClass, schema, worker } = this.#options
    const me = await worker()
    // As it was asked for: another answer may come first.
    const known = this.#said
    const statement: Statement = {
      name: 'entia-peers',
      text: `SELECT CASE WHEN root = name THEN 'world' ELSE 'session' END AS kind, root, name, NULL::float8 AS number, NULL::bytea AS body
          FROM ${schema}.worlds WHERE worker = $1
        UNION ALL SELECT 'worker', NULL, NULL, id, CASE WHEN id <> ALL($2) THEN can END FROM ${schema}.workers AS w
          WHERE can IS NOT NULL AND (id = $1 OR ${isAlive('w', lockClass)})
        UNION ALL SELECT 'pause', NULL, NULL, extract(epoch FROM until - clock_timestamp()) * 1000, provider
          FROM ${schema}.pauses WHERE until > clock_timestamp()
        UNION ALL SELECT 'line', NULL, NULL, (SELECT count(*) FROM ${schema}.line WHERE worker = $1), NULL
        UNION ALL SELECT 'work', NULL, NULL, (
            EXISTS (SELECT FROM ${schema}.line WHERE worker IS NULL AND NOT wants AND NOT rests)
            OR EXISTS (SELECT FROM ${schema}.line WHERE wants AND worker IS NULL)
            OR EXISTS (SELECT FROM ${schema}.line WHERE wants AND worker IS NOT NULL)
            OR EXISTS (SELECT FROM ${schema}.mail)
            OR EXISTS (SELECT FROM ${schema}.worlds AS w
              WHERE w.wake_at <= ${nowInMs} AND w.worker IS NULL AND w.quarantine IS NULL))::integer, NULL
        UNION ALL SELECT 'others', NULL, NULL, (
            EXISTS (SELECT FROM ${schema}.worlds WHERE worker IS NOT NULL AND worker <> $1)
            OR EXISTS (SELECT FROM ${schema}.line WHERE worker IS NOT NULL AND worker <> $1))::integer, NULL`,
      values: [me, [...known.keys()]],
    }
    const rows = await this.#options.presence.withBeat(statement, () => this.#connections.run(statement))
    const of = (kind: string): readonly SqlRow[] => rows.filter((row) => row['kind'] === kind)
    const said = of('worker').map(({ body, number }) => {
      const id = Number(number)
      return [id, body === null ? (known.get(id) ?? '') : textIn(body)] as const
    })
    this.#said = new Map(said)
    const numberOf = (kind: string): number => Number(of(kind)[0]?.['number'])
    await this.#options.holds(of('world').length + of('session').length, numberOf('line'))
    return {
      hasWork: numberOf('work') > 0,
      othersHold: numberOf('others') > 0,
      sessions: of('session').map(({ name, root }) => ({ world: nameOf(name), root: nameOf(root) })),
      worlds: of('world').map(({ name }) => nameOf(name)),
      workers: said.map(([id, can]) => ({ id, can })).toSorted((a, b) => a.id - b.id),
      pauses: of('pause').map(({ body, number }) => ({ provider: textIn(body), forMs: Number(number) })),
    }
  }
}
