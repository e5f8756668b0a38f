import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { StandardInput } from '../../protocol/input.ts'
import { Collected, SessionQuery } from '../../../components/sessions/session-call.ts'
import { isFinal } from '../../protocol/delegation.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { shortly } from '../../base/known-options.ts'
import { checkOptions, finite, flag, givenName, type ShapesOf } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import type { Transcript } from './child-run.ts'
import type { Clock } from '../loop/clock.ts'
import {
  checkedLaunch,
  checkedPrompt,
  checkedWorker,
  type LaunchOptions,
  type WorkerOptions,
} from '../loop/requests.ts'
import { lostResult } from './session-records.ts'
import { findSession } from '../../rules/delegation/find-session.ts'
import type { Completions, Launched } from './completions.ts'
import type { Children } from './children.ts'
import type { OpenApproval } from './open-approvals.ts'
import { queriesOf, type SessionInfo, sessionInfo } from './session-info.ts'
import { cutText } from '../../base/cut-text.ts'

/** Options of waiting for sessions. */
export interface WaitOptions {
  /** @default true */
  readonly wait?: boolean
  /** Longest wait. @default 60000 */
  readonly timeoutMs?: number
}

/** Options of a question. */
export interface QueryOptions extends WaitOptions {
  /**
   * A variable of the session's `run_js`, or a handle of it: its value is kept for the agent that asks, and the reply ends with
   * `[stored as .h_001]`, or with why it was not.
   */
  readonly returnName?: string
}

/** A session's full id, a unique prefix of it (longer than `session-`), or its sequence number. */
export type SessionRef = string | number

export interface SubagentsParts {
  readonly clock: Clock
  readonly children: Children
  readonly completions: Completions
}

const waitShapes: ShapesOf<WaitOptions> = {
  wait: flag,
  timeoutMs: { wanted: 'a time, 0 or more', fits: (value) => Number.isFinite(value) && (value as number) >= 0 },
}

const queryShapes: ShapesOf<QueryOptions> = { ...waitShapes, returnName: givenName }

const defaultWaitMs = 60_000
const busyChars = 60

/** An agent's sessions, for programs. A session is named by its full id, a unique prefix of it, or its sequence number. */
export class Subagents {
  readonly #agent: Entity
  readonly #world: World
  readonly #parts: SubagentsParts

  constructor(agent: Entity, parts: SubagentsParts) {
    this.#agent = agent
    this.#world = parts.children.world
    this.#parts = parts
  }

  /**
   * Launches a session in the background. Resolves once that is committed.
   * @throws `invalid-argument` (an unknown category too), `tool-conflict`, `missing-skill`, `limit-reached`
   */
  async spawn(options: LaunchOptions): Promise<{ readonly sessionId: string; readonly sequence: number }> {
    const { sessionId, sequence } = await this.#launch(checkedLaunch(options))
    return { sessionId, sequence }
  }

  /**
   * Launches a worker in the background that has these tools of the agent, and no others. The agent is not notified of its end.
   * @throws `invalid-argument` (a tool that the agent lacks too), `limit-reached`
   */
  async spawnWorker(options: WorkerOptions): Promise<{ readonly sessionId: string; readonly sequence: number }> {
    const { sessionId, sequence } = await this.#launch(checkedWorker(options))
    return { sessionId, sequence }
  }

