import { HostFacts } from '../../components/host-facts.ts'
import type { StandardInput } from '../../components/input.ts'
import { Collected, SessionQuery } from '../../components/session-call.ts'
import { isFinal, type SessionStatus } from '../../components/session-status.ts'
import { type SessionUsage, SubagentSession, type SubagentSessionData } from '../../components/subagent-session.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { World } from '../world/world.ts'
import type { Transcript } from './child-run.ts'
import type { Clock } from './clock.ts'
import { checkedLaunch, checkedPrompt, checkedTime } from './launch-options.ts'
import type { LaunchOptions } from './launch-options.ts'
import { ownSession, type SessionRef } from './session-ref.ts'
import type { Launched, SessionNews } from './session-news.ts'
import type { Sessions } from './sessions.ts'

export interface WaitOptions {
  /** @default true */
  readonly wait?: boolean
  /** Longest wait. @default 60000 */
  readonly timeoutMs?: number
}

/** A session as a program sees it in a list. */
export interface SessionInfo {
  readonly sessionId: string
  readonly sequence: number
  readonly category: string
  /** Of an ended session: the beginning, if it is long. */
  readonly prompt: string
  readonly model: string
  readonly status: SessionStatus
  /** Since its launch. */
  readonly ageMs: number
  /** Until its deadline; `undefined`: it has none, or does not run. */
  readonly remainingMs: number | undefined
  readonly usage: SessionUsage
  /** A result or a reply is under way, or waits to be collected. */
  readonly pending: boolean
}

/** What a program works on an agent's sessions with. */
export interface SubagentsParts {
  readonly world: World
  readonly clock: Clock
  readonly sessions: Sessions
  readonly news: SessionNews
  /** Resolves once the input is committed. */
  readonly post: (input: StandardInput) => Promise<void>
}

const defaultWaitMs = 60_000
const busyChars = 60

/** An agent's sessions, for programs. A session is named by its full id, a unique prefix of it, or its sequence number. */
export class Subagents {
  readonly #agent: Entity
  readonly #parts: SubagentsParts

  constructor(agent: Entity, parts: SubagentsParts) {
    this.#agent = agent
    this.#parts = parts
  }

  /**
   * Launches a session in the background. Resolves once that is committed.
   *
   * @throws `invalid-argument` (an unknown category too), `tool-conflict`, `missing-skill`, `limit-reached`
   */
  async spawn(options: LaunchOptions): Promise<{ readonly sessionId: string; readonly sequence: number }> {
    const { sessionId, sequence } = await this.#launch(checkedLaunch(options))
    return { sessionId, sequence }
  }

