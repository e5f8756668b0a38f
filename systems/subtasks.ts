import type { InputOf } from '../components/input.ts'
import { Outcome } from '../components/outcome.ts'
import { Subtask, type SubtaskOutcome } from '../components/subtask.ts'
import { ToolCall } from '../components/tool-call.ts'
import { failedSubtask, subtaskAnswer, subtaskOutcome, subtaskResult } from '../src/context/subtask-result.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { inputsOf } from './inputs-of.ts'
import { settled } from './settled.ts'
import { closeAccount, reportSpending } from './subtasks/report-spending.ts'
import { fallBack, isUnavailable } from './subtasks/small-model.ts'
import { takeSubtask } from './subtasks/take-subtask.ts'
import { tell } from './tell.ts'
import { textOutcome } from './text-outcome.ts'

/**
 * Runs subtasks for programs, charges what subtasks spend to their agents, and makes of what they have come to the answer
 * that somebody waits for. Before cancellation: what came first counts.
 *
 * Query: Outcome. Writes: Outcome, SubtaskAccount, SubtaskCount, Ledger. Starts: subtask.
 */
export const subtasks = {
  name: 'subtasks',
  priority: -97,
  run(world: World): void {
    for (const input of world.inputs) {
      if (input.kind === 'subtask-spent') takeSpending(world, input as InputOf<'subtask-spent'>)
      else if (input.kind === 'outcome') takeLate(world, input as InputOf<'outcome'>)
    }
    for (const effect of settled(world, Subtask)) finish(world, effect)
    for (const asked of inputsOf(world, 'subtask')) takeSubtask(world, asked)
  },
}

function takeSpending(world: World, { isOver, request, spent, subtaskId }: InputOf<'subtask-spent'>): void {
  if (isOver !== true) return void reportSpending(world, subtaskId, spent)
  closeAccount(world, subtaskId, spent, false)
  // Its agent is gone, and with it all that was known of it here.
  const failure = { kind: 'cancelled' as const, message: 'The subtask was called off.' }
  if (request !== undefined) tellEnd(world, { request }, failedSubtask(subtaskId, failure, spent))
}

/** What a subtask has spent counts, though nobody waits for it any more. */
function takeLate(world: World, { effect, outcome }: Partial<InputOf<'outcome'>>): void {
  // What a kind of a program's own has come to may be anything.
  if (outcome?.ok !== true || effect === undefined) return
  const { value } = outcome
  if (typeof value !== 'object' || value === null || !('subtaskId' in value) || world.has(effect, Subtask)) return
  const { spent, subtaskId, truncated } = subtaskOutcome('', outcome)
  closeAccount(world, subtaskId, spent, truncated)
}

function finish(world: World, effect: Entity): void {
  const { agent, request, subtaskId } = world.read(effect, Subtask)
  const outcome = subtaskOutcome(subtaskId, world.read(effect, Outcome))
  if (isUnavailable(world, effect, outcome)) return fallBack(world, effect, outcome)
  closeAccount(world, subtaskId, outcome.spent, outcome.truncated)
  tellEnd(world, { agent, request }, outcome)
  if (!world.has(effect, ToolCall)) return world.despawn(effect)
  // From here on it is a tool call like any other that has its result.
  world.remove(effect, Subtask)
  world.remove(effect, Outcome)
  world.add(effect, textOutcome(subtaskAnswer(outcome)))
}

function tellEnd(
  world: World,
  whose: { readonly agent?: Entity; readonly request?: string | undefined },
  outcome: SubtaskOutcome,
): void {
  tell(world, 'subtask-ended', { ...whose, subtaskId: outcome.subtaskId, result: subtaskResult(outcome) })
}
