import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { isFinal } from '../../protocol/delegation.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedWorld } from '../law.ts'
import { add, type Amount, delegatedBy, goods, nothing, ownUse, spentOf, usedBySession } from './amounts.ts'

/** What sessions have spent arrives in the worlds that have launched them, however they have ended. */
export const spendingTold: Law = {
  name: 'spending-told',
  meaning: 'When all is over, a world counts for each of its sessions at least what that session says it has spent.',
  watch() {
    const givenUp = new Set<string>()
    return {
      board(event) {
        if (event.type === 'given-up') givenUp.add(event.session)
        return undefined
      },
      finished(worlds) {
        const byName = new Map([...worlds.values()].map((watched) => [watched.world.name, watched]))
        for (const { path, world } of worlds.values()) {
          // Its workers have died of it: nothing enters its World any more.
          if (path.some((session) => givenUp.has(session))) continue
          const finding = untold(world, path, byName, givenUp)
          if (finding !== undefined) return finding
        }
        return undefined
      },
    }
  },
}

function untold(
  world: World,
  path: readonly string[],
  worlds: ReadonlyMap<string, WatchedWorld>,
  givenUp: ReadonlySet<string>,
): Finding {
  for (const session of world.entitiesWith(SubagentSession)) {
    const { sessionId, startedAtMs, status, usage, usageAfterEnd } = world.read(session, SubagentSession)
    const child = worlds.get(sessionId)
    // Of a copy, the sessions that have ended before are those of the world that was copied.
    const isItsOwn = child?.path.length === path.length + 1 && path.every((id, index) => child.path[index] === id)
    if (child === undefined || !isItsOwn || startedAtMs === undefined || !isFinal(status)) continue
    // Below the root, a World that is not driven any more may have heard nothing: then who stands above it has read that.
    if (usage === undefined && path.length > 0) continue
    if (usage === undefined) return `session ${sessionId} is ${status}, and what it has spent is not known`
    // Sessions below one that was given up go on, and nothing takes what they tell: then its cost must be said to be unknown.
    if (givenUp.has(sessionId) && (usage.costUnknown ?? 0) > 0) continue
    const told = usedBySession(usage)
    add(told, usedBySession(usageAfterEnd))
    const spent = spentIn(child.world, worlds)
    const good = goods.find((each) => told[each] < spent[each])
    if (good !== undefined)
      return `session ${sessionId} (${status}) has spent ${spent[good]} ${good}, and ${told[good]} are counted for it`
  }
  return undefined
}

/** What it says itself, and those below of which it does not know. */
function spentIn(world: World, worlds: ReadonlyMap<string, WatchedWorld>): Amount {
  const [agent] = world.entitiesWith(Ancestry)
  if (agent === undefined) return nothing()
  const delegated = delegatedBy(world, agent)
  const spent = spentOf(delegated)
  add(spent, ownUse(world, agent))
  spent.sessions += delegated.launched - (delegated.launchedBefore ?? 0)
  for (const session of world.entitiesWith(SubagentSession)) {
    const { grant, sessionId } = world.read(session, SubagentSession)
    const below = grant === undefined ? undefined : worlds.get(sessionId)
    if (below !== undefined) add(spent, spentIn(below.world, worlds))
  }
  return spent
}
