import { z } from 'zod'
import { CheckpointPending } from '../../../components/context/checkpoint-pending.ts'
import { hasCheckpointer } from '../../../src/rules/context/checkpointer.ts'
import { lazily } from '../../../src/world/lazily.ts'
import { filledText } from './arguments.ts'
import { worldTool } from './world-tool.ts'

const name = 'mark_task_done'
const input = lazily(() => z.object({ detail: filledText() }))

/** `mark_task_done`: before its next step a record takes the place of what the agent has done. The last detail counts. */
export const markTaskDone = worldTool(name, input, (world, { detail }, { agent }) => {
  if (!hasCheckpointer(world, agent)) return { problem: `${name}: checkpoints are switched off.` }
  const { requests = [] } = world.get(agent, CheckpointPending) ?? {}
  world.set(agent, CheckpointPending, { by: 'model', note: detail, requests })
  return JSON.stringify({ status: 'acknowledged' })
})
