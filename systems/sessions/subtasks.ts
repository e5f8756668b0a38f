import type { InputOf } from '../../src/protocol/input.ts'
import { Effect, Outcome, Pending } from '../../components/effects/effect.ts'
import {
  Subtask,
  SubtaskAccount,
  SubtaskCount,
  type SubtaskCountData,
  type SubtaskData,
} from '../../components/sessions/subtask.ts'
import type { SubtaskOutcome } from '../../src/protocol/delegation.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { added, promptTokensOf, unknownCosts } from '../../src/rules/tokens/token-counts.ts'
import {
  failedSubtask,
  nothingSpent,
  subtaskAnswer,
  subtaskOutcome,
  subtaskResult,
  subtaskText,
} from '../../src/rules/delegation/subtask-result.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, inputsOf, settled } from '../kit.ts'
import { accountOf } from '../money/charging.ts'
import { textOutcome } from '../agent/tool-results.ts'
import { Ancestry } from '../../components/sessions/ancestry.ts'
import { Llm } from '../../components/agent/llm.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { noteRefused } from '../../src/rules/delegation/refused-requests.ts'
import { Context } from '../../components/context/context.ts'
import { modelOfTier } from '../../src/rules/config/model-tiers.ts'
import { raiseMarks } from '../../src/rules/policy/marks.ts'
import { parseModel } from '../../src/protocol/model-name.ts'

/**
 * Launches programs' subtasks, counts those that have ended, and answers the calls that wait for them. Runs before
 * cancellation: an outcome that arrives in the tick of a cancel counts.
 * Writes: Outcome, SubtaskAccount, SubtaskCount. Starts: subtask.
 */
export const subtasks = {
  name: 'subtasks',
  priority: -97,
  wakes: ['subtask', 'subtask-spent', SubtaskAccount, [Subtask, Outcome]],
  run(world: World): void {
    for (const input of world.inputs) {
      if (input.kind === 'subtask-spent') takeLast(world, input as InputOf<'subtask-spent'>)
      else if (input.kind === 'outcome') takeLate(world, input as InputOf<'outcome'>)
    }
    for (const effect of settled(world, Subtask)) finish(world, effect)
    for (const asked of inputsOf(world, 'subtask')) takeSubtask(world, asked)
  },
}

/** The final report of a stopped subtask. */
function takeLast(world: World, { isOver, request, spent, subtaskId }: InputOf<'subtask-spent'>): void {
  if (isOver !== true) return
  closeAccount(world, subtaskId, false)
  // Its agent is gone, and with it the subtask's record.
  const failure = { kind: 'cancelled' as const, message: 'The subtask was called off.' }
  if (request !== undefined) emitEnd(world, { request }, failedSubtask(subtaskId, failure, spent))
}

/** The end of a subtask whose effect is gone. */
function takeLate(world: World, { effect, outcome }: Partial<InputOf<'outcome'>>): void {
  // The outcome of a custom effect kind may be anything.
  if (outcome?.ok !== true || effect === undefined) return
  const { value } = outcome
  if (typeof value !== 'object' || value === null || !('subtaskId' in value) || world.has(effect, Subtask)) return
  const { subtaskId, truncated } = subtaskOutcome('', outcome)
  closeAccount(world, subtaskId, truncated)
}

function finish(world: World, effect: Entity): void {
  const { agent, answer, fallback, request, subtaskId } = world.read(effect, Subtask)
  const outcome = subtaskOutcome(subtaskId, world.read(effect, Outcome))
  // A default model that the provider lacks is rejected at the subtask's first call.
  const isRejected = outcome.failure?.kind === 'invalid-request' && outcome.stepsUsed <= 1
  if (fallback !== undefined && isRejected) return fallBack(world, effect, outcome)
  raiseMarks(world, agent, outcome.marks)
  closeAccount(world, subtaskId, outcome.truncated)
  emitEnd(world, { agent, request }, outcome)
  if (!world.has(effect, ToolCall)) return world.despawn(effect)
  // From here on it is an ordinary tool call with a result.
  world.remove(effect, Subtask)
  world.remove(effect, Outcome)
  const { isError, text } = answer === 'text' ? subtaskText(outcome) : subtaskAnswer(outcome)
  world.add(effect, textOutcome(text, isError))
}

