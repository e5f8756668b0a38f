import { proposedChange } from '../runtime/tools/proposed-change.ts'
import type { StoredWorld } from '../stores/port.ts'
import { Newest } from './newest.ts'
import { type AskedAt, askedIn } from './reading/asked-in.ts'
import { ownValue } from './reading/own-value.ts'
import { type AskedCall, questionsOf } from './reading/questions.ts'
import { unfinished } from './reading/unfinished.ts'
import { type SessionName, type WorldWaits, waitsOf } from './reading/waits.ts'
import { waitsReply } from './reading/waits-reply.ts'
import type { WorldEntry } from './reading/wire.ts'
import type { InboxReply, OpenQuestion, PoolNow, QueueNow, WaitsReply } from './reading/wire-of-many.ts'
import type { Source } from './source.ts'
import { Spans } from './spans-of.ts'

/** Worlds that are read for one reply; further ones are left out. */
const maxRead = 2_000
/** Longer arguments, in characters of JSON, are read when they are opened. */
const maxListedChars = 20_000
/** How many snapshots back the tick is searched for that asked for an approval. */
const maxSnapshots = 40
/** How long a reply may be made before other work has its turn. */
const sliceMs = 8

/** What a world asks people, and what it waits for. */
interface WorldNow {
  readonly questions: readonly AskedCall[]
  readonly waits: WorldWaits
}

interface Facts {
  readonly asked: AskedAt | undefined
  readonly session: SessionName | undefined
  readonly names: OpenQuestion['names']
  readonly change: OpenQuestion['change'] | undefined
}

/** What goes on in many worlds at once: what they ask people, and what they wait for. */
export class Present {
  readonly #source: Source
  readonly #now: Newest<WorldNow>
  readonly #spans: Spans
  /** By approval, while it is open. */
  #facts = new Map<string, Facts>()

  constructor(source: Source) {
    this.#source = source
    this.#now = new Newest(source, (world) => ({ questions: questionsOf(world), waits: waitsOf(world) }))
    this.#spans = new Spans(source)
  }

