import { Ancestry, SlotReleased } from '../../../components/sessions/ancestry.ts'
import { Effect, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law } from '../law.ts'

/** Checked in the pool and in the calls: whatever works has a slot. */
export const capKept: Law = {
  concern: { set: [SlotReleased], removed: [SlotReleased] },
  name: 'cap-kept',
  meaning: 'Never more sessions hold a slot than there are slots, and no session works without one.',
  watch({ maxSessions }) {
    const holding = new Set<string>()
    const driven = new Map<string, Driven>()
    const unheld = (sessionId: string, what: string): Finding =>
      holding.has(sessionId) ? undefined : `session ${sessionId} ${what} without a slot`
    return {
      pool({ type, key }) {
        const sessionId = key.slice(key.indexOf('/') + 1)
        if (type === 'left') {
          holding.delete(sessionId)
          for (const session of driven.values())
            if (session.sessionId === sessionId) session.hasWorkedOn = hasSlot(session)
        }
        if (type !== 'granted') return undefined
        holding.add(sessionId)
        if (holding.size <= maxSessions) return undefined
        return `${holding.size} sessions hold a slot, and there are ${maxSessions}: ${[...holding].join(', ')}`
      },
      began({ inSlot, label, path, world }) {
        driven.delete(label)
        const sessionId = path.at(-1)
        const agent = world.entitiesWith(Ancestry)[0]
        if (!inSlot || sessionId === undefined || agent === undefined) return undefined
        driven.set(label, { agent, hasWorkedOn: false, sessionId, world })
        return world.has(agent, SlotReleased) ? undefined : unheld(sessionId, 'begins')
      },
      ticked(tick) {
        const { removed, set } = tick.changes.of(SlotReleased)
        if (!tick.inSlot || (set.length === 0 && removed.length === 0)) return undefined
        const session = driven.get(tick.label)
        if (session === undefined) return undefined
        if (set.length > 0) return stillAtWork(tick.world, session)
        // It was stopped while the tick in which it had gone on was being committed.
        if (session.hasWorkedOn) return undefined
        return unheld(session.sessionId, 'goes on')
      },
      called({ kind, label, name }) {
        const session = driven.get(label)
        return session && unheld(session.sessionId, `calls ${kind} '${name}'`)
      },
      ended: ({ label }) => void driven.delete(label),
      crashed() {
        holding.clear()
        driven.clear()
      },
    }
  },
}

/** A session's World in a process. */
interface Driven {
  readonly agent: Entity
  readonly sessionId: string
  readonly world: World
  /** It had gone on when it last left its slot. */
  hasWorkedOn: boolean
}

function hasSlot({ agent, world }: Driven): boolean {
  return world.exists(agent) && !world.has(agent, SlotReleased)
}

function stillAtWork(world: World, { agent, sessionId }: Driven): Finding {
  for (const effect of world.referrers(OwnedBy, agent)) {
    const kind = world.get(effect, Effect)?.kind
    if (kind !== 'model' && kind !== 'tool') continue
    if (!world.has(effect, Pending) && !world.has(effect, Running)) continue
    return `session ${sessionId} gives its slot back while its ${kind} effect ${effect} is in flight`
  }
  return undefined
}
