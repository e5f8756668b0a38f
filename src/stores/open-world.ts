import { EntiaError } from '../world/entia-error.ts'
import { checkOptions, countFromZero, flag, type ShapesOf } from '../world/option-shapes.ts'
import type { Batch, LostTicks, StoredWorld, WorldJournal } from './port.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Holder } from './holder.ts'
import { assertContiguous } from './journal-order.ts'
import { assertLine } from './one-line.ts'
import type { Database, Write } from './medium.ts'

/** What an open world is made of. */
export interface OpenWorldParts {
  readonly name: string
  readonly holder: Holder
  readonly record: boolean
  readonly database: Database
  readonly commits: GroupCommit
  /** Called once, when it is closed and nothing of it is under way. */
  readonly onClosed: () => void
}

/** The one holder's door to a world. */
export class OpenWorld implements WorldJournal {
  readonly name: string
  readonly holder: Holder
  readonly lost: LostTicks | undefined
  readonly #parts: OpenWorldParts
  #closing: Promise<void> | undefined

  constructor(parts: OpenWorldParts) {
    this.name = parts.name
    this.holder = parts.holder
    this.lost = lostTicks(parts)
    this.#parts = parts
  }

  load(): Promise<StoredWorld | undefined> {
    return this.#read('newest')
  }

  recording(): Promise<StoredWorld | undefined> {
    return this.#read('oldest')
  }

  async commit(batch: Batch): Promise<void> {
    this.#assertOpen()
    const { commits, record } = this.#parts
    const write = copyOf(batch, this.name, record)
    if (write.rows.length === 0 && !write.snapshot) return commits.settled()
    return commits.commit(write)
  }

  close(): Promise<void> {
    this.#closing ??= this.#parts.commits.settled().then(this.#parts.onClosed)
    return this.#closing
  }

  async #read(from: 'newest' | 'oldest'): Promise<StoredWorld | undefined> {
    this.#assertOpen()
    const { commits, database } = this.#parts
    await commits.settled()
    const stored = database.read(this.name, from)
    if (stored) assertContiguous(this.name, stored, database.place)
    return stored
  }

  #assertOpen(): void {
    if (!this.#closing) return
    throw new EntiaError('store-closed', `The world '${this.name}' is closed. Open it again with store.open().`, {
      world: this.name,
    })
  }
}

const batchShapes: ShapesOf<Batch> = {
  rows: {
    wanted: 'a list of { tick, line }',
    fits: (value) => Array.isArray(value) && Array.from(value, hasTick).every(Boolean),
  },
  snapshot: {
    wanted: '{ tick, lines }',
    fits: (value) => hasTick(value) && isIterable((value as { readonly lines?: unknown }).lines),
  },
  isBusy: flag,
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

function hasTick(value: unknown): boolean {
  return typeof value === 'object' && value !== null && countFromZero.fits((value as { readonly tick?: unknown }).tick)
}

function copyOf(batch: Batch, world: string, record: boolean): Write {
  checkOptions(`The batch of the world '${world}'`, batch, batchShapes)
  const rows = (batch.rows ?? []).map(({ tick, line }) => ({ tick, line }))
  const snapshot = batch.snapshot && { tick: batch.snapshot.tick, lines: [...batch.snapshot.lines] }
  for (const { tick, line } of rows) assertLine(line, `row ${tick} of the world '${world}'`, { world })
  for (const line of snapshot?.lines ?? []) {
    assertLine(line, `snapshot ${snapshot?.tick} of the world '${world}'`, { world })
  }
  if (snapshot?.lines.length === 0) {
    throw new EntiaError(
      'invalid-argument',
      `The snapshot of the world '${world}' has no lines; expected one or more.`,
      {
        world,
      },
    )
  }
  return { world, rows, snapshot, record, isBusy: batch.isBusy }
}

/** Whoever loads a damaged world is told of it then. */
function lostTicks({ database, name }: OpenWorldParts): LostTicks | undefined {
  try {
    return database.lostTicks(name)
  } catch (error) {
    if (error instanceof EntiaError) return undefined
    throw error
  }
}