  async inbox(approval?: string): Promise<InboxReply> {
    const entries = await this.#busy()
    const found = await this.#each(entries)
    const facts = new Map<string, Facts>()
    const questions: OpenQuestion[] = []
    for (const [entry, { questions: asked }] of found) {
      for (const call of asked) {
        facts.set(call.approval, this.#facts.get(call.approval) ?? (await this.#factsOf(call, entry)))
        if (approval === undefined || call.approval === approval)
          questions.push(questionOf(entry, call, facts.get(call.approval) as Facts, approval !== undefined))
      }
    }
    this.#facts = facts
    questions.sort((one, other) => (one.askedDateMs ?? -Infinity) - (other.askedDateMs ?? -Infinity))
    return { questions, dateMs: this.#dateMs(found.flatMap(([, { questions: asked }]) => asked)) }
  }

  async waits(root: string): Promise<WaitsReply> {
    const entries = await this.#busy((entry) => entry.name === root || entry.root === root)
    const worlds = (await this.#each(entries)).map(([, { waits }]) => waits)
    const since = new Map<string, ReadonlyMap<number, number>>()
    for (const { tick, waits, world } of worlds)
      if (waits.length > 0)
        since.set(world, await this.#spans.since(world, tick).catch(() => new Map<number, number>()))
    return { ...waitsReply(worlds, since), ...this.#room(), dateMs: this.#dateMs(worlds) }
  }

  /** Only where there is work in flight does anyone wait. */
  async #busy(isWanted: (entry: WorldEntry) => boolean = () => true): Promise<readonly WorldEntry[]> {
    const worlds = (await this.#source.worlds()).filter((entry) => entry.problem === undefined && isWanted(entry))
    const busy =
      this.#source.kind === 'run'
        ? await unfinished(worlds, async ({ name, tick }) => (await this.#nowOf(name, tick))?.waits)
        : worlds.filter(({ isBusy, isDriven }) => isDriven === true || isBusy === true)
    return busy.slice(0, maxRead)
  }

  /** One that cannot be read says so where it is opened. */
  #nowOf(world: string, tick?: number): Promise<WorldNow | undefined> {
    return this.#now.of(world, tick).catch(() => undefined)
  }

  async #each(entries: readonly WorldEntry[]): Promise<readonly (readonly [WorldEntry, WorldNow])[]> {
    const found: (readonly [WorldEntry, WorldNow])[] = []
    let sliceEndMs = performance.now() + sliceMs
    for (const entry of entries) {
      const value = await this.#nowOf(entry.name, entry.tick)
      if (value !== undefined) found.push([entry, value])
      if (performance.now() < sliceEndMs) continue
      await new Promise(setImmediate)
      sliceEndMs = performance.now() + sliceMs
    }
    return found
  }

  async #factsOf(
    { approval, arguments: given, cwd, path, tool, world }: AskedCall,
    { root }: WorldEntry,
  ): Promise<Facts> {
    const asked = await askedAt(this.#source, world, approval).catch(() => undefined)
    // The files of a saved run are not those that it would change now.
    const isHere = this.#source.kind === 'living'
    const launched: [string, SessionName][] = []
    for (const [level, session] of path.entries()) {
      const parent = path[level - 1] ?? root
      const name = parent === undefined ? undefined : ownValue((await this.#nowOf(parent))?.waits.names ?? {}, session)
      if (name !== undefined) launched.push([session, name])
    }
    const names = Object.fromEntries(launched)
    return {
      asked,
      session: ownValue(names, world),
      names,
      change: isHere ? await proposedChange(tool, given, cwd ?? process.cwd()) : undefined,
    }
  }

  /** By the clock that drives the worlds; where none does, as of the newest of them. */
  #dateMs(worlds: readonly { readonly dateMs: number }[]): number {
    const { runner } = this.#source
    return runner?.host.clock.date() ?? worlds.reduce((newest, { dateMs }) => Math.max(newest, dateMs), 0)
  }

  #room(): { readonly pool: PoolNow | undefined; readonly queues: readonly QueueNow[] } {
    const host = this.#source.runner?.host
    if (host === undefined) return { pool: undefined, queues: [] }
    const { clock, knownPool: known, queues } = host
    const named = ([name, { heldUntilMs, ...now }]: readonly [
      string,
      typeof queues extends ReadonlyMap<string, infer T> ? T : never,
    ]): QueueNow => ({
      name,
      ...now,
      heldMs: heldUntilMs && Math.max(0, heldUntilMs - clock.now()),
    })
    return {
      pool: known && { cap: known.cap, running: known.running, line: known.line.map(sessionIdIn) },
      queues: [...queues].map(named),
    }
  }
}

/** Finds the tick that asked for an approval; `undefined`: it is older than what is kept. */
async function askedAt(source: Source, world: string, approval: string): Promise<AskedAt | undefined> {
  let from: number | undefined
  for (let looked = 0; looked < maxSnapshots; looked++) {
    const stored: StoredWorld | undefined = await source.read(world, from === undefined ? {} : { from, to: from + 1 })
    if (stored === undefined) return undefined
    const { lines, tick } = stored.snapshot
    if (!lines.some((line) => line.includes(approval))) return askedIn(stored, approval)
    if (tick === 0) return undefined
    from = tick - 1
  }
  return undefined
}

/** A session's id in a pool has its tree before it. */
function sessionIdIn(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}

function questionOf({ isDriven = false }: WorldEntry, call: AskedCall, facts: Facts, isWhole: boolean): OpenQuestion {
  const { arguments: given, ...rest } = call
  const { asked, change } = facts
  const isListed = isWhole || JSON.stringify(given).length <= maxListedChars
  return {
    ...rest,
    ...(isListed && { arguments: given, ...(change !== undefined && { change }) }),
    askedAtMs: asked?.nowMs,
    askedDateMs: asked?.dateMs,
    session: facts.session,
    names: facts.names,
    isDriven,
  }
}
