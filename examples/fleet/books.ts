import { Pool } from 'pg'

/** What the shop has paid back. A fleet has its own tables; these are the shop's. */
export class Books {
  readonly #pool: Pool
  readonly #schema: string

  constructor(database: string, schema: string) {
    this.#schema = schema
    this.#pool = new Pool({ connectionString: database, max: 4, allowExitOnIdle: true })
    // A connection that is lost while nobody uses it is replaced by the next query.
    this.#pool.on('error', () => undefined)
  }

  async open(): Promise<void> {
    await this.#pool.query(`CREATE SCHEMA ${this.#schema}`)
    await this.#pool.query(`CREATE TABLE ${this.#schema}.refunds (key text PRIMARY KEY, parcel int NOT NULL)`)
  }

  /** Under the same key it is paid once. */
  async payBack(parcel: number, key: string): Promise<void> {
    await this.#pool.query(`INSERT INTO ${this.#schema}.refunds VALUES ($1, $2) ON CONFLICT DO NOTHING`, [key, parcel])
  }

  async refunds(): Promise<{ readonly paid: number; readonly parcels: number }> {
    const { rows } = await this.#pool.query<Record<'paid' | 'parcels', string>>(
      `SELECT count(*) AS paid, count(DISTINCT parcel) AS parcels FROM ${this.#schema}.refunds`,
    )
    return { paid: Number(rows[0]?.paid), parcels: Number(rows[0]?.parcels) }
  }

  async close(): Promise<void> {
    await this.#pool.query(`DROP SCHEMA ${this.#schema} CASCADE`)
    await this.#pool.end()
  }
}
