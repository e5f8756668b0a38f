import { Policy, PolicyState } from '../../../components/agent/policy.ts'
import type { PolicyMarks } from '../../protocol/policy.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** What an agent's calls have touched; `undefined`: nothing that counts. */
export function marksOf(world: World, agent: Entity): PolicyMarks | undefined {
  const { hasReadOther, sticky } = world.get(agent, PolicyState) ?? {}
  if (hasReadOther === undefined && sticky === undefined) return undefined
  return { ...(hasReadOther && { hasReadOther }), ...(sticky && { sticky }) }
}

/** Sets marks on an agent with a `Policy`. They are never taken back. */
export function raiseMarks(world: World, agent: Entity, marks: PolicyMarks | undefined): void {
  if (marks === undefined || !world.has(agent, Policy)) return
  const state = world.get(agent, PolicyState) ?? { calls: 0 }
  const hasReadOther = marks.hasReadOther ?? state.hasReadOther
  const sticky = marks.sticky ?? state.sticky
  if (hasReadOther === state.hasReadOther && sticky === state.sticky) return
  world.set(agent, PolicyState, { ...state, ...(hasReadOther && { hasReadOther }), ...(sticky && { sticky }) })
}
