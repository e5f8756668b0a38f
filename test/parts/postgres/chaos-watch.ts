import { setTimeout } from 'node:timers/promises'
import { Pool } from 'pg'

/** A world with its epoch while somebody had it. */
export interface HeldThen {
  readonly id: number
  readonly name: string
  readonly epoch: number
}

/** How often it is looked whether the cap is kept. */
const sampleMs = 15
const lookMs = 5

/** Looks into the database of a fleet, past the network that is broken. */
export class ChaosWatch {
  readonly #pool: Pool
  readonly #schema: string
  readonly #cap: number
  readonly #sampling: Promise<void>
  #isEnded = false
  samples = 0
  mostSlots = 0
  /** Samples in which more sessions had a slot than the cap lets, or worked than have one. */
  samplesOver = 0

  constructor(database: string, schema: string, cap: number) {
    this.#pool = new Pool({ connectionString: database, max: 3 })
    this.#pool.on('error', () => undefined)
    this.#schema = schema
    this.#cap = cap
    this.#sampling = this.#sample()
  }

  /** What a process holds and works at. */
  async heldBy(pid: number): Promise<readonly HeldThen[]> {
    return this.#worlds(
      `SELECT w.id, w.name, w.epoch FROM $.worlds AS w JOIN $.workers AS k ON k.id = w.worker
       WHERE k.pid = $1 AND w.busy IS NOT FALSE AND w.tick IS NOT NULL`,
      [pid],
    )
  }

  /** Processes that hold a root world, of those that work at one now. */
  async rootHolders(): Promise<readonly number[]> {
    const rows = await this.#query(
      `SELECT DISTINCT k.pid FROM $.worlds AS w JOIN $.workers AS k ON k.id = w.worker WHERE w.root = w.name AND w.busy`,
    )
    return rows.map(({ pid }) => Number(pid))
  }

  /**
   * Resolves once each of these worlds is held by another, or needs no holder any more, with how many milliseconds each took.
   * @param forMs after which what is left is given up, as infinity
   */
  async takenOver(held: readonly HeldThen[], forMs: number): Promise<readonly number[]> {
    const beganAt = performance.now()
    const tookMs: number[] = []
    let left = held
    while (left.length > 0 && performance.now() < beganAt + forMs) {
      const same = await this.#worlds(
        `SELECT w.id, w.name, w.epoch FROM $.worlds AS w JOIN unnest($1::bigint[], $2::int[]) AS h (id, epoch)
           ON h.id = w.id AND h.epoch = w.epoch
         WHERE w.worker IS NOT NULL OR w.busy IS NOT FALSE OR EXISTS (SELECT FROM $.line AS l WHERE l.place = w.place)`,
        [left.map(({ id }) => id), left.map(({ epoch }) => epoch)],
      )
      const now = performance.now() - beganAt
      for (const each of left) if (!same.some(({ id }) => id === each.id)) tookMs.push(now)
      left = left.filter(({ id }) => same.some((each) => each.id === id))
      if (left.length > 0) await setTimeout(lookMs)
    }
    return [...tookMs, ...left.map(() => Infinity)]
  }

  /** What should be nothing once all has ended. */
  async leftovers(): Promise<readonly string[]> {
    const [row = {}] = await this.#query(
      `SELECT (SELECT count(*) FROM $.line) AS "sessions in line", (SELECT count(*) FROM $.mail WHERE root = name) AS "letters to root worlds",
         (SELECT count(*) FROM $.worlds WHERE quarantine IS NOT NULL) AS "worlds in quarantine",
         (SELECT count(*) FROM $.worlds WHERE busy AND worker IS NULL AND root = name) AS "worlds at work that nobody holds"`,
    )
    return Object.entries(row).flatMap(([what, count]) => (Number(count) === 0 ? [] : [`${String(count)} ${what}`]))
  }

  async end(): Promise<void> {
    this.#isEnded = true
    await this.#sampling
    await this.#pool.end()
  }

  async #sample(): Promise<void> {
    while (!this.#isEnded) {
      await setTimeout(sampleMs)
      try {
        const [row] = await this.#query('SELECT count(*) AS slots FROM $.line WHERE slot')
        const slots = Number(row?.['slots'])
        this.samples++
        this.mostSlots = Math.max(this.mostSlots, slots)
        if (slots > this.#cap) this.samplesOver++
      } catch {
        // There are no tables yet, or the server is away: no sample.
      }
    }
  }

  async #worlds(text: string, values: readonly unknown[]): Promise<readonly HeldThen[]> {
    const rows = await this.#query(text, values)
    return rows.map(({ epoch, id, name }) => ({ id: Number(id), name: String(name), epoch: Number(epoch) }))
  }

  async #query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    return (await this.#pool.query<Record<string, unknown>>(text.replaceAll('$.', `${this.#schema}.`), [...values]))
      .rows
  }
}
