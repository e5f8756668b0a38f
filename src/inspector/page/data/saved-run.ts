import { openLines } from '../../../world/joint.ts'
import { RawWorld } from '../../../world/raw-world.ts'
import { askedIn } from '../../reading/asked-in.ts'
import { ownValue } from '../../reading/own-value.ts'
import { type AskedCall, questionsOf } from '../../reading/questions.ts'
import type { SavedPage } from '../../reading/saved-page.ts'
import { SpanReader } from '../../reading/spans.ts'
import { summaryOf, type WorldSummary } from '../../reading/summaries.ts'
import { unfinished } from '../../reading/unfinished.ts'
import { type WorldWaits, waitsOf } from '../../reading/waits.ts'
import { waitsReply } from '../../reading/waits-reply.ts'
import type { Problem, SummariesReply, WorldEntry } from '../../reading/wire.ts'
import type {
  InboxQuery,
  InboxReply,
  OpenQuestion,
  SpansOf,
  SpansReply,
  WaitsReply,
} from '../../reading/wire-of-many.ts'
import { nextTurn } from './next-turn.ts'

export type SavedWorld = SavedPage['worlds'][number]

/** What a world was at its newest tick. */
interface AtEnd {
  readonly summary: WorldSummary
  readonly waits: WorldWaits
  readonly questions: readonly AskedCall[]
}

/** How long the page may read before it lets the browser have its turn. */
const sliceMs = 8
/** A reply that took so long goes out with what it has. */
const maxReplyMs = 100

/** Reads the worlds of the run that a page carries: what a server says of the worlds of its source. */
export class SavedRun {
  readonly #saved: SavedPage
  readonly #worlds: ReadonlyMap<string, SavedWorld>
  readonly #atEnd = new Map<string, Promise<AtEnd>>()
  #sliceEndMs = 0

  constructor(saved: SavedPage) {
    this.#saved = saved
    this.#worlds = new Map(saved.worlds.map((world) => [world.name, world]))
  }

  /** The root first. */
  get entries(): readonly (WorldEntry & { readonly tick: number })[] {
    const [root] = this.#worlds.keys()
    return this.#saved.worlds.map(({ name, rows, snapshot }) => ({
      name,
      tick: rows.at(-1)?.tick ?? snapshot.tick,
      ...(name !== root && root !== undefined && { root }),
    }))
  }

  world(name: string): SavedWorld | undefined {
    return this.#worlds.get(name)
  }

  /** In the order in which they are wanted; of those for which there is no time, nothing. */
  async summaries(wanted: readonly string[]): Promise<SummariesReply> {
    const summaries = new Map<string, SummariesReply['summaries'][string]>()
    const endMs = performance.now() + maxReplyMs
    for (const world of wanted) {
      if (summaries.size > 0 && performance.now() > endMs) break
      summaries.set(world, (await this.#end(world))?.summary ?? notHere(world))
    }
    return { summaries: Object.fromEntries(summaries) }
  }

  /** In the order in which they are wanted; of those for which there is no time, nothing. */
  async spans(wanted: readonly SpansOf[]): Promise<SpansReply> {
    const spans = new Map<string, SpansReply['spans'][string]>()
    const endMs = performance.now() + maxReplyMs
    for (const { world } of wanted) {
      if (spans.size > 0 && performance.now() > endMs) break
      spans.set(world, (await this.#reader(world))?.read() ?? notHere(world))
    }
    return { spans: Object.fromEntries(spans) }
  }

  async waits(): Promise<WaitsReply> {
    const worlds = (await this.#open()).map(({ waits }) => waits)
    const since = new Map<string, ReadonlyMap<number, number>>()
    for (const { waits, world } of worlds) {
      if (waits.length === 0) continue
      const { spans = [] } = (await this.#reader(world))?.read() ?? {}
      const open = spans.filter(({ isOlder, toMs }) => toMs === undefined && isOlder !== true)
      since.set(world, new Map(open.map(({ entity, fromMs }) => [entity, fromMs])))
    }
    return { ...waitsReply(worlds, since), queues: [], dateMs: newestOf(worlds) }
  }

  async inbox({ approval }: InboxQuery): Promise<InboxReply> {
    const open = await this.#open()
    const names = Object.assign({}, ...open.map(({ waits }) => waits.names)) as WorldWaits['names']
    const questions = open
      .flatMap(({ questions: asked }) => asked)
      .filter((call) => approval === undefined || call.approval === approval)
      .map((call): OpenQuestion => {
        const asked = askedIn(this.#worlds.get(call.world) as SavedWorld, call.approval)
        const times = { askedAtMs: asked?.nowMs, askedDateMs: asked?.dateMs }
        const above = Object.fromEntries(Object.entries(names).filter(([id]) => call.path.includes(id)))
        return { ...call, ...times, session: ownValue(above, call.world), names: above, isDriven: false }
      })
      .toSorted((one, other) => (one.askedDateMs ?? -Infinity) - (other.askedDateMs ?? -Infinity))
    return { questions, dateMs: newestOf(open.map(({ waits }) => waits)) }
  }

  async #open(): Promise<readonly AtEnd[]> {
    const found = await unfinished(this.entries, async ({ name }) => (await this.#end(name))?.waits)
    return (await Promise.all(found.map(({ name }) => this.#end(name)))).filter((end) => end !== undefined)
  }

  /** The run is over, so that it is read once. */
  #end(name: string): Promise<AtEnd | undefined> {
    const saved = this.#worlds.get(name)
    if (saved === undefined) return Promise.resolve(undefined)
    const known = this.#atEnd.get(name) ?? this.#readEnd(saved)
    this.#atEnd.set(name, known)
    return known
  }

  async #readEnd({ name, rows, snapshot }: SavedWorld): Promise<AtEnd> {
    const { codec, lines } = openLines(snapshot.lines)
    const world = RawWorld.restore(lines, this.#saved.source.components)
    for (const row of rows) {
      world.forward(codec.decode(row.line, `world '${name}', tick ${row.tick}`).delta)
      await this.#turn()
    }
    return { summary: summaryOf(world), waits: waitsOf(world), questions: questionsOf(world) }
  }

  async #reader(name: string): Promise<SpanReader | undefined> {
    const saved = this.#worlds.get(name)
    if (saved === undefined) return undefined
    const reader = SpanReader.of({ ...saved, rows: [] }, this.#saved.source.components)
    for (const row of saved.rows) {
      reader.takeRow(row)
      await this.#turn()
    }
    return reader
  }

  #turn(): Promise<void> | undefined {
    const now = performance.now()
    if (now < this.#sliceEndMs) return undefined
    this.#sliceEndMs = now + sliceMs
    return nextTurn()
  }
}

function notHere(world: string): { readonly problem: Problem } {
  return { problem: { code: 'no-such-world', message: `There is no world '${world}' in this run.` } }
}

/** Unix time of the newest of worlds that no clock drives. */
function newestOf(worlds: readonly { readonly dateMs: number }[]): number {
  return worlds.reduce((newest, { dateMs }) => Math.max(newest, dateMs), 0)
}
