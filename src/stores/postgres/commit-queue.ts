import { randomUUID } from 'node:crypto'
import { EntiaError } from '../../base/entia-error.ts'
import type { CheckedBatch } from '../check-arguments.ts'
import type { JournalHead } from '../medium.ts'
import { advance, fencedError } from '../order.ts'
import type { JournalRow, Post, StoredWorld } from '../port.ts'
import {
  type Changes,
  commitStatement,
  type StatementPlace,
  type TextChange,
  type WorldChange,
} from './commit-statement.ts'
import type { Connections } from './connections.ts'

/** A world that this store holds, as far as it is known without reading it. */
export interface HeldWorld {
  readonly id: number
  readonly place: string
  readonly name: string
  readonly epoch: number
  /** By Postgres's clock. */
  readonly wasDueMs: number | undefined
  readonly record: boolean
  /** How many statements have changed it. */
  commits: number
  head: JournalHead | undefined
  isBusy: boolean | undefined
  isFenced: boolean
  /** A statement was sent that nobody knows the end of: what is there is to be asked. */
  isUncertain: boolean
}

type Work =
  | { readonly kind: 'commit'; readonly world: HeldWorld; readonly batch: CheckedBatch }
  | { readonly kind: 'post'; readonly post: Post }
  | { readonly kind: 'text'; readonly text: TextChange }

interface Waiting {
  readonly work: Work
  readonly bytes: number
  readonly done: PromiseWithResolvers<void>
}

/** A statement takes no more once it has so much; one world's batch may be larger. */
const maxStatementBytes = 16_000_000
/** Node makes no longer texts. */
const maxBatchBytes = 500_000_000

/** Writes what was given while the last statement was under way, of all worlds of a store, with one statement. */
export class CommitQueue {
  /** How many commits of worlds it has written. */
  written = 0
  readonly #connections: Connections
  readonly #place: () => StatementPlace
  #waiting: Waiting[] = []
  readonly #all = new Set<Promise<void>>()
  #isWriting = false
  readonly #sender = randomUUID()
  #statements = 0

  constructor(connections: Connections, place: () => StatementPlace) {
    this.#connections = connections
    this.#place = place
  }

  commit(world: HeldWorld, batch: CheckedBatch): Promise<void> {
    return this.#wait({ kind: 'commit', world, batch }, bytesOf(batch))
  }

  post(post: Post): Promise<void> {
    return this.#wait({ kind: 'post', post }, Buffer.byteLength(post.line))
  }

  putText(text: TextChange): Promise<void> {
    return this.#wait({ kind: 'text', text }, Buffer.byteLength(text.text))
  }

  /** Resolves once all that was given before the call is written or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#all)
  }

  #wait(work: Work, bytes: number): Promise<void> {
    if (bytes > maxBatchBytes) {
      const message = `What is written at once must have at most ${maxBatchBytes} bytes, got ${bytes}. Write it in parts.`
      return Promise.reject(new EntiaError('invalid-argument', message, { bytes }))
    }
    const done = Promise.withResolvers<void>()
    this.#waiting.push({ work, bytes, done })
    const { promise } = done
    this.#all.add(promise)
    const forget = (): void => void this.#all.delete(promise)
    promise.then(forget, forget)
    if (!this.#isWriting) void this.#writeAll()
    return promise
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    for (;;) {
      // What is given in the same turn goes together.
      await new Promise((resolve) => setImmediate(resolve))
      if (this.#waiting.length === 0) break
      await this.#write(this.#next())
    }
    this.#isWriting = false
  }

  #next(): readonly Waiting[] {
    let bytes = 0
    const end = this.#waiting.findIndex((waiting) => (bytes += waiting.bytes) > maxStatementBytes)
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(end, 1))
  }

  /** Never rejects: each of those who wait is told. */
  async #write(together: readonly Waiting[]): Promise<void> {
    const failures = new Map<Waiting, unknown>()
    try {
      await this.#askAboutUncertain(together)
      const { changes, drafts } = drafted(together, failures)
      if (changes.worlds.length + changes.letters.length + changes.texts.length > 0) {
        await this.#send(changes, drafts, failures)
      }
    } catch (error) {
      for (const each of together) if (!failures.has(each)) failures.set(each, error)
    }
    for (const each of together) {
      if (failures.has(each)) each.done.reject(failures.get(each))
      else each.done.resolve()
    }
  }

  async #send(changes: Changes, drafts: ReadonlyMap<HeldWorld, Draft>, failures: Map<Waiting, unknown>): Promise<void> {
    const statement = commitStatement(changes, this.#place(), { sender: this.#sender, number: ++this.#statements })
    try {
      const [answer] = await this.#connections.write(statement)
      const held = new Set(((answer?.['held'] ?? []) as readonly string[]).map(Number))
      const others = [...drafts].filter(([world]) => !held.has(world.id))
      // A first try whose answer was lost may have written them.
      const written = others.length === 0 ? held : new Set([...held, ...(await this.#writtenBefore(others))])
      for (const [world, draft] of drafts) {
        if (written.has(world.id)) {
          this.written++
          Object.assign(world, { commits: world.commits + 1, head: draft.head, isBusy: draft.isBusy })
        } else {
          world.isFenced = true
          for (const each of draft.from) failures.set(each, fencedError(world.name, world.epoch))
        }
      }
    } catch (error) {
      for (const world of drafts.keys()) world.isUncertain = true
      throw error
    }
  }

  /** Ids of those worlds that have our epoch and this commit. */
  async #writtenBefore(others: readonly (readonly [HeldWorld, Draft])[]): Promise<readonly number[]> {
    const there = await this.#stateOf(others.map(([world]) => world))
    return others
      .filter(([world]) => {
        const state = there.get(world.id)
        return state?.epoch === world.epoch && state.commits === world.commits + 1
      })
      .map(([world]) => world.id)
  }

  async #askAboutUncertain(together: readonly Waiting[]): Promise<void> {
    const asked = new Set(
      together.flatMap(({ work }) => (work.kind === 'commit' && work.world.isUncertain ? work.world : [])),
    )
    if (asked.size === 0) return
    const there = await this.#stateOf([...asked])
    for (const world of asked) {
      const state = there.get(world.id)
      if (state?.epoch === world.epoch) Object.assign(world, { ...state, isUncertain: false })
      else world.isFenced = true
    }
  }

  async #stateOf(worlds: readonly HeldWorld[]) {
    const { schema } = this.#place()
    const rows = await this.#connections.write({
      text: `SELECT id, epoch, commits, tick, oldest, newest, busy FROM ${schema}.worlds WHERE id = ANY($1)`,
      values: [worlds.map(({ id }) => id)],
    })
    return new Map(rows.map((row) => [Number(row['id']), stateIn(row)]))
  }
}

