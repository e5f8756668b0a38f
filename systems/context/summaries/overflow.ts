import { Busy } from '../../../components/agent/busy.ts'
import { Overflowed } from '../../../components/context/compaction-state.ts'
import { Context } from '../../../components/context/context.ts'
import type { Failure } from '../../../src/protocol/failure.ts'
import { LastCall } from '../../../components/context/last-call.ts'
import { LastStep } from '../../../components/agent/last-step.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { Rewrite } from '../../../components/context/rewrite.ts'
import { Turn } from '../../../components/agent/turn.ts'
import { Unread } from '../../../components/agent/unread.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import { endTurn } from '../../agent/end-turn.ts'
import { emit } from '../../kit/emit.ts'

/** How a call failed, and the size of its model's window where the provider says it. */
interface Overflow {
  readonly contextWindow?: number | undefined
  readonly failure: Failure
}

/**
 * Takes a step of an agent that was longer than its model's context window. If the window is known and conversations are
 * compacted, the step is taken back, to be tried once more when this one is shorter; otherwise the turn ends.
 *
 * @param call the step's model call, which has failed
 */
export function takeOverflow(world: World, agent: Entity, call: Entity, { contextWindow, failure }: Overflow): void {
  const isWindowKnown = (contextWindow ?? lastWindow(world, agent)) !== undefined
  const isTriedAgain = world.has(agent, Overflowed)
  if (isTriedAgain || !isWindowKnown || world.get(agent, Context)?.compaction.enabled !== true) {
    return endOverflowed(world, agent, failure)
  }
  world.despawn(call)
  world.remove(agent, Busy)
  world.remove(agent, LastStep)
  world.patch(agent, Turn, { steps: world.read(agent, Turn).steps - 1 })
  world.add(agent, Unread)
  world.add(agent, Overflowed({ failure }))
}

/** Ends the turn of an agent whose conversation is too long, and could not be made shorter. */
export function endOverflowed(world: World, agent: Entity, failure: Failure): void {
  const turn = world.get(agent, Turn)
  // A step that was taken back, and is not tried again, counts after all.
  const isTakenBack = world.get(agent, Overflowed)?.isRewritten !== true && world.has(agent, Overflowed)
  if (turn !== undefined && isTakenBack) world.patch(agent, Turn, { steps: turn.steps + 1 })
  const { model } = world.read(agent, Llm)
  const what = `The conversation does not fit into the context window of ${model}.`
  const message = `${what} /compact takes a summary in place of what was said so far.`
  emit(world, 'turn-error', { agent, kind: 'context-overflow', retryable: false, message, failure })
  endTurn(world, agent, { stop: 'failed', failure })
}

/** Of the newest own call, be the projection rewritten since then or not. */
function lastWindow(world: World, agent: Entity): number | undefined {
  return world.get(agent, LastCall)?.contextWindow ?? world.get(agent, Rewrite)?.contextWindow
}
