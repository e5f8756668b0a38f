import type { z } from 'zod'
import { PlanMode, Policy } from '../../../components/agent/policy.ts'
import type { PolicyMarks } from '../../protocol/policy.ts'
import type { DeepReadonly, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { marksOf, raiseMarks } from './marks.ts'

/** What the children of an agent with a `Policy` have from it. What a person allowed for later calls stays with the agent. */
export interface InheritedPolicy {
  readonly policy: DeepReadonly<z.output<typeof Policy.schema>>
  readonly isPlanMode: boolean
  readonly marks: PolicyMarks | undefined
}

/** What a child has from an agent, as of now; `undefined`: the agent has no policy. */
export function inheritedPolicy(world: World, agent: Entity): InheritedPolicy | undefined {
  const policy = world.get(agent, Policy)
  return policy && { policy, isPlanMode: world.has(agent, PlanMode), marks: marksOf(world, agent) }
}

/** Gives a child's agent what it inherits. Marks of its own stay. */
export function inheritPolicy(world: World, agent: Entity, inherited: InheritedPolicy | undefined): void {
  if (inherited === undefined) return
  world.set(agent, Policy, inherited.policy)
  setPlanMode(world, agent, inherited.isPlanMode)
  raiseMarks(world, agent, inherited.marks)
}

/** Switches plan mode on or off. */
export function setPlanMode(world: World, agent: Entity, isOn: boolean): void {
  if (isOn) world.add(agent, PlanMode)
  else world.remove(agent, PlanMode)
}
