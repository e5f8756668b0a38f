import { z } from 'zod'
import type { SessionOrder } from '../../engine/children/session-fleet.ts'
import { type Board, type Claim, sessionKey } from '../../engine/fleet/board.ts'
import { firstSnapshot } from '../../engine/loop/journal-writer.ts'
import { letterLine } from '../../protocol/letter.ts'
import type { LineClaim, PostgresStore } from '../../stores/postgres/port.ts'
import { lazily } from '../../world/lazily.ts'
import type { World } from '../../world/world.ts'

export interface PostgresBoardOptions {
  readonly store: PostgresStore
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

/** A world whose holder died so often in a row is driven no more, until somebody releases it. */
const maxStrikes = 5
/** How often what dead workers held is looked for. */
const sweepEachMs = 250
/** How often a session that waits for its slot again looks where nothing is heard. */
const slotLookMs = 500
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

/** The board of a fleet in its database: the sessions in line there, and the worlds that are due. */
export class PostgresBoard implements Board {
  readonly #options: PostgresBoardOptions
  #sweptAt = -Infinity

  constructor(options: PostgresBoardOptions) {
    this.#options = options
  }

  async launch(order: SessionOrder, world: World): Promise<void> {
    const { store, tenantOf } = this.#options
    const { root, sessionId } = order
    const { isBusy, snapshot } = firstSnapshot(world)
    const place = { world: sessionId, root, tenant: tenantOf(root), job: JSON.stringify(order) }
    const { tick, lines } = snapshot
    await store.transaction(async (client) => {
      // What is written was launched before, and has perhaps ended since.
      if (await store.place({ world: sessionId, root, tick, lines, isBusy }, client))
        await store.line.enter(place, client)
    })
  }

  withdraw({ root, sessionId }: SessionOrder): Promise<boolean> {
    return this.#options.store.line.withdraw(sessionId, root)
  }

  position({ root, sessionId }: SessionOrder): Promise<number | undefined> {
    return this.#options.store.line.position(sessionId, root)
  }

  post(letter: Parameters<Board['post']>[0]): Promise<void> {
    return this.#options.store.post(letter)
  }

  async next(): Promise<Claim | undefined> {
    const { kinds, maxSessions, maxSessionsPerTenant, store } = this.#options
    for (;;) {
      const claim = await store.line.next(maxSessions, maxSessionsPerTenant)
      if (claim === undefined) return undefined
      const order = Order().parse(JSON.parse(claim.job))
      if (!kinds.includes(kindOf(order.root))) {
        await store.line.putBack(claim, otherKindMs)
        continue
      }
      if (claim.strikes < maxStrikes) return new PostgresClaim(claim, order)
      await this.#giveUp(claim, order)
    }
  }

  giveBack(claim: Claim): Promise<void> {
    return this.#options.store.line.giveBack(lineClaim(claim))
  }

  async slotAgain(claim: Claim, signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options
    await store.line.wantSlot(lineClaim(claim))
    let news = Promise.withResolvers<void>()
    const hear = (): void => news.resolve()
    const deaf = store.onLine(hear)
    signal.addEventListener('abort', hear)
    const timer = setInterval(hear, slotLookMs)
    try {
      for (;;) {
        if (signal.aborted) return false
        const hasSlot = await store.line.hasSlot(lineClaim(claim))
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

  putBack(claim: Claim, unfitMs?: number): Promise<void> {
    return this.#options.store.line.putBack(lineClaim(claim), unfitMs)
  }

  finished(claim: Claim): Promise<void> {
    return this.#options.store.line.finish(lineClaim(claim))
  }

  async due(limit: number) {
    const { kinds, quarantined, store } = this.#options
    if (performance.now() > this.#sweptAt + sweepEachMs) {
      this.#sweptAt = performance.now()
      await store.sweep()
    }
    const due = await store.due(limit, kinds)
    const lost = due.filter(({ strikes }) => strikes >= maxStrikes)
    for (const { name, root, strikes } of lost) {
      await store.hold(name, { root, reason: `${strikes} workers in a row have died while they held it` })
      quarantined(name, root, strikes)
    }
    return due.filter((each) => !lost.includes(each)).map(({ name, strikes }) => ({ name, isRecovered: strikes > 0 }))
  }

  async held() {
    const held = await this.#options.store.line.held()
    const sessions = held.flatMap(({ isSession, root, world }) =>
      isSession ? sessionKey({ root, sessionId: world }) : [],
    )
    const worlds = held.flatMap(({ isSession, world }) => (isSession ? [] : world))
    return { sessions: new Set(sessions), worlds: new Set(worlds) }
  }

  onWork(hear: () => void): () => void {
    return this.#options.store.onLine(hear)
  }

  /** Its parent is told that it has failed, and it leaves the line. */
  async #giveUp(claim: LineClaim, { parent, root, sessionId }: SessionOrder): Promise<void> {
    const { quarantined, store } = this.#options
    const { strikes } = claim
    const error = `${strikes} workers in a row have died while they held this session, so it is driven no more.`
    const end = { ok: false as const, error, kind: 'internal' as const }
    const news = { kind: 'end' as const, end, usage: { calls: 0, sessions: 0 } }
    await store.hold(sessionId, { root, reason: error })
    await store.post({ root, world: parent, line: letterLine({ session: sessionId, news }), id: `${sessionId}/end` })
    await store.line.finish(claim)
    quarantined(sessionId, root, strikes)
  }
}

/** What the name of a world begins with. */
export function kindOf(world: string): string {
  return world.split('/', 1)[0] ?? ''
}

class PostgresClaim implements Claim {
  readonly order: SessionOrder
  readonly line: LineClaim

  constructor(line: LineClaim, order: SessionOrder) {
    this.line = line
    this.order = order
  }

  get id(): number {
    return this.line.id
  }

  get isRecovered(): boolean {
    return this.line.strikes > 0
  }
}

function lineClaim(claim: Claim): LineClaim {
  return (claim as PostgresClaim).line
}