/** What a row of `worlds` says of a world. */
export function stateIn(row: Readonly<Record<string, unknown>>) {
  const { busy, commits, epoch, newest, oldest, tick } = row
  return {
    epoch: Number(epoch),
    commits: Number(commits),
    head:
      tick === null
        ? undefined
        : { oldestSnapshot: Number(oldest), newestSnapshot: Number(newest), tick: Number(tick) },
    isBusy: typeof busy === 'boolean' ? busy : undefined,
  }
}

/** What the batches of one world come to. */
interface Draft {
  head: JournalHead | undefined
  isBusy: boolean | undefined
  rows: JournalRow[]
  snapshots: StoredWorld['snapshot'][]
  readonly taken: number[]
  readonly sent: Post[]
  readonly from: Waiting[]
}

/** Puts together what fits; what does not is refused, and fails alone. */
function drafted(together: readonly Waiting[], failures: Map<Waiting, unknown>) {
  const drafts = new Map<HeldWorld, Draft>()
  const letters: Post[] = []
  const texts = new Map<string, TextChange>()
  for (const each of together) {
    const { work } = each
    if (work.kind === 'post') letters.push(work.post)
    else if (work.kind === 'text') texts.set(work.text.place, work.text)
    else {
      try {
        add(drafts, work.world, work.batch, each)
      } catch (error) {
        failures.set(each, error)
      }
    }
  }
  const worlds = [...drafts].map(([world, draft]) => changeOf(world, draft))
  return { drafts, changes: { worlds, letters, texts: [...texts.values()] } }
}

function add(drafts: Map<HeldWorld, Draft>, world: HeldWorld, batch: CheckedBatch, from: Waiting): void {
  if (world.isFenced) throw fencedError(world.name, world.epoch)
  const { isBusy, rows, sent, snapshot, taken } = batch
  const before = drafts.get(world)
  const hasTicks = rows.length > 0 || snapshot !== undefined
  const head = hasTicks ? advance(before ? before.head : world.head, batch) : undefined
  const draft = before ?? {
    head: world.head,
    isBusy: world.isBusy,
    rows: [],
    snapshots: [],
    taken: [],
    sent: [],
    from: [],
  }
  drafts.set(world, draft)
  draft.from.push(from)
  for (const id of taken) draft.taken.push(id)
  for (const post of sent) draft.sent.push(post)
  if (head === undefined) return
  draft.head = head
  draft.isBusy = isBusy
  for (const row of rows) draft.rows.push(row)
  if (snapshot === undefined) return
  draft.snapshots = world.record
    ? [...draft.snapshots.filter(({ tick }) => tick < snapshot.tick), snapshot]
    : [snapshot]
  if (!world.record) draft.rows = draft.rows.filter(({ tick }) => tick > snapshot.tick)
}

function changeOf(world: HeldWorld, { head, isBusy, rows, sent, snapshots, taken }: Draft): WorldChange {
  const newest = snapshots.at(-1)?.tick
  return {
    id: world.id,
    epoch: world.epoch,
    commits: world.commits,
    place: world.place,
    tick: head?.tick,
    oldest: head?.oldestSnapshot,
    newest: head?.newestSnapshot,
    isBusy,
    rows,
    snapshots,
    dropped:
      newest === undefined || head === undefined
        ? undefined
        : { after: world.record ? newest : -1, before: newest, rowsTo: world.record ? -1 : newest },
    taken,
    sent,
  }
}

function bytesOf({ rows, sent, snapshot }: CheckedBatch): number {
  const texts = [...rows, ...sent].map(({ line }) => line)
  return [...texts, ...(snapshot?.lines ?? [])].reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
}
