import type { Driven } from '../turns/driving.ts'

/** What was told of delegations by these, each once though a restart tells it again. */
export function delegations(...tellers: readonly Driven[]) {
  const told = tellers.flatMap(({ told: of }) => [...of('delegation-started'), ...of('delegation-completed')])
  const places = new Map(told.map((event) => [`${event.world}/${event.tick}/${event.index}`, event]))
  return [...places.values()].map(({ type, sessionId, correlationId }) => ({ type, sessionId, correlationId }))
}
