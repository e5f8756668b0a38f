import { SessionEnd } from '../../../components/sessions/ancestry.ts'
import { type LetterData, letterLine, readLetter, type SessionNews } from '../../protocol/letter.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import { newlySpent } from '../../rules/money/ledger-entry.ts'
import { marksOf } from '../../rules/policy/marks.ts'
import type { Post, SharedStore } from '../../stores/port.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { untilAborted } from '../effects/until-aborted.ts'
import type { Host } from '../effects/host.ts'
import { JournalWriter } from '../loop/journal-writer.ts'
import { LetterBox } from '../loop/letter-box.ts'
import type { Listeners } from '../loop/listeners.ts'
import { Runner } from '../loop/runner.ts'
import type { RestoreOptions } from '../loop/stored-ticks.ts'
import type { HeldWorld } from '../loop/stored-world.ts'
import { ChildRun, type Grant, type LetterToSession } from '../children/child-run.ts'
import type { Slot } from '../children/pool.ts'
import type { SessionOrder } from '../children/session-fleet.ts'

/** How often a session says at most what it has spent, where its parent counts that. */
const reportEachMs = 2_000

export interface TenureParts {
  readonly store: SharedStore
  readonly host: Host
  readonly known: Pick<RestoreOptions, 'components' | 'systems'>
  readonly record?: boolean | undefined
  /** Get all events of the session's World, with its path. */
  readonly listeners: Listeners
  /** The one that it has now. */
  readonly slot: Slot
  /** The worker lets go of it: it goes on elsewhere. */
  readonly signal: AbortSignal
}

/** How a holding ended. `gone`: there is no such World any more. */
export type TenureEnd = 'ended' | 'stopped' | 'let-go' | 'gone'

/**
 * Holds a session's World: from its slot, or from where another worker left it, until it has ended, is told to stop, or the
 * worker lets go. All that it tells its parent goes with a commit, so that a holder who has a successor tells nothing.
 * @throws `world-locked`, `world-fenced`, `store-failed`, and what restoring throws
 */
export async function holdSession(order: SessionOrder, parts: TenureParts): Promise<TenureEnd> {
  const { known, record, store } = parts
  const { root, sessionId } = order
  const news = new NewsOf(order, parts.host)
  const held = await JournalWriter.openShared(sessionId, {
    store,
    root,
    record,
    // It came with its slot: who had it before lost it.
    seize: true,
    outgoing: () => news.due(),
  })
  let isDriven = false
  try {
    const found = await held.journal.restore(known)
    if (found === undefined) return 'gone'
    const tenure = new Tenure(order, parts, news, { ...held, lastEvents: found.lastEvents })
    const run = tenure.runOf(found.world)
    if (run.hasEnded) {
      await held.journal.send([news.end()])
      return 'ended'
    }
    const begun = run.isGranted ? undefined : await tenure.granted()
    if (typeof begun === 'string') return begun
    isDriven = true
    return await tenure.driven(begun)
  } finally {
    // A Runner closes its journal itself.
    if (!isDriven) await held.journal.close()
  }
}

type Held = HeldWorld & Awaited<ReturnType<typeof JournalWriter.openShared>>

class Tenure {
  readonly #order: SessionOrder
  readonly #parts: TenureParts
  readonly #news: NewsOf
  readonly #held: Held
  readonly #grant = Promise.withResolvers<Grant>()
  readonly #stop = Promise.withResolvers<string>()
  #run: ChildRun | undefined
  #failure: Error | undefined

  constructor(order: SessionOrder, parts: TenureParts, news: NewsOf, held: Held) {
    this.#order = order
    this.#parts = parts
    this.#news = news
    this.#held = held
  }

