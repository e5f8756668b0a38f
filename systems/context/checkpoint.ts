import { Unread } from '../../components/agent/conversation.ts'
import { Outcome } from '../../components/effects/effect.ts'
import { CheckpointAsked, CheckpointPending } from '../../components/context/compaction-state.ts'
import { Context } from '../../components/context/context.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import { SideCall } from '../../components/effects/model-call.ts'
import { type Checkpointer, hasCheckpointer, standardCheckpointer } from '../../src/rules/context/compactor.ts'
import { uncoveredPart } from '../../src/rules/projection/boundaries.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, inputsOf, readyAgents } from '../kit.ts'
import {
  refuseRequest,
  type Start,
  takeWritten,
  type TextPolicy,
  type Wish,
  write,
  writeAsAsked,
} from './summaries/boundary-text.ts'

export interface CheckpointOptions {
  readonly checkpointer: Checkpointer
  readonly maxStartsPerTick: number
}

/**
 * Replaces a finished task by a record that the model writes, before the agent's next step or when a program asks.
 * Writes: Boundary, CheckpointPending, CheckpointAsked, Summarizing, and what a rewrite changes. Starts: model.
 */
export function checkpoint({ checkpointer, maxStartsPerTick }: CheckpointOptions) {
  // The standard checkpointer needs no look at agents without a pending request.
  const isStandard = checkpointer.should === standardCheckpointer.should
  const policy = checkpointPolicy(checkpointer)
  return {
    name: 'checkpoint',
    priority: -2.8,
    wakes: [
      'checkpoint',
      'started',
      [SideCall, Outcome],
      CheckpointAsked,
      isStandard ? [CheckpointPending, Unread] : [Context, Unread],
    ],
    run(world: World): void {
      for (const input of inputsOf(world, 'checkpoint')) {
        if (!refuseRequest(world, policy, input)) noteAsked(world, input)
      }
      if (inputsOf(world, 'started').length > 0) markAsked(world)
      takeWritten(world, policy)
      writeAsAsked(world, policy)
      for (const agent of readyAgents(world, maxStartsPerTick, Context)) writeIfDue(world, agent, checkpointer, policy)
    },
  }
}

function checkpointPolicy({ prompt }: Checkpointer): TextPolicy {
  return {
    kind: 'checkpoint',
    prompt,
    asked: [CheckpointAsked, CheckpointPending],
    refusal: (agent, reason) => `checkpoint: the task of agent ${agent} cannot be closed: ${reason}.`,
    whyNot: (world, agent) => (hasCheckpointer(world, agent) ? undefined : 'it has no Context with checkpoints'),
    wish: (world, agent) => world.read(agent, CheckpointPending),
    begun: clearPending,
    ended(world, agent, { by, note }, failure) {
      if (failure === undefined) return
      emit(world, 'checkpoint-failed', { agent, by, failure, ...(note !== undefined && { note }) })
    },
  }
}

/** A program's request counts like the agent's own; the newest note is kept. */
function noteAsked(world: World, { agent, note, request }: InputOf<'checkpoint'>): void {
  const before = world.get(agent, CheckpointPending)
  const requests = [...(before?.requests ?? []), request]
  world.set(agent, CheckpointPending, { by: 'manual', note: note ?? before?.note, requests })
  world.add(agent, CheckpointAsked)
}

/** An older saved world may lack these marks. */
function markAsked(world: World): void {
  for (const agent of world.entitiesWith(CheckpointPending)) {
    if (world.read(agent, CheckpointPending).requests.length > 0) world.add(agent, CheckpointAsked)
  }
}

function writeIfDue(world: World, agent: Entity, checkpointer: Checkpointer, policy: TextPolicy): void {
  if (!hasCheckpointer(world, agent)) return
  const pending = world.get(agent, CheckpointPending)
  const messages = uncoveredPart(world, agent)?.count ?? 0
  const view = { by: pending?.by, isPending: pending !== undefined, messages, note: pending?.note }
  if (checkpointer.should(view)) write(world, agent, policy, pending ?? { by: 'auto', requests: [] })
}

/** The agent's own request stays until the record can be written. */
function clearPending(world: World, agent: Entity, { by }: Wish, start: Start): void {
  world.remove(agent, CheckpointAsked)
  const isKept = typeof start === 'object' && by === 'model'
  if (isKept) world.patch(agent, CheckpointPending, { requests: [] })
  else world.remove(agent, CheckpointPending)
}