  /** Launches a fork of the agent as it is now. @throws `invalid-argument`, `limit-reached` */
  async fork(
    directive: string,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<{ readonly sessionId: string; readonly sequence: number }> {
    checkOptions('subagents.fork', options, { timeoutMs: finite })
    const request = checkedLaunch({ ...options, prompt: directive })
    const { sessionId, sequence } = await this.#launch({ ...request, fork: true })
    return { sessionId, sequence }
  }

  /**
   * Asks a session that has succeeded a further question. Returns the reply; `undefined` at the time-out (the question
   * continues); without waiting, the session's full id. A reply not returned here can be collected. Without a store only the
   * 32 sessions that were active last can be asked.
   * @throws `unknown-session`, `ambiguous-id`, `not-queryable`, `session-busy`, `session-failed`, `invalid-argument`;
   * `nothing-pending` if the reply was collected meanwhile
   */
  async query(ref: SessionRef, prompt: string, options: QueryOptions = {}): Promise<string | undefined> {
    const { completions } = this.#parts
    checkOptions('subagents', options, queryShapes)
    const { returnName, wait = true, timeoutMs = defaultWaitMs } = options
    checkedPrompt(prompt)
    const { session, record } = this.#own(ref)
    const { sessionId } = record
    this.#assertQueryable(session, record)
    const busyWith = this.#busyWith(session, wait) ?? completions.asking.get(sessionId)
    if (busyWith !== undefined) throw busy(sessionId, busyWith)
    const query = completions.requestId()
    const answered = completions.answered(query)
    completions.asking.set(sessionId, prompt)
    try {
      const more = returnName === undefined ? {} : { returnName }
      await completions.post({ kind: 'query', agent: this.#agent, prompt, query, session: sessionId, ...more })
    } finally {
      completions.asking.delete(sessionId)
    }
    if (this.#query(session, query) === undefined) {
      completions.forget(query)
      throw new EntiaError('not-queryable', `Session ${sessionId} takes no queries any more.`, { entity: session })
    }
    if (!wait) return sessionId
    return (await this.#within(timeoutMs, answered)) ? this.#takeReply(session, query) : undefined
  }

  /**
   * Takes the oldest result not taken yet: the session's own, then replies to queries. `undefined` while it is under way, or
   * at the time-out. A failure is thrown, and thereby taken.
   * @throws `unknown-session`, `ambiguous-id`, `session-failed`, `nothing-pending`, `invalid-argument`
   */
  async collect(ref: SessionRef, options: WaitOptions = {}): Promise<string | undefined> {
    const world = this.#world
    const { completions } = this.#parts
    checkOptions('subagents', options, waitShapes)
    const { wait = true, timeoutMs = defaultWaitMs } = options
    const { session, record } = this.#own(ref)
    if (!world.has(session, Collected)) {
      const isOver = isFinal(record.status) || (wait && (await this.#within(timeoutMs, completions.ended(session))))
      if (!isOver) return undefined
      await this.#take(record.sessionId, !world.has(session, Collected))
      return this.#resultOf(session)
    }
    const query = queriesOf(this.#world, session)[0]
    if (query === undefined) throw nothingPending(record.sessionId)
    const { id, reply } = world.read(query, SessionQuery)
    const isOver = reply !== undefined || (wait && (await this.#within(timeoutMs, completions.answered(id))))
    return isOver ? this.#takeReply(session, id) : undefined
  }

  list(options: { readonly active?: boolean } = {}): SessionInfo[] {
    checkOptions('subagents.list', options, { active: flag })
    const { active = false } = options
    const all = this.#world
      .referrers(SubagentSession, this.#agent)
      .map((session) => sessionInfo(this.#world, session, this.#parts.children))
    return active ? all.filter(({ status }) => !isFinal(status)) : all
  }

  /** What sessions that run here ask a person for, at any depth, those of the world's other agents too. */
  approvals(): readonly OpenApproval[] {
    return this.#parts.children.approvals([])
  }

  /** It works on its task or a question, or waits to. @throws `unknown-session`, `ambiguous-id` */
  isBusy(ref: SessionRef): boolean {
    const { record, session } = this.#own(ref)
    return !isFinal(record.status) || this.#busyWith(session, true) !== undefined
  }

  /** Ends a session. False if it has ended already. @throws `unknown-session`, `ambiguous-id` */
  async cancel(ref: SessionRef): Promise<boolean> {
    const { record } = this.#own(ref)
    if (isFinal(record.status)) return false
    await this.#parts.completions.post({ kind: 'session-cancel', agent: this.#agent, session: record.sessionId })
    return true
  }

  /** Ends a session and refuses later queries to it. False if it does not exist or is closed. @throws `ambiguous-id` */
  async kill(ref: SessionRef): Promise<boolean> {
    try {
      const { closed, sessionId } = this.#own(ref).record
      if (closed === true) return false
      await this.#parts.completions.post({
        kind: 'session-cancel',
        agent: this.#agent,
        close: true,
        session: sessionId,
      })
      return true
    } catch (error) {
      if (error instanceof EntiaError && error.code === 'unknown-session') return false
      throw error
    }
  }

  /**
   * Continues in a new session one that has failed, timed out or was cancelled. `continued`: from where it was left; if its
   * World was deleted from the store, it starts over.
   * @throws `unknown-session`, `ambiguous-id`, `invalid-argument`, `limit-reached`
   */
  async resume(ref: SessionRef): Promise<{ readonly sessionId: string; readonly continued: boolean }> {
    const world = this.#world
    const { record } = this.#own(ref)
    const { sessionId } = await this.#launch({ prompt: record.prompt, resume: record.sessionId })
    const [facts] = world.entitiesWith(HostFacts)
    const keeps = facts !== undefined && world.read(facts, HostFacts).keepsSessions === true
    return { sessionId, continued: keeps && record.startedAtMs !== undefined }
  }

  /**
   * The prompt and messages of the session's agent. `undefined` before it begins, or, without a store, long after its end.
   * @throws `unknown-session`, `ambiguous-id`
   */
  async transcript(ref: SessionRef): Promise<Transcript | undefined> {
    const { record } = this.#own(ref)
    return this.#parts.children.transcript(record.sessionId)
  }

  async #launch(request: Omit<Delegation, 'agent' | 'correlationId' | 'kind'>): Promise<Launched> {
    const { completions } = this.#parts
    return completions.launch((correlationId) => ({ kind: 'delegate', agent: this.#agent, correlationId, ...request }))
  }

  #own(ref: SessionRef): { readonly session: Entity; readonly record: SubagentSessionData } {
    const world = this.#world
    if (typeof ref !== 'string' && typeof ref !== 'number') {
      const what = `A session must be named by its id or its sequence number, got ${shortly(ref)}`
      throw new EntiaError('invalid-argument', `${what}.`)
    }
    const found = findSession(world, this.#agent, String(ref))
    if (found.problem !== undefined) {
      const { candidates } = found
      const which = candidates === undefined ? '' : `. It could be ${candidates.join(' or ')}; name more of the id`
      throw new EntiaError(found.code, `${found.problem}${which}`, { ref, ...(candidates && { candidates }) })
    }
    return { session: found.session, record: world.read(found.session, SubagentSession) }
  }

  #assertQueryable(session: Entity, { status, closed, sessionId, prompt }: SubagentSessionData): void {
    if (status === 'running' || status === 'queued') throw busy(sessionId, prompt)
    if (status === 'succeeded' && closed !== true) return
    const why = closed === true ? 'it is closed' : `it ended as ${status}`
    throw new EntiaError('not-queryable', `Session ${sessionId} takes no queries: ${why}.`, { entity: session })
  }

  /** The question that keeps a session from taking another: one without a reply, or one whose reply is to be collected. */
  #busyWith(session: Entity, isWaited: boolean): string | undefined {
    const world = this.#world
    const asked = world.referrers(SessionQuery, session).map((query) => world.read(query, SessionQuery))
    return asked.find(({ reply }) => reply === undefined || !isWaited)?.prompt
  }

  #query(session: Entity, id: string): Entity | undefined {
    return queriesOf(this.#world, session).find((query) => this.#world.read(query, SessionQuery).id === id)
  }

  async #takeReply(session: Entity, id: string): Promise<string> {
    const world = this.#world
    const query = this.#query(session, id)
    const reply = query === undefined ? undefined : world.read(query, SessionQuery).reply
    await this.#take(world.read(session, SubagentSession).sessionId, reply !== undefined, id)
    if (reply?.ok === true) return reply.text
    throw new EntiaError('session-failed', reply?.error ?? '')
  }

  /** Takes a result or the reply to a query, which only one caller gets. */
  async #take(session: string, isThere: boolean, query?: string): Promise<void> {
    const { completions } = this.#parts
    const key = query ?? session
    if (!isThere || completions.collecting.has(key)) throw nothingPending(session)
    completions.collecting.add(key)
    try {
      await completions.post({ kind: 'collected', agent: this.#agent, session, ...(query !== undefined && { query }) })
    } finally {
      completions.collecting.delete(key)
    }
  }

  async #resultOf(session: Entity): Promise<string> {
    const world = this.#world
    const { children } = this.#parts
    const {
      error,
      inlineContent,
      recordPath = '',
      resultBytes = 0,
      sessionId,
      status,
    } = world.read(session, SubagentSession)
    if (status !== 'succeeded') {
      throw new EntiaError('session-failed', error ?? `Session ${sessionId} ended as ${status}.`, { sessionId, status })
    }
    if (inlineContent !== undefined) return inlineContent
    const found = await children.records.get(recordPath)
    if (found !== undefined) return found.text
    const why = lostResult(resultBytes, children.maxKeptBytes)
    throw new EntiaError('session-failed', `The result of session ${sessionId} cannot be read. ${why}`, { recordPath })
  }

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

function nothingPending(sessionId: string): EntiaError {
  return new EntiaError('nothing-pending', `Session ${sessionId} has nothing that was not collected.`, { sessionId })
}

function busy(sessionId: string, prompt: string): EntiaError {
  const shown = cutText(prompt, busyChars)
  return new EntiaError('session-busy', `Session ${sessionId} is busy with: ${shown}`, { sessionId, prompt: shown })
}

/** On its task, on questions and on archiving. */
