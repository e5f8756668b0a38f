import type { JournalRow, StoredWorld } from '../stores/port.ts'
import { rawComponents } from './reading/raw-view.ts'
import { SpanReader, type WorldSpans } from './reading/spans.ts'
import type { SpansOf, SpansReply } from './reading/wire-of-many.ts'
import type { Source } from './source.ts'
import { problemIn } from './summaries-of.ts'
import { noSuchWorld } from './ticks.ts'

/** Of a world, where nothing is said of ticks. */
const maxTicks = 20_000
/** Where only what is open is asked for. */
const maxTicksOfOpen = 2_000
const maxWorlds = 100
/** Readers that wait for the next ticks of their worlds; the one that waits longest goes first. */
const maxReaders = 2_000
/** How long a reply may be made before other work has its turn. */
const sliceMs = 8
/** A reply that took so long goes out with what it has: the page asks for the rest, and shows this meanwhile. */
const maxReplyMs = 250

/** What worlds did, as bars of a timeline. */
export class Spans {
  readonly #source: Source
  readonly #readers = new Map<string, SpanReader>()
  readonly #since = new Map<string, { readonly tick: number; readonly open: ReadonlyMap<number, number> }>()

  constructor(source: Source) {
    this.#source = source
  }

  /** In the order in which they are wanted; of those for which there is no time, nothing. */
  async of(wanted: readonly SpansOf[]): Promise<SpansReply> {
    const found = new Map<string, SpansReply['spans'][string]>()
    const endMs = performance.now() + maxReplyMs
    for (const [index, one] of wanted.slice(0, maxWorlds).entries()) {
      if (index > 0 && performance.now() > endMs) break
      try {
        found.set(one.world, await this.#read(one))
      } catch (error) {
        found.set(one.world, { problem: problemIn(error) })
      }
    }
    return { spans: Object.fromEntries(found), dateMs: this.#source.runner?.host.clock.date() }
  }

  /** World times since which a world's effects are open, by entity, as of its newest tick; not of those that are older than what is read. */
  async since(world: string, tick: number): Promise<ReadonlyMap<number, number>> {
    const known = this.#since.get(world)
    if (known?.tick === tick) return known.open
    const after = this.#readers.get(world)?.tick
    const { spans } = await this.#read({ world, after: after ?? Math.max(0, tick - maxTicksOfOpen) })
    const open = new Map(
      spans.flatMap(({ entity, fromMs, isOlder, toMs }) =>
        toMs === undefined && isOlder !== true ? [[entity, fromMs] as const] : [],
      ),
    )
    this.#since.delete(world)
    this.#since.set(world, { tick, open })
    for (const [first] of this.#since) if (this.#since.size > maxReaders) this.#since.delete(first)
    return open
  }

  async #read({ after, to, world }: SpansOf): Promise<WorldSpans> {
    const known = this.#readers.get(world)
    // Whoever reads on has it alone.
    if (to === undefined) this.#readers.delete(world)
    if (known !== undefined && known.tick === after && to === undefined) {
      const rows = await this.#source.rows(world, known.tick)
      if (rows !== undefined) return this.#readOn(world, known, rows)
    }
    const stored = await this.#stored(world, after, to)
    const reader = SpanReader.of({ ...stored, rows: [] }, rawComponents(this.#source.components))
    const spans = await this.#readOn(to === undefined ? world : undefined, reader, stored.rows)
    const isNew = ({ endTick = Infinity }: WorldSpans['spans'][number]) => after === undefined || endTick > after
    return { ...spans, spans: spans.spans.filter(isNew) }
  }

  /** @param name under which the reader is kept for the next ticks */
  async #readOn(name: string | undefined, reader: SpanReader, rows: readonly JournalRow[]): Promise<WorldSpans> {
    let sliceEndMs = performance.now() + sliceMs
    for (const row of rows) {
      reader.takeRow(row)
      if (performance.now() < sliceEndMs) continue
      await new Promise(setImmediate)
      sliceEndMs = performance.now() + sliceMs
    }
    if (name !== undefined) {
      this.#readers.set(name, reader)
      for (const [first] of this.#readers) if (this.#readers.size > maxReaders) this.#readers.delete(first)
    }
    return reader.read()
  }

  async #stored(world: string, after: number | undefined, to: number | undefined): Promise<StoredWorld> {
    const source = this.#source
    const entry = await source.entry(world)
    if (entry === undefined) throw noSuchWorld(source, world)
    const from = after ?? Math.max(0, (entry.tick ?? 0) - maxTicks)
    const range = { from, ...(to !== undefined && { to }) }
    // Where that is not kept any more, what is.
    const stored =
      (await source.read(world, range).catch(() => undefined)) ??
      (await source.read(world, to === undefined ? {} : { to }))
    if (stored === undefined) throw noSuchWorld(source, world)
    return stored
  }
}
