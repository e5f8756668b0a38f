import { SeenInputs } from '../../../components/agent/host-facts.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { StandardInput } from '../../protocol/input.ts'
import { letterLine } from '../../protocol/letter.ts'
import type { JournalRow, SharedStore, WrittenText } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import type { OwnInput } from '../../world/input.ts'
import { redo } from '../../world/inspection.ts'
import type { JournalCodec } from '../../world/journal.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'
import type { AnswerInput } from '../children/child-run.ts'
import { hasAsked } from '../children/children.ts'
import { type OpenApproval, openApprovals } from '../children/open-approvals.ts'
import type { Clock } from '../loop/clock.ts'
import type { EventsByType, RunnerEvent } from '../loop/events.ts'
import { Listeners } from '../loop/listeners.ts'
import type { PostOptions } from '../loop/runner-options.ts'
import type { TextSoFar } from '../loop/texts-so-far.ts'
import { restored, type RestoreOptions, withContent } from '../loop/stored-ticks.ts'
import type { WorldDriver } from '../loop/world-driver.ts'
import { FollowedSessions } from './followed-sessions.ts'
import { FollowedTexts, isInFlight } from './followed-texts.ts'
import type { TickWatch } from './tick-watch.ts'

export interface FollowedParts {
  readonly store: SharedStore
  readonly watch: TickWatch
  readonly clock: Clock
  readonly known: Pick<RestoreOptions, 'components' | 'systems'>
  readonly name: string
  /** @default the world itself */
  readonly root?: string | undefined
}

/** Of a session that is followed. */
interface Below {
  /** Ids of the sessions above it and its own, outermost first. */
  readonly path: readonly string[]
  /** The parent's. They get all events of this world. */
  readonly listeners: Listeners
  /** Whether what it has done so far is emitted too. */
  readonly fromStart: boolean
}

/**
 * A world that is driven elsewhere, as it is committed: its state and its events, which come a moment later than there, and those
 * of its sessions, wherever they run. What is posted to it goes by letter. It holds nothing.
 */
export class FollowedWorld implements WorldDriver {
  readonly #parts: FollowedParts
  readonly #listeners: Listeners
  readonly #path: readonly string[]
  readonly #sessions: FollowedSessions<FollowedWorld>
  readonly #texts: FollowedTexts
  /** Its sessions are followed though nobody listens. */
  #isWhole = false
  #world: World
  #codec: JournalCodec
  #reading: Promise<void> | undefined
  #unwatch: (() => void) | undefined
  /** Inputs under ids that wait for the tick that takes them. */
  readonly #posted = new Map<string, PromiseWithResolvers<number | undefined>>()

  /**
   * Follows a world that is there. @throws `no-such-world`, and what restoring throws
   * @param fromStart its events since its newest snapshot are emitted too
   */
  static async open(parts: FollowedParts, fromStart = false): Promise<FollowedWorld> {
    const found = await whole(parts, fromStart)
    if (found !== undefined) return new FollowedWorld(parts, found)
    throw new EntiaError('no-such-world', `There is no world '${parts.name}' in this store.`, { world: parts.name })
  }

