import { z } from 'zod'
import type { SessionOrder } from '../../engine/children/session-fleet.ts'
import {
  type Asking,
  type Board,
  type BoardState,
  type Claim,
  type DueWorld,
  sessionKey,
} from '../../engine/fleet/board.ts'
import { givenUp, maxStrikes, suspectStrikes } from '../../engine/fleet/strikes.ts'
import { firstSnapshot } from '../../engine/loop/journal-writer.ts'
import type { Dispatcher, SessionClaim, Suspects } from '../../stores/postgres/dispatcher.ts'
import { placeOf } from '../../stores/postgres/place.ts'
import type { PostgresStore } from '../../stores/postgres/port.ts'
import { lazily } from '../../base/lazily.ts'
import type { World } from '../../world/world.ts'
import { KnownWorkers } from './known-workers.ts'

export interface PostgresBoardOptions {
  readonly store: PostgresStore
  readonly dispatcher: Dispatcher
  /** Which worlds this process can make. It leaves others to others, and their sessions too. */
  readonly kinds: readonly string[]
  /** Most sessions with a slot at once, over all workers. */
  readonly maxSessions: number
  /** Most of them of one tenant. */
  readonly maxSessionsPerTenant: number
  /** Whose a root world is. */
  readonly tenantOf: (root: string) => string
  /** A world is driven no more, since its holders died of it. */
  readonly quarantined: (world: string, root: string, strikes: number) => void
}

/** A session that may be one is looked at again after so long. */
const doubtMs = 500
/** How often what dead workers held is looked for. */
const sweepEachMs = 125
/** So many workers do that. */
const sweepers = 2
const mostSweepers = 10
/** How often where no other worker holds anything. */
const restSweepMs = 10_000
/** How often a session that waits for its slot again looks where nothing is heard. */
const slotLookMs = 500
/** A world that is due is left to each worker before the next for so long. */
const turnMs = 200
/** Of so many workers, each looks at once where a letter may have woken a world: the second one, if the first one is full. */
const firstTurns = 2
/** Worlds that are asked for at least, since some are left to others. */
const leastAsked = 64
/** How long a session is left to others whose world this process could not make. */
const otherKindMs = 60_000

const Order = lazily(() =>
  z.object({
    root: z.string(),
    sessionId: z.string(),
    parent: z.string(),
    path: z.array(z.string()),
    reportsUsage: z.boolean().optional(),
  }),
)

/** The board of a fleet in its database: the sessions that its dispatcher gives, and the worlds that are due. */
export class PostgresBoard implements Board {
  readonly #options: PostgresBoardOptions
  #sweptAt = -Infinity
  /** There is something that a dead worker may have held. */
  #othersHold = true
  /** While its worker looks for work, it sweeps whenever that is its turn. */
  #isSweeping = false
  readonly #workers = new KnownWorkers()
  readonly #workHearers = new Set<() => void>()
  #later: NodeJS.Timeout | undefined

  constructor(options: PostgresBoardOptions) {
    this.#options = options
  }

  async launch(order: SessionOrder, world: World, epoch: number): Promise<void> {
    const { dispatcher, tenantOf } = this.#options
    const { parent, root, sessionId } = order
    const { isBusy, snapshot } = firstSnapshot(world)
    const job = JSON.stringify(order)
    const place = { world: sessionId, root, ...snapshot, isBusy, tenant: tenantOf(root), job }
    await dispatcher.launch(place, { world: parent, epoch })
  }

  withdraw({ root, sessionId }: SessionOrder): Promise<boolean> {
    return this.#options.dispatcher.withdraw(sessionId, root)
  }

  position({ root, sessionId }: SessionOrder): Promise<number | undefined> {
    return this.#options.dispatcher.position(sessionId, root)
  }

  post(letter: Parameters<Board['post']>[0]): Promise<void> {
    return this.#options.store.post(letter)
  }

