import type { InputOf } from '../../components/input.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { SubtaskAccount, SubtaskCount } from '../../components/sessions/subtask-account.ts'
import { Subtask, type SubtaskOutcome } from '../../components/sessions/subtask.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { promptTokensOf } from '../../src/rules/tokens/prompt-tokens.ts'
import {
  failedSubtask,
  subtaskAnswer,
  subtaskOutcome,
  subtaskResult,
} from '../../src/rules/delegation/subtask-result.ts'
import { added } from '../../src/rules/tokens/with-added.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { inputsOf } from '../kit/inputs-of.ts'
import { accountOf } from '../money/charge-children.ts'
import { settled } from '../kit/settled.ts'
import { noSubtasks, takeSubtask } from './subtasks/launch-subtask.ts'
import { fallBack, isUnavailable } from './subtasks/small-model.ts'
import { emit } from '../kit/emit.ts'
import { textOutcome } from '../agent/text-outcome.ts'

/**
 * Runs subtasks for programs, counts those that have ended, and turns their results into the answers that are waited for.
 * Before cancellation: an outcome that arrives in the tick of a cancel counts.
 *
 * Query: Outcome. Writes: Outcome, SubtaskAccount, SubtaskCount. Starts: subtask.
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

/** A subtask that was stopped reports for the last time. */
function takeLast(world: World, { isOver, request, spent, subtaskId }: InputOf<'subtask-spent'>): void {
  if (isOver !== true) return
  closeAccount(world, subtaskId, false)
  // Its agent is gone, and with it all that was known of it here.
  const failure = { kind: 'cancelled' as const, message: 'The subtask was called off.' }
  if (request !== undefined) tellEnd(world, { request }, failedSubtask(subtaskId, failure, spent))
}

/** A subtask has ended whose effect is gone. */
function takeLate(world: World, { effect, outcome }: Partial<InputOf<'outcome'>>): void {
  // What a kind of a program's own has come to may be anything.
  if (outcome?.ok !== true || effect === undefined) return
  const { value } = outcome
  if (typeof value !== 'object' || value === null || !('subtaskId' in value) || world.has(effect, Subtask)) return
  const { subtaskId, truncated } = subtaskOutcome('', outcome)
  closeAccount(world, subtaskId, truncated)
}

function finish(world: World, effect: Entity): void {
  const { agent, request, subtaskId } = world.read(effect, Subtask)
  const outcome = subtaskOutcome(subtaskId, world.read(effect, Outcome))
  if (isUnavailable(world, effect, outcome)) return fallBack(world, effect, outcome)
  closeAccount(world, subtaskId, outcome.truncated)
  tellEnd(world, { agent, request }, outcome)
  if (!world.has(effect, ToolCall)) return world.despawn(effect)
  // From here on it is a tool call like any other that has its result.
  world.remove(effect, Subtask)
  world.remove(effect, Outcome)
  world.add(effect, textOutcome(subtaskAnswer(outcome)))
}

/** A subtask has ended, and what it has spent is known. */
function closeAccount(world: World, subtaskId: string, truncated: boolean): void {
  const account = accountOf(world, subtaskId)
  if (account === undefined) return
  const { agent, spent } = world.read(account, SubtaskAccount)
  world.despawn(account)
  const count = world.get(agent, SubtaskCount) ?? noSubtasks
  const { calls, costNanoUsd, output = 0 } = spent
  const cost = added(count.costNanoUsd, costNanoUsd)
  const hasUnpriced = count.hasUnpriced === true || (calls > 0 && costNanoUsd === undefined)
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

function tellEnd(
  world: World,
  whose: { readonly agent?: Entity; readonly request?: string | undefined },
  outcome: SubtaskOutcome,
): void {
  emit(world, 'subtask-ended', { ...whose, subtaskId: outcome.subtaskId, result: subtaskResult(outcome) })
}
