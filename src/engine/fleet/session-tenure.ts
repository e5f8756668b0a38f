import { type LetterData, letterLine, readLetter } from '../../protocol/letter.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { untilAborted } from '../../base/until-aborted.ts'
import { JournalWriter } from '../loop/journal-writer.ts'
import { LetterBox } from '../loop/letter-box.ts'
import { fitting, type FitnessParts } from './fitness.ts'
import { onceMsOf } from './letting-go.ts'
import { SessionLetters } from './session-letters.ts'
import { quiet, restful, sleptMs, wakeDate } from './waits.ts'
import type { EventTime } from '../loop/events.ts'
import { Listeners } from '../loop/listeners.ts'
import { Runner } from '../loop/runner.ts'
import { emitAgain } from '../loop/taking-up.ts'
import type { Found, Restored } from '../loop/stored-ticks.ts'
import type { HeldWorld } from '../loop/stored-world.ts'
import { ChildRun, type Grant, isOver, type LetterToSession } from '../children/child-run.ts'
import type { BoardSlot } from './board-slot.ts'
import type { SessionOrder } from '../children/session-fleet.ts'

export interface TenureParts extends Omit<FitnessParts, 'root'> {
  readonly record?: boolean | undefined
  /** Get all events of the session's World, with its path. */
  readonly listeners: Listeners
  /** Its World is open here. */
  readonly opened: () => void
  /** The one that it has now. */
  readonly slot: BoardSlot
  /** Milliseconds for which it has only waited after which it is parked. */
  readonly idleMs: number
  /** The worker lets go of it: it goes on elsewhere. */
  readonly signal: AbortSignal
}

/**
 * For how long a session that has its slot waits for an answer: its grant, or that it has to wait for that. Then it goes behind its
 * parent in the line, which perhaps waits there for this very slot.
 */
const grantedWithinMs = 2_000

/** How a holding ended. `resting`: it only waits, and is parked; `gone`: there is no such World any more. */
export type TenureEnd = 'ended' | 'stopped' | 'let-go' | 'resting' | 'gone'

/**
 * Holds a session's World: from its slot, or from where another worker left it, until it has ended, is told to stop, or the
 * worker lets go. All that it tells its parent goes with a commit, so that a holder who has a successor tells nothing.
 * @throws `world-locked`, `world-fenced`, `store-failed`, and what restoring throws. What this worker cannot drive it has not
 * touched
 */
