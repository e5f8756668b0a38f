import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** A session that an agent may name, or why there is none. */
export type Found =
  | { readonly session: Entity; readonly problem?: undefined }
  | {
      readonly problem: string
      readonly code: 'unknown-session' | 'ambiguous-id'
      /** Full ids that an ambiguous one could mean, at most ten. */
      readonly candidates?: readonly string[]
    }

/** Every session id begins like this; a prefix must be longer. */
const idStart = 'session-'

const maxCandidates = 10

const sessionsById = () => new Map<string, Entity>()

/** An agent's session by its full id, a unique prefix, or its sequence number. */
export function findSession(world: World, agent: Entity, named: string): Found {
  const known = world.unsaved(sessionsById).get(named)
  if (known !== undefined && isNow(world, agent, known, named)) return { session: known }
  const own = world.referrers(SubagentSession, agent)
  if (/^\d+$/.test(named)) return bySequence(world, own, Number(named)) ?? unknown(named)
  const matches = own.filter((session) => {
    const { sessionId } = world.read(session, SubagentSession)
    return sessionId === named || (named.length > idStart.length && sessionId.startsWith(named))
  })
  const [match] = matches
  if (match === undefined) return unknown(named)
  if (matches.length > 1) {
    const candidates = matches.slice(0, maxCandidates).map((one) => world.read(one, SubagentSession).sessionId)
    return { problem: `Ambiguous session: ${named}`, code: 'ambiguous-id', candidates }
  }
  return { session: match }
}

/** Makes a session's full id quick to look up. */
export function indexSession(world: World, session: Entity, sessionId: string): void {
  world.unsaved(sessionsById).set(sessionId, session)
}

function isNow(world: World, agent: Entity, session: Entity, sessionId: string): boolean {
  const record = world.get(session, SubagentSession)
  return record?.sessionId === sessionId && record.parent === agent
}

/** Sessions ascend by sequence number, so the n-th is mostly the one. */
function bySequence(world: World, own: readonly Entity[], sequence: number): Found | undefined {
  const isIt = (session: Entity | undefined): session is Entity =>
    session !== undefined && world.read(session, SubagentSession).sequence === sequence
  const session = isIt(own[sequence - 1]) ? own[sequence - 1] : own.find(isIt)
  return session === undefined ? undefined : { session }
}

function unknown(named: string): Found {
  return { problem: `Session not found: ${named}`, code: 'unknown-session' }
}