  /** Launches a fork of the agent as it is now. @throws `invalid-argument`, `limit-reached` */
  async fork(
    directive: string,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<{ readonly sessionId: string; readonly sequence: number }> {
    const { sessionId, sequence } = await this.#launch({
      ...checkedLaunch({ ...options, prompt: directive }),
      fork: true,
    })
    return { sessionId, sequence }
  }

  /**
   * Asks a session that has succeeded a further question. Gives the reply; `undefined` at the time-out, and the question
   * goes on; without waiting the session's full id, and the reply is to be collected.
   *
   * @throws `unknown-session`, `ambiguous-id`, `not-queryable`, `session-busy`, `session-failed`, `invalid-argument`
   */
  async query(ref: SessionRef, prompt: string, options: WaitOptions = {}): Promise<string | undefined> {
    const { world, news, post, sessions } = this.#parts
    const { wait = true, timeoutMs = defaultWaitMs } = options
    checkedPrompt(prompt)
    checkedTime(timeoutMs)
    const { session, record } = this.#own(ref)
    const { sessionId } = record
    this.#assertQueryable(session, record)
    const busyWith = this.#busyWith(session, wait) ?? sessions.asking.get(sessionId)
    if (busyWith !== undefined) throw busy(sessionId, busyWith)
    const query = news.requestId(world.tick)
    const refused = news.launched(query)
    const answered = news.answered(query)
    sessions.asking.set(sessionId, prompt)
    try {
      await post({ kind: 'query', agent: this.#agent, prompt, query, session: sessionId })
    } finally {
      sessions.asking.delete(sessionId)
    }
    if (!wait) return sessionId
    const isThere = await this.#within(timeoutMs, Promise.race([answered, refused.then(assertLaunched)]))
    return isThere ? this.#takeReply(session, query) : undefined
  }

  /**
   * Takes the oldest result that nobody has taken: the session's own, then replies to queries. `undefined` while it is
   * under way, or at the time-out.
   *
   * @throws `unknown-session`, `ambiguous-id`, `session-failed`, `nothing-pending`
   */
  async collect(ref: SessionRef, options: WaitOptions = {}): Promise<string | undefined> {
    const { world, news, post } = this.#parts
    const { wait = true, timeoutMs = defaultWaitMs } = options
    checkedTime(timeoutMs)
    const { session, record } = this.#own(ref)
    if (!world.has(session, Collected)) {
      const isOver = isFinal(record.status) || (wait && (await this.#within(timeoutMs, news.ended(session))))
      if (!isOver) return undefined
      await post({ kind: 'collected', agent: this.#agent, session: record.sessionId })
      return this.#resultOf(session)
    }
    const query = this.#queries(session)[0]
    if (query === undefined) {
      throw new EntiaError('nothing-pending', `Session ${record.sessionId} has nothing that was not collected.`)
    }
    const { id, reply } = world.read(query, SessionQuery)
    const isOver = reply !== undefined || (wait && (await this.#within(timeoutMs, news.answered(id))))
    return isOver ? this.#takeReply(session, id) : undefined
  }

  /** The agent's sessions, by sequence. */
  list({ active = false }: { readonly active?: boolean } = {}): SessionInfo[] {
    const { world } = this.#parts
    const all = world.referrers(SubagentSession, this.#agent).map((session) => this.#info(session))
    return active ? all.filter(({ status }) => !isFinal(status)) : all
  }

  /** Ends a session. False if it has ended already. @throws `unknown-session`, `ambiguous-id` */
  async cancel(ref: SessionRef): Promise<boolean> {
    const { record } = this.#own(ref)
    if (isFinal(record.status)) return false
    await this.#parts.post({ kind: 'session-cancel', agent: this.#agent, session: record.sessionId })
    return true
  }

  /** Ends a session, and lets it take no queries any more. False if there is no such session, or it is closed already. */
  async kill(ref: SessionRef): Promise<boolean> {
    const found = ownSession(this.#parts.world, this.#agent, ref)
    if (found instanceof EntiaError) {
      if (found.code === 'unknown-session') return false
      throw found
    }
    if (found.record.closed === true) return false
    await this.#parts.post({ kind: 'session-cancel', agent: this.#agent, close: true, session: found.record.sessionId })
    return true
  }

  /**
   * Goes on, in a new session, with one that has failed, timed out or was cancelled. `continued`: from where it was left,
   * not anew.
   *
   * @throws `unknown-session`, `ambiguous-id`, `invalid-argument`, `limit-reached`
   */
  async resume(ref: SessionRef): Promise<{ readonly sessionId: string; readonly continued: boolean }> {
    const { world } = this.#parts
    const { record } = this.#own(ref)
    const { sessionId } = await this.#launch({ prompt: record.prompt, resume: record.sessionId })
    const [facts] = world.core.state.holders(HostFacts)
    const keeps = facts !== undefined && world.read(facts, HostFacts).keepsSessions === true
    return { sessionId, continued: keeps && record.startedAtMs !== undefined }
  }

  /** What the session's model was last asked with. @throws `unknown-session`, `ambiguous-id` */
  async transcript(ref: SessionRef): Promise<Transcript | undefined> {
    const { record } = this.#own(ref)
    return this.#parts.sessions.transcript(record.sessionId)
  }

  async #launch(
    request: Omit<Delegation, 'agent' | 'correlationId' | 'kind'>,
  ): Promise<Launched & { readonly ok: true }> {
    const { world, news, post } = this.#parts
    const correlationId = news.requestId(world.tick)
    const launched = news.launched(correlationId)
    await post({ kind: 'delegate', agent: this.#agent, correlationId, ...request })
    return assertLaunched(await launched)
  }

  #own(ref: SessionRef): { readonly session: Entity; readonly record: SubagentSessionData } {
    const found = ownSession(this.#parts.world, this.#agent, ref)
    if (found instanceof EntiaError) throw found
    return found
  }

  #assertQueryable(session: Entity, { status, closed, sessionId, prompt }: SubagentSessionData): void {
    if (status === 'running' || status === 'queued') throw busy(sessionId, prompt)
    if (status === 'succeeded' && closed !== true) return
    const why = closed === true ? 'it is closed' : `it ended as ${status}`
    throw new EntiaError('not-queryable', `Session ${sessionId} takes no queries: ${why}.`, { entity: session })
  }

  /** The question that keeps a session from taking another: one under way, or, to be collected later, one that is not. */
  #busyWith(session: Entity, isWaited: boolean): string | undefined {
    const asked = this.#queries(session).map((query) => this.#parts.world.read(query, SessionQuery))
    return asked.find(({ reply }) => reply === undefined || !isWaited)?.prompt
  }

  #queries(session: Entity): readonly Entity[] {
    const { world } = this.#parts
    const asked = world.referrers(SessionQuery, session)
    return asked.filter((query) => world.read(query, SessionQuery).call === undefined)
  }

  async #takeReply(session: Entity, id: string): Promise<string> {
    const { world, post } = this.#parts
    const query = this.#queries(session).find((entity) => world.read(entity, SessionQuery).id === id)
    const reply = query === undefined ? undefined : world.read(query, SessionQuery).reply
    const { sessionId } = world.read(session, SubagentSession)
    await post({ kind: 'collected', agent: this.#agent, query: id, session: sessionId })
    if (reply?.ok === true) return reply.text
    throw new EntiaError('session-failed', reply?.error ?? `The reply of session ${sessionId} is gone.`)
  }

  async #resultOf(session: Entity): Promise<string> {
    const { world, sessions } = this.#parts
    const { error, inlineContent, recordPath = '', sessionId, status } = world.read(session, SubagentSession)
    if (status !== 'succeeded') {
      throw new EntiaError('session-failed', error ?? `Session ${sessionId} ended as ${status}.`, { sessionId, status })
    }
    if (inlineContent !== undefined) return inlineContent
    const found = await sessions.records.get(recordPath)
    if (found !== undefined) return found.text
    throw new EntiaError('session-failed', `The record of session ${sessionId} is gone: ${recordPath}.`)
  }

  #info(session: Entity): SessionInfo {
    const { world, sessions } = this.#parts
    const record = world.read(session, SubagentSession)
    const { category, createdAtMs, deadlineMs, model, prompt, sequence, sessionId, status } = record
    const isOpen = !world.has(session, Collected) && status !== 'cancelled'
    return {
      sessionId,
      sequence,
      category,
      prompt,
      model,
      status,
      ageMs: world.nowMs - createdAtMs,
      remainingMs: status === 'running' && deadlineMs !== undefined ? deadlineMs - world.nowMs : undefined,
      usage: record.usage ?? sessions.usageOfSession(sessionId) ?? { calls: 0, sessions: 0 },
      pending: isOpen || this.#queries(session).length > 0,
    }
  }

  /** Did it come in time? */
  async #within(timeoutMs: number, coming: Promise<unknown>): Promise<boolean> {
    const { clock } = this.#parts
    let cancel: (() => void) | undefined
    const late = new Promise<false>((resolve) => (cancel = clock.at(clock.now() + timeoutMs, () => resolve(false))))
    try {
      return await Promise.race([coming.then(() => true), late])
    } finally {
      cancel?.()
    }
  }
}

type Delegation = Extract<StandardInput, { readonly kind: 'delegate' }>

function assertLaunched(launched: Launched): Launched & { readonly ok: true } {
  if (launched.ok) return launched
  throw new EntiaError(launched.code, launched.reason)
}

function busy(sessionId: string, prompt: string): EntiaError {
  const shown = prompt.slice(0, busyChars)
  return new EntiaError('session-busy', `Session ${sessionId} is busy with: ${shown}`, { sessionId, prompt: shown })
}
