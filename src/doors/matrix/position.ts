import { Serial } from '../../base/serial.ts'
import { join } from 'node:path'
import { z } from 'zod'
import { type Folders, writePrivateFile } from '../../runtime/config/folders.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { lazily } from '../../base/lazily.ts'
import type { Account } from './homeserver.ts'
import { readIfThere } from './read-if-there.ts'

/** Answered events that are remembered: a homeserver may send them again. */
const maxAnswered = 1_000

const PositionFile = lazily(() =>
  z.object({
    version: z.literal(1),
    server: z.string(),
    userId: z.string(),
    /** Absent while the first sync is being answered. */
    since: z.string().optional(),
    answered: z.array(z.string()),
  }),
)

/** A sync whose messages are being answered. */
interface OpenBatch {
  readonly next: string
  readonly open: Set<string>
}

/**
 * How far an account has read and answered, on disk. It moves behind a sync once all messages of that sync, and of those
 * before it, are answered: what a crash leaves unanswered comes again.
 */
export class Position {
  readonly #path: string
  readonly #account: Pick<Account, 'server' | 'userId'>
  readonly #answered: Set<string>
  readonly #taken = new Set<string>()
  readonly #batches: OpenBatch[] = []
  #since: string | undefined
  readonly #saving = new Serial()

  private constructor(
    path: string,
    account: Pick<Account, 'server' | 'userId'>,
    since?: string,
    answered?: readonly string[],
  ) {
    this.#path = path
    this.#account = account
    this.#since = since
    this.#answered = new Set(answered)
  }

  /** That of another account counts as none. @throws by its promise: `store-failed` for a file that cannot be read */
  static async open({ data }: Folders, { server, userId }: Account): Promise<Position> {
    const path = join(data, 'matrix', 'position.json')
    const text = await readIfThere(path)
    const found = text === undefined ? undefined : parsed(text, path)
    const isOurs = found?.server === server && found.userId === userId
    return isOurs
      ? new Position(path, { server, userId }, found.since, found.answered)
      : new Position(path, { server, userId })
  }

  /** Where the next sync after a start begins; `undefined`: there has been none. */
  get since(): string | undefined {
    return this.#since
  }

  /** Messages that wait for their answers. */
  get openCount(): number {
    return this.#taken.size
  }

  /** Takes a message to answer; false: it is answered, or about to be. */
  take(eventId: string): boolean {
    if (this.#answered.has(eventId) || this.#taken.has(eventId)) return false
    this.#taken.add(eventId)
    return true
  }

  /** A sync was read, and these of its messages are to be answered. Resolves once that is saved. */
  async moveBehind(next: string, eventIds: Iterable<string>): Promise<void> {
    this.#batches.push({ next, open: new Set(eventIds) })
    if (this.#advance()) await this.#save()
  }

  /** The answer was sent. Resolves once that is saved. */
  async answered(eventId: string): Promise<void> {
    this.#taken.delete(eventId)
    this.#answered.add(eventId)
    for (const oldest of this.#answered) {
      if (this.#answered.size <= maxAnswered) break
      this.#answered.delete(oldest)
    }
    for (const { open } of this.#batches) open.delete(eventId)
    this.#advance()
    await this.#save()
  }

  #advance(): boolean {
    const before = this.#since
    while (this.#batches[0]?.open.size === 0) this.#since = this.#batches.shift()?.next
    return this.#since !== before
  }

  #save(): Promise<void> {
    return this.#saving.run(() => {
      const { server, userId } = this.#account
      const saved = { version: 1, server, userId, since: this.#since, answered: [...this.#answered] }
      return writePrivateFile(this.#path, `${JSON.stringify(saved)}\n`)
    })
  }
}

function parsed(text: string, path: string) {
  try {
    return PositionFile().parse(JSON.parse(text))
  } catch (error) {
    const what = `${path} cannot be read, and with it where the answers of the Matrix account stopped.`
    const advice = 'Put a backup in its place, or remove it: then messages up to the next start are not answered.'
    throw new EntiaError('store-failed', `${what} ${advice}`, { path }, { cause: error })
  }
}
