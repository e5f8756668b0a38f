import { Ancestry } from '../../components/ancestry.ts'
import { DelegationLimits } from '../../components/delegation-limits.ts'
import type { InputOf } from '../../components/input.ts'
import { LastQuestion } from '../../components/last-question.ts'
import { limitsWith } from '../../src/subagents/grants.ts'
import { usageOf } from '../../src/subagents/session-usage.ts'
import type { World } from '../../src/world/world.ts'
import { delegatedBy, ownUse } from './delegation.ts'

/** In a session's World: its agent is told what it may spend, at first or on a question that comes after its end. */
export function takeGrant(world: World, { limits, question }: InputOf<'granted'>): void {
  for (const agent of world.query(Ancestry)) {
    if (question === undefined) {
      world.set(agent, DelegationLimits, limits)
      continue
    }
    const { depth } = world.get(agent, DelegationLimits) ?? {}
    const all = limitsWith(limits, delegatedBy(world, agent), ownUse(world, agent))
    world.set(agent, DelegationLimits, { ...all, ...(depth !== undefined && { depth }) })
    world.set(agent, LastQuestion, { id: question, usedBefore: usageOf(world, agent, []) })
  }
}
