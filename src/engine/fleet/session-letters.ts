import { SessionEnd } from '../../../components/sessions/ancestry.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { isFinal } from '../../protocol/delegation.ts'
import { type LetterData, letterLine, type SessionNews } from '../../protocol/letter.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import { newlySpent } from '../../rules/money/ledger-entry.ts'
import { marksOf } from '../../rules/policy/marks.ts'
import { isUnsettled } from '../../rules/delegation/unsettled-sessions.ts'
import { cutText } from '../../base/cut-text.ts'
import { maxLetterBytes, type Post } from '../../stores/port.ts'
import type { ChildRun } from '../children/child-run.ts'
import type { SessionOrder } from '../children/session-fleet.ts'
import type { Clock } from '../loop/clock.ts'

/** How often a session says at most what it has spent, where its parent counts that. */
const reportEachMs = 2_000

/** Longest message of a World that has failed: what its systems throw may be of any length. */
const maxErrorChars = 100_000

/** What a session tells its parent, and its own sessions when it is over. */
export class SessionLetters {
  readonly #order: SessionOrder
  readonly #clock: Clock
  #run: ChildRun | undefined
  /** How it ended is committed. */
  #hasToldEnd = false
  /** It is over, and all that it has spent is told with a commit. */
  #hasToldAll = false
  /** Its own sessions under way, as of the last commit. */
  #active: ReadonlySet<string> = new Set()
  #reported: SessionUsage | undefined
  #reportedAtMs = -Infinity

  constructor(order: SessionOrder, clock: Clock) {
    this.#order = order
    this.#clock = clock
  }

  /** @param run of its World as it is stored */
  of(run: ChildRun): void {
    this.#run = run
    this.#active = this.#activeSessions()
    // Told with the commit that ended it.
    this.#hasToldEnd = run.hasEnded
  }

  slot(): Post {
    return this.#post({ kind: 'slot' })
  }

  /** With what it has spent, unless that is not known yet: then it tells that later, as if it had been stopped. */
  end(): Post {
    const { agent, isArchiving, usage, world } = this.#known
    const marks = marksOf(world, agent)
    const spent = this.#known.isUnsettled ? { isUnsettled: true as const } : { usage }
    const more = { ...(isArchiving && { isArchiving: true as const }), ...(marks && { marks }), ...spent }
    const whole = this.#post({ kind: 'end', end: world.read(agent, SessionEnd), ...more })
    return Buffer.byteLength(whole.line) <= maxLetterBytes ? whole : this.#post({ kind: 'end', ...more })
  }

  /** With it, its own sessions end, which would wait for it. What all have spent is in their Worlds. */
  failed(error: Error): readonly Post[] {
    const end = { ok: false as const, error: cutText(error.message, maxErrorChars), kind: 'internal' as const }
    const stops = [...this.#active].map((sessionId) => this.#stop(sessionId))
    return [this.#post({ kind: 'end', end }), ...stops]
  }

  stopped(): Post {
    return this.#post({ kind: 'stopped', usage: this.#known.usage })
  }

  /** What the next commit tells. */
  due(): readonly Post[] {
    const { hasEnded, isOver } = this.#known
    if (!isOver) return this.#spent()
    const isEnding = hasEnded && !this.#hasToldEnd
    const isAllTold = this.#hasToldAll || this.#known.isUnsettled || isEnding
    return [...(isEnding ? [this.end()] : []), ...(isAllTold ? [] : [this.stopped()]), ...this.#stops()]
  }

  /** To its own sessions that have ended, as far as it does not know what they have spent. */
  stopsAgain(): readonly Post[] {
    return this.#sessions.flatMap((record) => (isUnsettled(record) ? [this.#stop(record.sessionId)] : []))
  }

  committed(): void {
    const { hasEnded, isOver } = this.#known
    this.#active = this.#activeSessions()
    this.#hasToldEnd ||= hasEnded
    this.#hasToldAll ||= isOver && !this.#known.isUnsettled
  }

  #spent(): readonly Post[] {
    const { usage } = this.#known
    if (this.#order.reportsUsage !== true || newlySpent(this.#reported, usage) === undefined) return []
    const nowMs = this.#clock.now()
    if (nowMs < this.#reportedAtMs + reportEachMs) return []
    this.#reported = usage
    this.#reportedAtMs = nowMs
    return [this.#post({ kind: 'spent', usage })]
  }

  /** To its own sessions that have ended with this: no later tick of its World would tell them. */
  #stops(): readonly Post[] {
    const active = this.#activeSessions()
    return [...this.#active].filter((sessionId) => !active.has(sessionId)).map((sessionId) => this.#stop(sessionId))
  }

  #stop(sessionId: string): Post {
    const letter: LetterData = { stop: 'The session that has launched it has ended.' }
    return { root: this.#order.root, world: sessionId, line: letterLine(letter), id: `${sessionId}/stop` }
  }

  #activeSessions(): ReadonlySet<string> {
    return new Set(this.#sessions.flatMap(({ sessionId, status }) => (isFinal(status) ? [] : sessionId)))
  }

  get #sessions(): readonly SubagentSessionData[] {
    const { world } = this.#known
    return world.entitiesWith(SubagentSession).map((session) => world.read(session, SubagentSession))
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