  /** A session of a world that is followed. */
  static async #openSession(parts: FollowedParts, below: Below): Promise<FollowedWorld> {
    const { known, name, root, store } = parts
    const stored = await store.read(name, { root })
    if (stored === undefined)
      throw new EntiaError('no-such-world', `The session '${name}' has no World in this store.`, { world: name })
    if (!below.fromStart) return new FollowedWorld(parts, restored(name, stored, known), below)
    const session = new FollowedWorld(parts, restored(name, { ...stored, rows: [] }, known), below)
    for (const row of stored.rows) await session.#takeRow(row)
    return session
  }

  private constructor(parts: FollowedParts, { codec, world }: Whole, below?: Below) {
    const { clock, name, root = name, watch } = parts
    this.#parts = parts
    this.#world = world
    this.#codec = codec
    this.#path = below?.path ?? []
    this.#listeners = new Listeners(name, () => ({ nowMs: this.#world.nowMs, dateMs: clock.date() }), below)
    this.#sessions = new FollowedSessions<FollowedWorld>(world, {
      isHeard: () => this.#isWhole || this.#listeners.has('approval-requested'),
      open: (sessionId, fromStart) => {
        const path = [...this.#path, sessionId]
        return FollowedWorld.#openSession(
          { ...parts, name: sessionId, root },
          { path, listeners: this.#listeners, fromStart },
        )
      },
    })
    this.#texts = new FollowedTexts((event) => this.#listeners.emit(event))
    this.#unwatch = watch.watch({
      world: name,
      root,
      textsAfter: () => (this.#listeners.has('model-delta') ? this.#texts.after : undefined),
      hear: (tick, texts) => this.#hear(tick, texts),
    })
  }

  /** As of the newest tick that is known here. It is to be read only; after `ticks-skipped` it is another object. */
  get world(): World {
    return this.#world
  }

  on<K extends keyof EventsByType>(
    type: K,
    listener: (event: { readonly type: K } & EventsByType[K]) => unknown,
  ): () => void
  on(type: '*', listener: (event: RunnerEvent) => unknown): () => void
  on(type: string, listener: (event: never) => unknown): () => void {
    return this.#listeners.on(type, listener)
  }

  /** As `runner.post`: resolves with the tick that took the input, once it is known here. */
  async post(
    input: StandardInput | OwnInput,
    { id = crypto.randomUUID() }: PostOptions = {},
  ): Promise<number | undefined> {
    const { name, root = name, store } = this.#parts
    if (this.#hasSeen(id)) return undefined
    const taken = this.#posted.get(id) ?? Promise.withResolvers<number | undefined>()
    this.#posted.set(id, taken)
    await store.post({ root, world: name, id, line: letterLine({ input: { ...input, id } }) })
    this.#parts.watch.soon()
    return taken.promise
  }

  async cancel(agent: Entity, reason?: string): Promise<void> {
    await this.post({ kind: 'cancel', agent, ...(reason !== undefined && { reason }) })
  }

  /** The approvals that it and its sessions ask for. */
  async approvals(): Promise<readonly OpenApproval[]> {
    return (await this.#withSessions()).flatMap((each) => openApprovals(each.#world, each.#path))
  }

  /** Answers an approval, in the World that asks for it, by a letter that counts once. */
  async answer(input: AnswerInput): Promise<void> {
    const asking = (await this.#withSessions()).find((each) => hasAsked(each.#world, input)) ?? this
    const { name, root = name, store } = asking.#parts
    await store.post({ root, world: name, id: `answer/${input.approval}`, line: letterLine({ input }) })
  }

  /** Itself and all sessions below, as they are committed by now. */
  async #withSessions(): Promise<readonly FollowedWorld[]> {
    this.#isWhole = true
    await this.catchUp()
    const below = await Promise.all(this.#sessions.all.map((session) => session.#withSessions()))
    return [this, ...below.flat()]
  }

  /** Resolves once all is known here that was committed when it was called, or the store could not be read. */
  async catchUp(): Promise<void> {
    // What is being read now was perhaps asked for too early.
    await this.#reading
    await this.#read()
  }

  /** As `runner.textSoFar`, of this world's own agents, while somebody listens to `model-delta`. */
  textSoFar(agent: Entity): TextSoFar | undefined {
    return this.#world.exists(agent) ? this.#texts.soFar(this.#world.referrers(OwnedBy, agent)) : undefined
  }

  /** Ends it. What waits for a tick rejects with `world-driven`. */
  stop(): void {
    this.#unwatch?.()
    this.#unwatch = undefined
    this.#sessions.stop()
    const { name } = this.#parts
    const error = new EntiaError('world-driven', `The world '${name}' is not followed any more.`, { world: name })
    for (const { promise, reject } of this.#posted.values()) {
      promise.catch(() => undefined)
      reject(error)
    }
    this.#posted.clear()
    this.#listeners.emit({ type: 'runner-stopped', world: name })
  }

  #hasSeen(id: string): boolean {
    return this.#world.query(SeenInputs).some((entity) => this.#world.read(entity, SeenInputs).includes(id))
  }

  #hear(tick: number | undefined, texts: readonly WrittenText[]): void {
    if (tick === undefined || this.#reading !== undefined) return
    // A call streams once the tick that began it is committed, which may have been right after the question.
    const isBehind = tick > this.#world.tick || texts.some((text) => !isInFlight(this.#world, text))
    if (isBehind) return void this.#read(texts)
    void this.#once(async () => {
      this.#takeTexts(texts)
      // Of a session that could not be read before, or that nobody wanted to hear of.
      await this.#sessions.followRunning(this.#world)
    })
  }

  #takeTexts(texts: readonly WrittenText[]): void {
    if (this.#unwatch !== undefined) this.#texts.take(this.#world, texts)
  }

  #read(texts: readonly WrittenText[] = []): Promise<void> {
    return this.#once(async () => {
      const { name, root = name, store } = this.#parts
      const rows = await store.rows(name, { root, after: this.#world.tick })
      if (rows === undefined) await this.#skipTo(await whole(this.#parts))
      else for (const row of rows) await this.#takeRow(row)
      this.#takeTexts(texts)
      this.#parts.watch.soon()
      await this.#sessions.followRunning(this.#world)
    })
  }

  /** One after the other. A store that cannot be read now is read at the next look. */
  #once(act: () => Promise<void>): Promise<void> {
    return (this.#reading ??= act()
      .catch(() => undefined)
      .finally(() => (this.#reading = undefined)))
  }

  async #takeRow({ line, tick }: JournalRow): Promise<void> {
    if (this.#unwatch === undefined) return
    const { delta, events, inputs } = this.#codec.decode(line, `journal of world '${this.#parts.name}', tick ${tick}`)
    const world = this.#world
    this.#texts.settle(world, events, inputs)
    redo(world, delta, delta)
    this.#texts.leave(world)
    const { dateMs, name, nowMs } = world
    const told = withContent(world, events).map((event, index) => ({
      ...event,
      world: name,
      tick,
      index,
      nowMs,
      dateMs,
    }))
    await this.#sessions.leaveEnded(world)
    for (const { id } of inputs) if (typeof id === 'string') this.#settle(id, tick)
    for (const event of told) this.#listeners.emit(event)
    await this.#sessions.followRunning(world)
  }

  async #skipTo(found: Whole | undefined): Promise<void> {
    if (found === undefined || this.#unwatch === undefined) return
    this.#world = found.world
    this.#codec = found.codec
    this.#texts.leave(found.world)
    await this.#sessions.leaveEnded(found.world)
    const { name, tick } = found.world
    this.#listeners.emit({ type: 'ticks-skipped', world: name, tick })
    for (const id of this.#posted.keys()) if (this.#hasSeen(id)) this.#settle(id, undefined)
  }

  #settle(id: string, tick: number | undefined): void {
    this.#posted.get(id)?.resolve(tick)
    this.#posted.delete(id)
  }
}

interface Whole {
  readonly world: World
  readonly codec: JournalCodec
}

async function whole(
  { known, name, root = name, store }: FollowedParts,
  fromStart = false,
): Promise<Whole | undefined> {
  const stored = await store.read(name, { root })
  return stored && restored(name, fromStart ? { ...stored, rows: [] } : stored, known)
}