  async next(asking: Asking): Promise<readonly Claim[]> {
    const { dispatcher, maxSessions: cap, maxSessionsPerTenant: tenantCap } = this.#options
    for (;;) {
      const given = await dispatcher.next({ cap, tenantCap, room: asking.room, suspects: suspectsFor(asking) })
      const ours: Claim[] = []
      for (const claim of given) {
        const order = orderIn(claim)
        if (order !== undefined && (await this.#isForUs(claim, order))) ours.push(new PostgresClaim(claim, order))
        // A later version has put it in line.
        else if (order === undefined) await dispatcher.putBack(claim, otherKindMs)
      }
      if (ours.length > 0 || given.length === 0) return ours
    }
  }

  /** What is not is left to others, or given up. */
  async #isForUs(claim: SessionClaim, order: SessionOrder): Promise<boolean> {
    const { dispatcher, kinds } = this.#options
    if (!kinds.includes(kindOf(order.root))) await dispatcher.putBack(claim, otherKindMs)
    else if (claim.strikes < maxStrikes) return true
    else await ((await this.#givenUp(claim, order)) ? dispatcher.finish(claim) : dispatcher.putBack(claim, doubtMs))
    return false
  }

  giveBack(claim: Claim): Promise<void> {
    return this.#options.dispatcher.giveBack(lineClaim(claim))
  }

  async slotAgain(claim: Claim, signal: AbortSignal): Promise<boolean> {
    const { dispatcher } = this.#options
    await dispatcher.wantSlot(lineClaim(claim))
    let news = Promise.withResolvers<void>()
    const hear = (): void => news.resolve()
    const deaf = dispatcher.on(hear)
    signal.addEventListener('abort', hear)
    const timer = setInterval(hear, slotLookMs)
    try {
      for (;;) {
        if (signal.aborted) return false
        const hasSlot = await dispatcher.hasSlot(lineClaim(claim))
        if (hasSlot === undefined) return false
        if (hasSlot) return true
        await news.promise
        news = Promise.withResolvers()
      }
    } finally {
      clearInterval(timer)
      signal.removeEventListener('abort', hear)
      deaf()
    }
  }

  putBack(claim: Claim, unfitMs?: number): Promise<number | undefined> {
    return this.#options.dispatcher.putBack(lineClaim(claim), unfitMs)
  }

  rest(claim: Claim): Promise<void> {
    return this.#options.dispatcher.rest(lineClaim(claim))
  }

  finished(claim: Claim): Promise<void> {
    return this.#options.dispatcher.finish(lineClaim(claim))
  }

  async due(asking: Asking, except: readonly string[]): Promise<readonly DueWorld[]> {
    const { dispatcher, kinds, quarantined, store } = this.#options
    if (this.#sweeps) {
      if (performance.now() > this.#sweptAt + sweepEachMs) await this.#sweepNow()
      await dispatcher.wake()
    }
    const due = await store.due(Math.max(asking.room, leastAsked), { kinds, except, suspects: suspectsFor(asking) })
    const lost = due.filter(({ strikes }) => strikes >= maxStrikes)
    for (const { name, root, strikes } of lost) {
      const reason = `${strikes} workers in a row have died while they held it`
      if (await store.hold(name, { root, reason, seize: true, strikes: maxStrikes })) quarantined(name, root, strikes)
    }
    const others = due.filter((each) => !lost.includes(each))
    const ours = others.filter(({ name, waitedMs }) => waitedMs >= this.#turnMs(name))
    if (ours.length < others.length) this.#lookLater()
    return ours.slice(0, asking.room).map(({ name, strikes, waitedMs }) => ({
      name,
      isRecovered: strikes > 0,
      isSuspect: strikes >= suspectStrikes,
      waitedMs,
    }))
  }

  /** For how long a world that is due is left to the workers that come before this one, in an order of its own. */
  #turnMs(world: string): number {
    const kind = kindOf(world)
    return this.#workers.turnOf(placeOf(world).place, ({ worlds }) => worlds.includes(kind)) * turnMs
  }

  /** A letter that wakes a world, or a session that rests, is for one worker, and for a second one if that is full: not for all. */
  async #wake(places: readonly string[], hear: () => void): Promise<void> {
    const ours = places.filter((place) => this.#workers.turnOf(place, undefined, firstTurns) < firstTurns)
    if (ours.length === 0) return
    // What it cannot do now, one of the next looks does.
    await this.#options.dispatcher.wake(ours).catch(() => undefined)
    hear()
  }

  #lookLater(): void {
    if (this.#later !== undefined) return
    this.#later = setTimeout(() => {
      this.#later = undefined
      for (const hear of this.#workHearers) hear()
    }, turnMs).unref()
  }

  async state(): Promise<BoardState> {
    const { dispatcher, store } = this.#options
    const me = await store.enter()
    const { hasWork, othersHold, pauses, sessions, workers, worlds } = await store.peers.state()
    const held = await dispatcher.held()
    const open = new Set(sessions.map(({ root = '', world }) => sessionKey({ root, sessionId: world })))
    this.#othersHold = othersHold
    const { isOneGone } = this.#workers.meet(me, workers)
    if (isOneGone) this.#sweepInstead()
    return {
      worlds: new Set(worlds),
      sessions: new Map(
        held.flatMap((claim) => {
          const order = orderIn(claim)
          if (order === undefined) return []
          const key = sessionKey(order)
          return [[key, { claim: new PostgresClaim(claim, order), isOpen: open.has(key) }]]
        }),
      ),
      workers: { count: Math.max(1, workers.length), before: workers.filter(({ id }) => id < me).length },
      has: this.#workers.has,
      // What a queue elsewhere has is not in the tables.
      hasWork: hasWork || this.#isQueueElsewhere,
      pauses: new Map(pauses.map(({ forMs, provider }) => [provider, forMs])),
    }
  }

  pause(provider: string, forMs: number): Promise<void> {
    return this.#options.store.peers.pause(provider, forMs)
  }

  onState(hear: () => void): () => void {
    return this.#options.store.peers.on(hear)
  }

  onWork(hear: () => void): () => void {
    const listener = (): void => hear()
    this.#workHearers.add(listener)
    const { dispatcher, store } = this.#options
    const ends = [dispatcher.on(hear), store.peers.onLetters((places) => void this.#wake(places, hear))]
    this.#sweepOn()
    return () => {
      this.#workHearers.delete(listener)
      for (const end of ends) end()
    }
  }

  /** The oldest worker that lives, and the next one for the case that it has just died. Any, before it knows the others. */
  get #sweeps(): boolean {
    return this.#workers.age < sweepers
  }

  #sweepOn(): void {
    if (this.#isSweeping) return
    this.#isSweeping = true
    setTimeout(() => void this.#sweep(), sweepEachMs).unref()
  }

  /** Those who sweep may hang. A few of the others do so once, one after the other, where a worker is gone. */
  #sweepInstead(): void {
    const { age } = this.#workers
    if (age < sweepers || age >= mostSweepers) return
    setTimeout(() => void this.#sweepNow().catch(() => undefined), age * sweepEachMs).unref()
  }

  get #isQueueElsewhere(): boolean {
    return this.#options.dispatcher !== this.#options.store.line
  }

  async #sweepNow(): Promise<void> {
    this.#sweptAt = performance.now()
    await this.#options.store.sweep({ isQueueElsewhere: this.#isQueueElsewhere })
  }

  async #sweep(): Promise<void> {
    const eachMs = this.#othersHold ? 0 : restSweepMs
    // What it cannot do now, the next one does.
    if (this.#sweeps && performance.now() > this.#sweptAt + eachMs) await this.#sweepNow().catch(() => undefined)
    this.#isSweeping = false
    if (this.#workHearers.size > 0) this.#sweepOn()
  }

  /** Its parent is told that it has failed, unless workers that were thought dead have taken their strikes back, or still may. */
  async #givenUp({ strikes }: SessionClaim, { parent, root, sessionId }: SessionOrder): Promise<boolean> {
    const { quarantined, store } = this.#options
    const { line, reason } = givenUp(sessionId, strikes)
    if (!(await store.hold(sessionId, { root, reason, seize: true, strikes: maxStrikes }))) return false
    await this.#endBelow({ root, sessionId })
    await store.post({ root, world: parent, line, id: `${sessionId}/given-up` })
    quarantined(sessionId, root, strikes)
    return true
  }

  /** Sessions below one that was given up would wait for it. Who has them writes no more, and launches none. */
  async #endBelow({ root, sessionId }: Pick<SessionOrder, 'root' | 'sessionId'>): Promise<void> {
    const { dispatcher, store } = this.#options
    const orders = (await dispatcher.jobs(root)).flatMap((job) => orderIn({ job }) ?? [])
    const below = orders.filter(({ path, sessionId: id }) => id !== sessionId && path.includes(sessionId))
    if (below.length === 0) return
    const worlds = below.map((order) => order.sessionId)
    for (const world of worlds) await (await store.open(world, { root, seize: true })).close()
    await dispatcher.remove(worlds, root)
    // What they had launched until then.
    await this.#endBelow({ root, sessionId })
  }
}

/** What the name of a world begins with. */
export function kindOf(world: string): string {
  return world.split('/', 1)[0] ?? ''
}

class PostgresClaim implements Claim {
  readonly order: SessionOrder
  readonly line: SessionClaim

  constructor(line: SessionClaim, order: SessionOrder) {
    this.line = line
    this.order = order
  }

  get id(): number {
    return this.line.id
  }

  get isWaiting(): boolean {
    return !this.line.hasSlot
  }

  get isRecovered(): boolean {
    return this.line.strikes > 0
  }

  get isSuspect(): boolean {
    return this.line.strikes >= suspectStrikes
  }
}

function suspectsFor({ hasSuspect }: Asking): Suspects {
  return { from: suspectStrikes, below: maxStrikes, most: hasSuspect ? 0 : 1 }
}

/** `undefined`: it says it in a way that is not known here. */
function orderIn({ job }: Pick<SessionClaim, 'job'>): SessionOrder | undefined {
  try {
    return Order().parse(JSON.parse(job))
  } catch {
    return undefined
  }
}

function lineClaim(claim: Claim): SessionClaim {
  return (claim as PostgresClaim).line
}
