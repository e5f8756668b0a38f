import type { SessionOrder } from '../../engine/children/session-fleet.ts'
import type { DueWorld } from '../../engine/fleet/board.ts'
import type { WorldInfo } from '../../stores/port.ts'
import type { Presence } from './presence.ts'

interface Looked {
  readonly presence: Presence
  readonly dateMs: number
  readonly except: readonly string[]
}

/** Root worlds that nobody living holds, and that have letters, are due, or were at work when their holder went. */
export function dueWorlds(worlds: readonly WorldInfo[], { dateMs, except, presence }: Looked): readonly DueWorld[] {
  return worlds.flatMap(({ heldBy, isBusy, letters, name, root, wakeAtMs = Infinity }): readonly DueWorld[] => {
    if (root !== undefined || except.includes(name)) return []
    const isLost = heldBy !== undefined && presence.isLost(heldBy.holder)
    const isWanted = letters !== undefined || wakeAtMs <= dateMs || (isLost && isBusy === true)
    return isWanted && (heldBy === undefined || isLost) ? [{ name, isLost, isRecovered: isLost }] : []
  })
}

/** Sessions that are to be opened if they rest. */
export function wakeable(
  worlds: readonly WorldInfo[],
  dateMs: number,
): readonly Pick<SessionOrder, 'root' | 'sessionId'>[] {
  return worlds.flatMap(({ letters, name, root, wakeAtMs = Infinity }) =>
    root !== undefined && (letters !== undefined || wakeAtMs <= dateMs) ? [{ root, sessionId: name }] : [],
  )
}