/** Counts an ended subtask whose spending is known. */
function closeAccount(world: World, subtaskId: string, truncated: boolean): void {
  const account = accountOf(world, subtaskId)
  if (account === undefined) return
  const { agent, spent } = world.read(account, SubtaskAccount)
  world.despawn(account)
  const count = world.get(agent, SubtaskCount) ?? noSubtasks
  const { costNanoUsd, output = 0 } = spent
  const cost = added(count.costNanoUsd, costNanoUsd)
  const hasUnpriced = count.hasUnpriced === true || unknownCosts(spent) > 0
  world.set(agent, SubtaskCount, {
    ...count,
    ...(cost !== undefined && { costNanoUsd: cost }),
    ended: count.ended + 1,
    ...(hasUnpriced && { hasUnpriced }),
    inputTokens: count.inputTokens + (promptTokensOf({ input: 0, ...spent }) ?? 0),
    outputTokens: count.outputTokens + output,
    truncated: count.truncated + (truncated ? 1 : 0),
  })
}

function emitEnd(
  world: World,
  whose: { readonly agent?: Entity; readonly request?: string | undefined },
  outcome: SubtaskOutcome,
): void {
  emit(world, 'subtask-ended', { ...whose, subtaskId: outcome.subtaskId, result: subtaskResult(outcome) })
}

const noSubtasks: SubtaskCountData = { ended: 0, inputTokens: 0, launched: 0, outputTokens: 0, truncated: 0 }

/** Makes an entity a subtask that is about to run: the tool call that waits for it, or a new entity. */
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

/** A session's world has one agent and a unique name; other worlds number their agents. */
function callerOf(world: World, agent: Entity): string {
  return world.has(agent, Ancestry) ? world.name : `${world.name}/${agent}`
}

function takeSubtask(world: World, input: InputOf<'subtask'>): void {
  const { agent, maxSteps, model, name, request, systemPrompt, timeoutMs, tools, userMessage } = input
  const llm = world.get(agent, Llm)
  const reason = llm === undefined ? `Entity ${agent} is no agent` : toolProblem(world, agent, tools)
  if (llm === undefined || reason !== undefined) {
    return noteRefused(world, request, { code: 'invalid-argument', reason: `runSubtask: ${reason}.` })
  }
  const asked = { maxSteps, name, request, systemPrompt, timeoutMs, tools, userMessage }
  launchSubtask(world, world.spawn(), { ...asked, agent, model: model ?? llm.model })
}

/** World tools are for the agent alone. */
function toolProblem(world: World, agent: Entity, names: readonly string[]): string | undefined {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  for (const name of names) {
    const tool = tools.find((each) => each.name === name)
    if (tool === undefined) return `tools: the agent has no tool '${name}'`
    if (tool.world === true) return `tools: '${name}' changes the World of the agent, and a subtask has one of its own`
  }
  return undefined
}

/**
 * The model for the subtasks of an agent's wrappers: the configured one, else the small one of the agent's provider,
 * else the agent's own. A bare name is one of the agent's provider.
 */
export function smallModelOf(world: World, agent: Entity): { readonly model: string; readonly fallback?: string } {
  const { model: own } = world.read(agent, Llm)
  const { agentic, modelsByTier } = world.get(agent, Context) ?? {}
  const { provider } = parseModel(own)
  const full = (name: string): string => (name.includes('/') ? name : `${provider}/${name}`)
  if (agentic?.smallModel !== undefined) return { model: full(agentic.smallModel) }
  const small = modelOfTier(provider, 'small', modelsByTier)
  const model = small === undefined ? own : full(small)
  const isUsable = model !== own && world.get(agent, SubtaskCount)?.unavailable?.includes(model) !== true
  return isUsable ? { model, fallback: own } : { model: own }
}

/** Reruns a subtask with its agent's model, and records that the default one is unavailable. */
function fallBack(world: World, effect: Entity, { failure, subtaskId }: SubtaskOutcome): void {
  const { fallback, model, subtaskId: _, ...asked } = world.read(effect, Subtask)
  const { agent } = asked
  const account = accountOf(world, subtaskId)
  if (account !== undefined) world.despawn(account)
  const { unavailable = [], ...count } = world.get(agent, SubtaskCount) ?? noSubtasks
  if (!unavailable.includes(model)) {
    world.set(agent, SubtaskCount, { ...count, unavailable: [...unavailable, model] })
    emit(world, 'small-model-unavailable', { agent, model, message: failure?.message ?? '' })
  }
  world.remove(effect, Outcome)
  launchSubtask(world, effect, { ...asked, model: fallback ?? model })
}
