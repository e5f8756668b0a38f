import { ActiveFor, SubagentSession } from '../../../components/sessions/subagent-session.ts'
import type { World } from '../../world/world.ts'

/** What is followed of a session. */
export interface FollowedSession {
  catchUp(): Promise<void>
  stop(): void
}

export interface FollowedSessionsParts<Session extends FollowedSession> {
  /** Somebody wants to know what happens in sessions. */
  readonly isHeard: () => boolean
  /** @param fromStart its events so far are wanted too */
  readonly open: (sessionId: string, fromStart: boolean) => Promise<Session>
}

/** The running sessions of a world that is followed, each with a World of its own, which may be driven anywhere. */
export class FollowedSessions<Session extends FollowedSession> {
  readonly #parts: FollowedSessionsParts<Session>
  readonly #followed = new Map<string, Session>()
  /** Sessions that were running when they were not followed: their events so far have passed. */
  #passed: ReadonlySet<string>
  #isStopped = false

  constructor(world: World, parts: FollowedSessionsParts<Session>) {
    this.#parts = parts
    this.#passed = runningIn(world)
  }

  get all(): readonly Session[] {
    return [...this.#followed.values()]
  }

  /** Reads the sessions that have ended to their end, before their parent's world tells of it. */
  async leaveEnded(world: World): Promise<void> {
    if (this.#followed.size === 0) return
    const running = runningIn(world)
    for (const [sessionId, session] of this.#followed) {
      if (running.has(sessionId)) continue
      this.#followed.delete(sessionId)
      await session.catchUp()
      session.stop()
    }
  }

  /** Follows those that run. One that cannot be read now is tried again at the next call. */
  async followRunning(world: World): Promise<void> {
    const running = runningIn(world)
    if (!this.#parts.isHeard()) {
      this.#passed = running
      return
    }
    for (const sessionId of running) {
      if (this.#followed.has(sessionId)) continue
      const session = await this.#parts.open(sessionId, !this.#passed.has(sessionId)).catch(() => undefined)
      if (session === undefined) continue
      if (this.#isStopped) return session.stop()
      this.#followed.set(sessionId, session)
    }
  }

  stop(): void {
    this.#isStopped = true
    for (const session of this.#followed.values()) session.stop()
    this.#followed.clear()
  }
}

function runningIn(world: World): ReadonlySet<string> {
  const active = world.entitiesWith(ActiveFor).map((session) => world.read(session, SubagentSession))
  return new Set(active.filter(({ status }) => status === 'running').map(({ sessionId }) => sessionId))
}