  runOf(world: Parameters<typeof Runner.ofChild>[0]): ChildRun {
    const { host, listeners, record, slot, store } = this.#parts
    const { path, root } = this.#order
    const options = { host, store, ...(record !== undefined && { record }) }
    const run = new ChildRun(
      ({ committed, failed, ...ties }) =>
        Runner.ofChild(world, options, this.#held, {
          ...ties,
          root,
          path,
          listeners,
          committed: () => {
            this.#news.committed()
            committed()
          },
          failed: (error) => {
            this.#failure = error
            failed(error)
          },
          told: (letter, id) => this.#told(letter, id),
        }),
      { slot },
    )
    this.#run = run
    this.#news.of(run)
    return run
  }

  /** Says that the session has its slot, and waits for what it may spend. A text: it does not begin here. */
  async granted(): Promise<Grant | TenureEnd> {
    const { journal, mail } = this.#held
    const box = new LetterBox({
      ...mail,
      take: ({ id, line }) => {
        const letter = readLetter(line)
        // The others are for the Runner, which reads them again.
        if (typeof letter !== 'string' && ('grant' in letter || 'stop' in letter)) this.#told(letter, id)
      },
    })
    await journal.send([this.#news.slot()])
    box.open()
    const stopped = this.#stop.promise.then(() => 'stopped' as const)
    const told = await untilAborted(Promise.race([this.#grant.promise, stopped]), this.#parts.signal)
    box.close()
    if (told === 'stopped') await journal.send([this.#news.stopped()])
    else if (told === undefined) journal.wakeAtMs = 0
    return told ?? 'let-go'
  }

  async driven(granted: Grant | undefined): Promise<TenureEnd> {
    const { journal } = this.#held
    const run = this.#run as ChildRun
    try {
      await run.start(granted)
      const ended = run.ended().then(() => 'ended' as const)
      const stopped = this.#stop.promise.then((reason) => ({ reason }))
      const how = await untilAborted(Promise.race([ended, stopped]), this.#parts.signal)
      await this.#refuseFailure()
      if (how === 'ended') return how
      if (how === undefined) {
        journal.wakeAtMs = 0
        return 'let-go'
      }
      this.#news.isStopping = true
      await run.cancel(how.reason)
      await this.#refuseFailure()
      return 'stopped'
    } finally {
      await run.stop()
    }
  }

  /** A World that cannot go on has failed; one that is held elsewhere by now, or cannot be written, has not. */
  async #refuseFailure(): Promise<void> {
    const failure = this.#failure
    if (failure === undefined) return
    const isElsewhere = failure instanceof EntiaError && ['store-failed', 'world-fenced'].includes(failure.code)
    if (isElsewhere) throw failure
    await this.#held.journal.send([this.#news.failed(failure)])
  }

  #told(letter: LetterToSession, id: number): void {
    if ('stop' in letter) this.#stop.resolve(letter.stop)
    else this.#grant.resolve(letter.grant as Grant)
    this.#held.journal.done(id)
  }
}

/** What a session tells its parent. */
class NewsOf {
  readonly #order: SessionOrder
  readonly #host: Host
  #run: ChildRun | undefined
  #hasTold = false
  #reported: SessionUsage | undefined
  #reportedAtMs = -Infinity
  isStopping = false

  constructor(order: SessionOrder, host: Host) {
    this.#order = order
    this.#host = host
  }

  of(run: ChildRun): void {
    this.#run = run
  }

  slot(): Post {
    return this.#post({ kind: 'slot' })
  }

  end(): Post {
    const { agent, isArchiving, usage, world } = this.#known
    const marks = marksOf(world, agent)
    const more = { ...(isArchiving && { isArchiving: true as const }), ...(marks && { marks }) }
    return this.#post({ kind: 'end', end: world.read(agent, SessionEnd), usage, ...more })
  }

  failed(error: Error): Post {
    const end = { ok: false as const, error: error.message, kind: 'internal' as const }
    return this.#post({ kind: 'end', end, usage: this.#known.usage })
  }

  stopped(): Post {
    return this.#post({ kind: 'stopped', usage: this.#known.usage })
  }

  /** What the next commit tells. */
  due(): readonly Post[] {
    if (this.isStopping) return [this.stopped()]
    const { hasEnded, usage } = this.#known
    if (hasEnded) return this.#hasTold ? [] : [this.end()]
    if (this.#order.reportsUsage !== true || newlySpent(this.#reported, usage) === undefined) return []
    const nowMs = this.#host.clock.now()
    if (nowMs < this.#reportedAtMs + reportEachMs) return []
    this.#reported = usage
    this.#reportedAtMs = nowMs
    return [this.#post({ kind: 'spent', usage })]
  }

  committed(): void {
    this.#hasTold ||= this.#known.hasEnded
  }

  get #known(): ChildRun {
    return this.#run as ChildRun
  }

  #post(news: SessionNews): Post {
    const { parent, root, sessionId } = this.#order
    const letter: LetterData = { session: sessionId, news }
    return { root, world: parent, line: letterLine(letter), id: `${sessionId}/${news.kind}` }
  }
}
