import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { Effect } from '../../../components/effects/effect.ts'
import type { InputOf } from '../../../components/input.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { Pending } from '../../../components/effects/pending.ts'
import { SubtaskAccount, SubtaskCount, type SubtaskCountData } from '../../../components/sessions/subtask-account.ts'
import { Subtask, type SubtaskData } from '../../../components/sessions/subtask.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { nothingSpent } from '../../../src/rules/money/subtask-spending.ts'
import { noteRefused } from '../../../src/rules/delegation/refused-requests.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import { emit } from '../../kit/emit.ts'

/** What an agent's subtasks have come to before there is any. */
export const noSubtasks: SubtaskCountData = { ended: 0, inputTokens: 0, launched: 0, outputTokens: 0, truncated: 0 }

/** Makes an entity a subtask that is about to run: a tool call that waits for it, or one of its own. */
export function launchSubtask(world: World, effect: Entity, asked: Omit<SubtaskData, 'subtaskId'>): void {
  const { agent, model, name } = asked
  const before = world.get(agent, SubtaskCount) ?? noSubtasks
  const launched = before.launched + 1
  world.set(agent, SubtaskCount, { ...before, launched })
  const subtaskId = `${callerOf(world, agent)}:sub:${name}:${launched}`
  world.set(effect, Subtask, { ...asked, subtaskId })
  const attempt = (world.get(effect, Effect)?.attempt ?? 0) + 1
  world.set(effect, Effect, { attempt, kind: 'subtask', restart: 'resumable' })
  world.add(effect, Pending)
  world.spawn(SubtaskAccount({ agent, model, spent: nothingSpent, subtaskId }))
  emit(world, 'subtask-started', { agent, model, name, subtaskId })
}

/** A session's World has one agent, and no other World its name; of another world's agents each has a number. */
function callerOf(world: World, agent: Entity): string {
  return world.has(agent, Ancestry) ? world.name : `${world.name}/${agent}`
}

/** Launches a subtask that a program asks for. */
export function takeSubtask(world: World, input: InputOf<'subtask'>): void {
  const { agent, maxSteps, model, name, request, systemPrompt, timeoutMs, tools, userMessage } = input
  const llm = world.get(agent, Llm)
  const reason = llm === undefined ? `Entity ${agent} is no agent` : toolProblem(world, agent, tools)
  if (llm === undefined || reason !== undefined) {
    return noteRefused(world, request, { code: 'invalid-argument', reason: `runSubtask: ${reason}.` })
  }
  const asked = { maxSteps, name, request, systemPrompt, timeoutMs, tools, userMessage }
  launchSubtask(world, world.spawn(), { ...asked, agent, model: model ?? llm.model })
}

/** Tools of the World itself are for the agent alone. */
function toolProblem(world: World, agent: Entity, names: readonly string[]): string | undefined {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  for (const name of names) {
    const tool = tools.find((each) => each.name === name)
    if (tool === undefined) return `tools: the agent has no tool '${name}'`
    if (tool.world === true) return `tools: '${name}' changes the World of the agent, and a subtask has one of its own`
  }
  return undefined
}
