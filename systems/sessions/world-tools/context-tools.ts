import { z } from 'zod'
import { CheckpointPending } from '../../../components/context/compaction-state.ts'
import { hasCheckpointer } from '../../../src/rules/context/compactor.ts'
import { lazily } from '../../../src/base/lazily.ts'
import { filledText, worldTool, type WorldTool } from './world-tool.ts'
import { Effect, Pending } from '../../../components/effects/effect.ts'
import { Context } from '../../../components/context/context.ts'
import { type AgenticWrapper, agenticWrappers } from '../../../src/rules/context/context-tools.ts'
import { launchSubtask, smallModelOf } from '../subtasks.ts'

const doneInput = lazily(() => z.object({ detail: filledText() }))

/** `mark_task_done`: requests a record of the finished task before the next step. The last detail counts. */
export const markTaskDone = worldTool('mark_task_done', doneInput, (world, { detail }, { agent }) => {
  if (!hasCheckpointer(world, agent)) return { problem: 'mark_task_done: checkpoints are switched off.' }
  const { requests = [] } = world.get(agent, CheckpointPending) ?? {}
  world.set(agent, CheckpointPending, { by: 'model', note: detail, requests })
  return JSON.stringify({ status: 'acknowledged' })
})

const recallInput = () => z.object({ query: filledText() })

/**
 * `recall`: searches the part of the conversation that the agent no longer sees. The store searches; the call stays
 * open.
 */
export const recall = worldTool('recall', recallInput, (world, _, { call }) => {
  world.add(call, Effect({ attempt: 1, kind: 'recall', restart: 'pure' }))
  world.add(call, Pending)
  return undefined
})

/** Timeout of a wrapper's subtask, in milliseconds of world time. */
const wrapperTimeoutMs = 60_000

const wrapperInput = lazily(() => z.object({ request: filledText() }))

export const agentic: readonly (readonly [string, WorldTool])[] = agenticWrappers.map((wrapper) => [
  wrapper.name,
  wrapperTool(wrapper),
])

/** The call stays open until its subtask has ended. */
function wrapperTool({ maxSteps, name, systemPrompt, tools }: AgenticWrapper): WorldTool {
  return worldTool(name, wrapperInput, (world, { request: userMessage }, { agent, call }) => {
    const maxDigestChars = world.get(agent, Context)?.agentic.maxDigestChars
    launchSubtask(world, call, {
      ...smallModelOf(world, agent),
      agent,
      ...(maxDigestChars !== undefined && { maxDigestChars }),
      maxSteps,
      name,
      systemPrompt,
      timeoutMs: wrapperTimeoutMs,
      tools: [...tools],
      userMessage,
    })
    return undefined
  })
}