export async function holdSession(order: SessionOrder, parts: TenureParts): Promise<TenureEnd> {
  const { known, record, store } = parts
  const { root, sessionId } = order
  const news = new SessionLetters(order, parts.host.clock)
  const read = await readable(order, parts)
  if (read === undefined) return lost(order, parts)
  const held = await JournalWriter.openShared(sessionId, {
    store,
    root,
    record,
    // It came with its slot: who had it before lost it.
    seize: true,
    outgoing: () => news.due(),
  })
  parts.opened()
  let isDriven = false
  try {
    const found = await held.journal.restore(known, read)
    if (found === undefined) return await lost(order, parts)
    const slept = sleptMs(found.world, parts.host, held.journal.wasDueMs)
    held.journal.wakes = wakeDate(found.world, parts.host, slept)
    const tenure = new Tenure(order, parts, news, { ...held, sleptMs: slept, lastEvents: found.lastEvents })
    const run = tenure.runOf(found.world)
    if (run.isOver && run.isUnsettled) {
      isDriven = true
      return await tenure.settled()
    }
    if (run.isOver) {
      // Whoever held it last may have died before all heard how it ended.
      tenure.emitAgain(found)
      await held.journal.send([run.hasEnded ? news.end() : news.stopped()])
      return run.hasEnded ? 'ended' : 'stopped'
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

/** The World of a session as `fitting` reads it; `undefined`: it is lost. One that is damaged is as good as none. */
async function readable(order: SessionOrder, parts: TenureParts): Promise<Restored | undefined> {
  const { root, sessionId } = order
  try {
    return await fitting(sessionId, { ...parts, root })
  } catch (error) {
    if (!(error instanceof EntiaError) || !['corrupt-journal', 'corrupt-snapshot'].includes(error.code)) throw error
    return undefined
  }
}

/** Tells the parent of a session that it looks for its end in a World that is lost. */
async function lost({ parent, root, sessionId }: SessionOrder, { store }: TenureParts): Promise<'gone'> {
  const letter: LetterData = { session: sessionId, news: { kind: 'end' } }
  // Beside what it may have told of its end itself.
  await store.post({ root, world: parent, line: letterLine(letter), id: `${sessionId}/lost` })
  return 'gone'
}

type Held = HeldWorld & Awaited<ReturnType<typeof JournalWriter.openShared>>

class Tenure {
  readonly #order: SessionOrder
  readonly #parts: TenureParts
  readonly #news: SessionLetters
  readonly #held: Held
  readonly #grant = Promise.withResolvers<Grant>()
  readonly #stop = Promise.withResolvers<{ readonly reason: string; readonly letter: number }>()
  /** Its first tick, which takes its grant, is committed, or never will be. */
  readonly #begun = Promise.withResolvers<void>()
  #isStopped = false
  /** It is over, and what its own sessions have spent is known. */
  readonly #known = Promise.withResolvers<void>()
  readonly #wait = Promise.withResolvers<'resting'>()
  /** It has not begun, and waits for its grant. */
  #isGranting = false
  /** The letters with the grant. */
  readonly #granted = new Set<number>()
  #run: ChildRun | undefined
  #failure: Error | undefined
  #hasToldFailure = false
  #ticks = 0

  constructor(order: SessionOrder, parts: TenureParts, news: SessionLetters, held: Held) {
    this.#order = order
    this.#parts = parts
    this.#news = news
    this.#held = held
  }

  runOf(world: Parameters<typeof Runner.ofChild>[0]): ChildRun {
    const { host, listeners, record, slot, store } = this.#parts
    const { path, root } = this.#order
    const options = { host, store, ...(record !== undefined && { record }) }
    const run: ChildRun = new ChildRun(
      ({ committed, failed, ...ties }) =>
        Runner.ofChild(world, options, this.#held, {
          ...ties,
          root,
          path,
          listeners,
          committed: () => {
            this.#ticks++
            this.#news.committed()
            this.#begun.resolve()
            if (run.isOver && !run.isUnsettled) this.#known.resolve()
            committed()
          },
          failed: (error) => {
            this.#failure = error
            this.#begun.resolve()
            this.#known.resolve()
            failed(error)
          },
          told: (letter, id) => this.#told(letter, id),
        }),
      // One that is over needs none.
      isOver(world) ? {} : { slot },
    )
    this.#run = run
    this.#news.of(run)
    return run
  }

  /** Emits the events of its newest tick, where no Runner does. */
  emitAgain({ lastEvents, world }: Found): void {
    const { listeners } = this.#parts
    const { path, sessionId } = this.#order
    const time = (): EventTime => ({ nowMs: world.nowMs, dateMs: world.dateMs })
    emitAgain(world, { ...this.#held, lastEvents }, new Listeners(sessionId, time, { listeners, path }))
  }

  /** Says that the session has its slot, and waits for what it may spend. A text: it does not begin here. */
  async granted(): Promise<Grant | TenureEnd> {
    const { journal, mail } = this.#held
    const { slot } = this.#parts
    this.#isGranting = true
    const box = new LetterBox({
      ...mail,
      take: ({ id, line }) => {
        const letter = readLetter(line)
        // The others are for the Runner, which reads them again.
        if (typeof letter !== 'string' && !('input' in letter) && !('session' in letter)) this.#told(letter, id)
      },
    })
    // One that has rested until its grant came needs a slot now.
    if (slot.isHeld) await journal.send([this.#news.slot()])
    box.open()
    const first = await this.#answer()
    const told = first === 'granted' && !slot.isHeld ? await this.#slotAgain() : first
    box.close()
    this.#isGranting = false
    if (this.#isStopped) {
      // It was granted what it may spend, and called off, before it was taken up.
      await journal.send([this.#news.stopped()])
      return 'stopped'
    }
    if (told === 'granted') {
      for (const letter of this.#granted) journal.done(letter)
      return this.#grant.promise
    }
    journal.wakes = told === 'resting' ? () => undefined : () => 0
    return told
  }

  /** What its parent says first: for a while nothing is as good as that it has no time. */
  async #answer(): Promise<'granted' | 'let-go' | 'resting'> {
    const { host, signal } = this.#parts
    const late = Promise.withResolvers<'let-go'>()
    const cancel = host.clock.at(host.clock.now() + grantedWithinMs, () => late.resolve('let-go'))
    const granted = this.#grant.promise.then(() => 'granted' as const)
    const stopped = this.#stop.promise.then(() => 'let-go' as const)
    const first = await untilAborted(Promise.race([granted, stopped, this.#wait.promise, late.promise]), signal)
    cancel()
    // The grant has come behind the letter to wait for it.
    return this.#granted.size > 0 ? 'granted' : (first ?? 'let-go')
  }

  /** The letter with its grant stays until it has a slot: whoever holds it next begins with it. */
  async #slotAgain(): Promise<'granted' | 'let-go'> {
    const stopped = this.#stop.promise.then(() => false)
    const hasSlot = await untilAborted(Promise.race([this.#parts.slot.enter(), stopped]), this.#parts.signal)
    return hasSlot === true ? 'granted' : 'let-go'
  }

  async driven(granted: Grant | undefined): Promise<TenureEnd> {
    const how = await this.#untilItRests(granted)
    return how === 'ended' || how === 'stopped' ? this.#over() : how
  }

  async #untilItRests(granted: Grant | undefined): Promise<TenureEnd> {
    const { journal } = this.#held
    const run = this.#run as ChildRun
    const over = new AbortController()
    try {
      await run.start(granted)
      // What ends it before would be the first that its World takes.
      if (granted !== undefined) await untilAborted(this.#begun.promise, this.#parts.signal)
      const ended = run.ended().then(() => 'ended' as const)
      const resting = this.#resting(run, over.signal)
      const how = await untilAborted(Promise.race([ended, this.#stop.promise, resting]), this.#parts.signal)
      await this.#refuseFailure()
      if (how === 'resting') return how
      // What it rests for is letters alone, should it not know yet what its own sessions have spent.
      if (how !== undefined) journal.wakes = () => undefined
      if (how === 'ended') return how
      if (how === undefined) {
        journal.wakes = () => 0
        return 'let-go'
      }
      journal.doneWithTick(how.letter)
      await run.cancel(how.reason)
      await this.#refuseFailure()
      return 'stopped'
    } finally {
      over.abort()
      await run.stop({ onceMs: onceMsOf(this.#parts.signal) })
    }
  }

  /**
   * It is over, and its Runner has stopped. Until it knows what its own sessions have spent, it rests: their letters wake it. So too
   * where its last tick was not written: then it is due.
   */
  #over(): TenureEnd {
    const run = this.#run as ChildRun
    if (this.#hasToldFailure) return 'ended'
    if (run.isUnsettled || this.#failure !== undefined) return 'resting'
    return run.hasEnded ? 'ended' : 'stopped'
  }

  /** It is over, and takes what its own sessions tell, until it knows of all, or there is nothing to be taken for a while. */
  async settled(): Promise<TenureEnd> {
    const { host, idleMs, signal, slot } = this.#parts
    const run = this.#run as ChildRun
    const over = new AbortController()
    this.#held.journal.wakes = () => undefined
    slot.leave()
    let how: 'known' | 'idle' | undefined
    try {
      await run.settle()
      const known = this.#known.promise.then(() => 'known' as const)
      const idle = quiet(() => this.#ticks, { host, idleMs, signal: over.signal }).then(() => 'idle' as const)
      how = await untilAborted(Promise.race([known, idle]), signal)
      await this.#refuseFailure()
      // Whoever held it when it stopped them may have died before they heard.
      if (how === 'idle') await this.#held.journal.send(this.#news.stopsAgain())
    } finally {
      over.abort()
      await run.stop()
    }
    const end = this.#over()
    return how === undefined && end === 'resting' ? 'let-go' : end
  }

  /** Resolves once it has only waited for a while, without a slot. */
  async #resting({ world }: ChildRun, signal: AbortSignal): Promise<'resting'> {
    const { host, idleMs, slot } = this.#parts
    const never = new Promise<void>(() => undefined)
    await restful(
      { world, ticks: () => this.#ticks, idle: () => never },
      { host, idleMs, signal, hasSlot: () => slot.isHeld },
    )
    if (signal.aborted) await never
    return 'resting'
  }

  /** A World that cannot go on has failed; one that is held elsewhere by now, or cannot be written, has not. */
  async #refuseFailure(): Promise<void> {
    const failure = this.#failure
    if (failure === undefined) return
    const isElsewhere = failure instanceof EntiaError && ['store-failed', 'world-fenced'].includes(failure.code)
    if (isElsewhere) throw failure
    await this.#held.journal.send(this.#news.failed(failure))
    this.#hasToldFailure = true
  }

  #told(letter: LetterToSession, id: number): void {
    if ('stop' in letter) {
      this.#isStopped = true
      // It stays until the tick that it ends with, or for ever where there is none: nobody else says that it has ended.
      return this.#stop.resolve({ reason: letter.stop, letter: id })
    }
    if ('wait' in letter) {
      this.#wait.resolve('resting')
      return this.#held.journal.done(id)
    }
    this.#grant.resolve(letter.grant as Grant)
    if (this.#isGranting) this.#granted.add(id)
    // The Runner reads it again while it is being removed.
    else if (!this.#granted.has(id)) this.#held.journal.done(id)
  }
}
