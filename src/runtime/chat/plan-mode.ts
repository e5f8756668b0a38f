import { PlanMode } from '../../../components/agent/policy.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { exitPlanModeDeclaration } from '../../rules/policy/plan-mode.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** The agent's declarations keep `exit_plan_mode` from then on, so that the beginning of its requests stays the same. */
export function enterPlanMode(world: World, agent: Entity): void {
  world.add(agent, PlanMode)
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  if (tools.some(({ name }) => name === exitPlanModeDeclaration.name)) return
  world.set(agent, ToolRegistry, { tools: [...tools, exitPlanModeDeclaration] })
}
