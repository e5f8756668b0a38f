import type { SessionUsage } from '../../protocol/usage.ts'
import type { World } from '../../world/world.ts'
import { type LetterData, letterLine, type SessionNews } from '../../protocol/letter.ts'
import type { JournalWriter } from '../loop/journal-writer.ts'
import type { SessionFleet, SessionOrder } from './session-fleet.ts'

type End = Extract<SessionNews, { readonly kind: 'end' }>
/** What says how a session has ended, or what it has spent in all. */
type LastNews = Extract<SessionNews, { readonly kind: 'end' | 'stopped' }>

export interface RemoteSessionsParts {
  readonly fleet: SessionFleet
  readonly root: string
  /** The name of the world that launches them. */
  readonly world: string
  /** Ids of the sessions above this world and its own. */
  readonly path: readonly string[]
  /** Of the world that launches them: a letter may go once what it said is committed, or has no meaning any more. */
  readonly journal: Pick<JournalWriter, 'done' | 'epoch'>
  /**
   * Enters what a session has spent that this world no longer waits for. False: perhaps the last tick of a Runner that stops takes it.
   * @param usage absent: as its World says
   */
  readonly spent: (sessionId: string, usage: SessionUsage | undefined) => Promise<boolean>
}

/** Sessions of a world that run elsewhere: what they tell in letters, and what they are told. */
export class RemoteSessions {
  readonly fleet: SessionFleet
  readonly #parts: RemoteSessionsParts
  readonly #runs = new Map<string, RemoteRun>()
  /** Called at the next news of what a session has spent. */
  #hearers: (() => void)[] = []

  constructor(parts: RemoteSessionsParts) {
    this.fleet = parts.fleet
    this.#parts = parts
  }

  /** @param reportsUsage this world counts what the session spends while it runs */
  order(sessionId: string, reportsUsage = false): SessionOrder {
    const { path, root, world } = this.#parts
    return { root, sessionId, parent: world, path: [...path, sessionId], ...(reportsUsage && { reportsUsage }) }
  }

  /** Writes a session's World and its place in line. @throws `world-fenced` where the world that launches it has another holder */
  async launch(order: SessionOrder, world: World): Promise<void> {
    const { fleet, journal } = this.#parts
    await fleet.launch(order, world, journal.epoch)
  }

  /** The run of a session that this world waits for. */
  run(sessionId: string): RemoteRun {
    let run = this.#runs.get(sessionId)
    if (run === undefined) {
      run = new RemoteRun((letter) => this.#parts.journal.done(letter))
      this.#runs.set(sessionId, run)
    }
    return run
  }

  known(sessionId: string): RemoteRun | undefined {
    return this.#runs.get(sessionId)
  }

  /** The world has what there was to know of a session. @param isCharged also what it has spent. Else that is entered */
  forget(sessionId: string, isCharged: boolean): void {
    const run = this.#runs.get(sessionId)
    this.#runs.delete(sessionId)
    const late = isCharged ? [] : (run?.takeLast() ?? [])
    run?.leave()
    for (const { letter, news } of late) void this.#hearLate(sessionId, news, letter)
  }

  /** Resolves once what sessions have spent is known in their world. Before that, one that is over may be held elsewhere. */
  async settled(isSettled: () => boolean): Promise<void> {
    while (!isSettled()) await new Promise<void>((resolve) => this.#hearers.push(resolve))
  }

  hear(sessionId: string, news: SessionNews, letter: number): void {
    const run = this.#runs.get(sessionId)
    if (run !== undefined) return run.hear(news, letter)
    // It was stopped, or has told this before.
    void this.#hearLate(sessionId, news, letter)
  }

  async #hearLate(sessionId: string, news: SessionNews, letter: number): Promise<void> {
    try {
      if (news.kind === 'stopped' || (news.kind === 'end' && news.isUnsettled !== true)) {
        // What is told twice counts once.
        if (!(await this.#parts.spent(sessionId, news.usage))) return
        for (const hear of this.#hearers.splice(0)) hear()
      }
      // Nobody waits for it: it would keep its slot, and wait for its grant for ever.
      if (news.kind === 'slot') await this.tell(sessionId, 'stop', { stop: 'Its parent does not wait for it.' })
      this.#parts.journal.done(letter)
    } catch {
      // A Runner that stops before that is committed leaves the letter to the next one.
    }
  }

  /** @param what names the letter among all that this session gets: it counts once */
  async tell(sessionId: string, what: string, letter: LetterData): Promise<void> {
    const { fleet, root } = this.#parts
    await fleet.post({ root, world: sessionId, line: letterLine(letter), id: `${sessionId}/${what}` })
  }
}

/** A session that runs elsewhere, as far as it has told. */
export class RemoteRun {
  readonly #done: (letter: number) => void
  readonly #slot = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<End>()
  /** Letters that have to stay: of its slot until it has its grant, of its end until the world has committed that. */
  #slotLetters: number[] = []
  #last: { readonly letter: number; readonly news: LastNews }[] = []
  #grant: (() => Promise<void>) | undefined
  /** In all, as last told. */
  usage: SessionUsage = { calls: 0, sessions: 0 }

  constructor(done: (letter: number) => void) {
    this.#done = done
  }

  hear(news: SessionNews, letter: number): void {
    switch (news.kind) {
      case 'slot':
        this.#slot.resolve()
        this.#slotLetters.push(letter)
        // Who has taken it up anew before it had begun waits for its grant again.
        return void this.#grantAgain()
      case 'spent':
        this.usage = news.usage
        return this.#done(letter)
      case 'end':
      case 'stopped':
        this.usage = news.usage ?? this.usage
        this.#last.push({ letter, news })
        if (news.kind === 'end') this.#ended.resolve(news)
    }
  }

  /** Resolves once it has a slot somewhere. */
  get slot(): Promise<void> {
    return this.#slot.promise
  }

  get ended(): Promise<End> {
    return this.#ended.promise
  }

  /** It runs, and has its grant. @param wasRunning it may not have it: the letter of its slot says so */
  granted(wasRunning: boolean, grant: () => Promise<void>): void {
    this.#grant = grant
    if (wasRunning) void this.#grantAgain()
    else this.#leave(this.#slotLetters)
  }

  /** The letters of its end, which from now on are others' to remove. */
  takeLast(): readonly { readonly letter: number; readonly news: LastNews }[] {
    return this.#last.splice(0)
  }

  /** What its letters said is committed. */
  leave(): void {
    this.#leave(this.#slotLetters)
    this.#leave(this.#last.splice(0).map(({ letter }) => letter))
  }

  async #grantAgain(): Promise<void> {
    if (this.#grant === undefined || this.#slotLetters.length === 0) return
    try {
      await this.#grant()
      this.#leave(this.#slotLetters)
    } catch {
      // The letter stays for whoever has the world next.
    }
  }

  #leave(letters: number[]): void {
    for (const letter of letters.splice(0)) this.#done(letter)
  }
}
