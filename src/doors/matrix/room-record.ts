import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Folders, writePrivateFile } from '../../runtime/config/folders.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { lazily } from '../../base/lazily.ts'
import { readIfThere, ifThere } from './read-if-there.ts'

const RoomRecord = lazily(() =>
  z.object({
    version: z.literal(1),
    roomId: z.string(),
    /** Of its chat session. */
    key: z.string().optional(),
    name: z.string().optional(),
    /** The last turn of the chat session that was archived. */
    archivedThrough: z.number().int().nonnegative(),
    /** It was found to be encrypted, and its members were told. */
    isEncrypted: z.literal(true).optional(),
    /** The chat session of a message that is being answered by itself. */
    single: z.object({ eventId: z.string(), key: z.string() }).optional(),
  }),
)

/** What is kept of a room. */
export type RoomRecord = z.infer<ReturnType<typeof RoomRecord>>

/** What is kept of rooms: a file each in the data folder. */
export class RoomRecords {
  readonly #folder: string
  /** The last change of each room that is under way. */
  readonly #changing = new Map<string, Promise<void>>()

  constructor({ data }: Folders) {
    this.#folder = join(data, 'matrix', 'rooms')
  }

  /** @throws by its promise: `store-failed` */
  async read(roomId: string): Promise<RoomRecord> {
    await this.#changing.get(roomId)
    return (await readRecord(this.#path(roomId))) ?? { version: 1, roomId, archivedThrough: 0 }
  }

  /** Changes and saves it. Changes of one room come after one another. @throws by its promise: `store-failed` */
  async update(roomId: string, change: Partial<Record<keyof RoomRecord, unknown>>): Promise<void> {
    const changed = this.#change(roomId, change)
    this.#changing.set(roomId, changed)
    await changed
  }

  async #change(roomId: string, change: Partial<Record<keyof RoomRecord, unknown>>): Promise<void> {
    const before = await this.read(roomId)
    const record = JSON.stringify({ ...before, ...change })
    if (record !== JSON.stringify(before)) await writePrivateFile(this.#path(roomId), `${record}\n`)
  }

  /** Of all rooms that something is kept of, by id. */
  async list(): Promise<readonly RoomRecord[]> {
    const names = (await ifThere(this.#folder, readdir(this.#folder))) ?? []
    const files = names.filter((name) => name.endsWith('.json'))
    const records = await Promise.all(files.map((name) => readRecord(join(this.#folder, name))))
    return records.filter((record) => record !== undefined).toSorted((a, b) => (a.roomId < b.roomId ? -1 : 1))
  }

  #path(roomId: string): string {
    return join(this.#folder, `${shortHash(roomId)}.json`)
  }
}

/** A name for files and transactions that says nothing and is the same each time. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

async function readRecord(path: string): Promise<RoomRecord | undefined> {
  const text = await readIfThere(path)
  if (text === undefined) return undefined
  try {
    return RoomRecord().parse(JSON.parse(text))
  } catch (error) {
    const what = `What is kept of a Matrix room cannot be read: ${path}.`
    const advice = 'Put a backup in its place, or remove it: the room then begins a new chat session.'
    throw new EntiaError('store-failed', `${what} ${advice}`, { path }, { cause: error })
  }
}
