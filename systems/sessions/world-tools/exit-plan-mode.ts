import { z } from 'zod'
import { PlanMode } from '../../../components/agent/policy.ts'
import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { filledText, worldTool, type WorldTool } from './world-tool.ts'

const input = () => z.object({ plan: filledText() })

const approved = worldTool('exit_plan_mode', input, (world, _, { agent }) => {
  // Its declaration stays, so that the next request begins like the last.
  world.remove(agent, PlanMode)
  return 'The plan is approved, and plan mode is off. Carry it out.'
})

/** `exit_plan_mode`: ends plan mode. It runs once a person has approved the plan. */
export const exitPlanMode: WorldTool = Object.assign(approved, {
  problem: (...[world, agent]: Parameters<NonNullable<WorldTool['problem']>>) => {
    if (!world.has(agent, PlanMode)) return 'plan mode is not on.'
    return world.has(agent, Ancestry) ? 'a subagent cannot end plan mode: report what you propose.' : undefined
  },
})
