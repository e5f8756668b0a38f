import { Boundary } from '../components/boundary.ts'
import { Busy } from '../components/busy.ts'
import { CheckpointAsked, CheckpointPending } from '../components/checkpoint-pending.ts'
import { Context } from '../components/context.ts'
import type { InputOf } from '../components/input.ts'
import { SideCall } from '../components/side-call.ts'
import { StepHeld } from '../components/step-held.ts'
import { type Checkpointer, standardCheckpointer } from '../src/context/checkpointer.ts'
import { hasCheckpointer } from '../src/context/has-compactor.ts'
import { uncoveredPart } from '../src/context/uncovered-part.ts'
import { noteRefused } from '../src/subagents/refused-requests.ts'
import type { Entity } from '../src/world/component.ts'
import { not } from '../src/world/entities.ts'
import type { World } from '../src/world/world.ts'
import { anybodyHas } from './anybody-has.ts'
import { inputsOf } from './inputs-of.ts'
import { latchOf } from './latched.ts'
import { readyAgents } from './ready-agents.ts'
import { answerRequests, answerUnstarted } from './summaries/answer-requests.ts'
import { switchedOff, whyNever } from './summaries/compact-as-asked.ts'
import { settledSummaries, settleSummary } from './summaries/settle-summary.ts'
import { startSummary } from './summaries/start-summary.ts'
import { tell } from './tell.ts'

export interface CheckpointOptions {
  readonly checkpointer: Checkpointer
  readonly maxStartsPerTick: number
}

/**
 * Closes tasks: has a record written of one that is done, before the agent's next step or as soon as a program asks, and
 * lets it stand for what was said.
 *
 * Query: CheckpointAsked; the agents that reasoning will start; Outcome. Writes: Boundary, CheckpointPending,
 * CheckpointAsked, Summarizing, and what goes with a rewrite. Starts: model.
 */
export function checkpoint({ checkpointer, maxStartsPerTick }: CheckpointOptions) {
  // It looks at no agent that has nothing pending.
  const isStandard = checkpointer.should === standardCheckpointer.should
  return {
    name: 'checkpoint',
    priority: -2.8,
    run(world: World): void {
      for (const input of inputsOf(world, 'checkpoint')) ask(world, input)
      if (inputsOf(world, 'started').length > 0) markAsked(world)
      if (!anybodyHas(world, Context, SideCall, CheckpointAsked)) return
      for (const effect of settledSummaries(world, 'checkpoint')) takeRecord(world, effect)
      if (anybodyHas(world, CheckpointAsked)) {
        for (const agent of world.query(CheckpointAsked, CheckpointPending, not(Busy)))
          writeAsAsked(world, agent, checkpointer)
      }
      if (!anybodyHas(world, CheckpointPending) && isStandard) return
      for (const agent of readyAgents(world, maxStartsPerTick, Context)) writeIfDue(world, agent, checkpointer)
    },
  }
}

/** What a program says of the task counts as what the agent says: the newest note is kept. */
function ask(world: World, { agent, note, request }: InputOf<'checkpoint'>): void {
  const reason =
    whyNever(world, agent) ?? (hasCheckpointer(world, agent) ? undefined : 'it has no Context with checkpoints')
  if (reason !== undefined) {
    const message = `checkpoint: the task of agent ${agent} cannot be closed: ${reason}.`
    return noteRefused(world, request, { code: 'invalid-argument', reason: message })
  }
  const before = world.get(agent, CheckpointPending)
  const requests = [...(before?.requests ?? []), request]
  world.set(agent, CheckpointPending, { by: 'manual', note: note ?? before?.note, requests })
  world.add(agent, CheckpointAsked)
}

/** A world may have been saved without these marks. */
function markAsked(world: World): void {
  for (const agent of world.core.state.holders(CheckpointPending)) {
    if (world.read(agent, CheckpointPending).requests.length > 0) world.add(agent, CheckpointAsked)
  }
}

function takeRecord(world: World, effect: Entity): void {
  const { agent, failure, task } = settleSummary(world, effect)
  const { by, note, requests } = task
  if (failure !== undefined) {
    tell(world, 'checkpoint-failed', { agent, by, failure, ...(note !== undefined && { note }) })
    return answerRequests(world, agent, requests, { skipped: false, failure })
  }
  const boundary = world.read(agent, Boundary).at(-1)
  if (boundary !== undefined) answerRequests(world, agent, requests, { skipped: false, boundary })
}

/** Programs that ask do not wait for the agent's next step: any quiet point will do. */
function writeAsAsked(world: World, agent: Entity, checkpointer: Checkpointer): void {
  const { by, requests } = world.read(agent, CheckpointPending)
  const failure = latchOf(world, agent)?.failure ?? (hasCheckpointer(world, agent) ? undefined : switchedOff)
  if (failure === undefined) return world.has(agent, StepHeld) ? undefined : write(world, agent, checkpointer)
  world.remove(agent, CheckpointAsked)
  if (by === 'manual') world.remove(agent, CheckpointPending)
  else world.patch(agent, CheckpointPending, { requests: [] })
  answerRequests(world, agent, requests, { skipped: false, failure })
}

function writeIfDue(world: World, agent: Entity, checkpointer: Checkpointer): void {
  if (!hasCheckpointer(world, agent)) return
  const pending = world.get(agent, CheckpointPending)
  const messages = uncoveredPart(world, agent)?.count ?? 0
  const view = { by: pending?.by, isPending: pending !== undefined, messages, note: pending?.note }
  if (checkpointer.should(view)) write(world, agent, checkpointer)
}

function write(world: World, agent: Entity, { prompt }: Checkpointer): void {
  const { by, note, requests = [] } = world.get(agent, CheckpointPending) ?? {}
  const start = startSummary(world, agent, { by: by ?? 'auto', kind: 'checkpoint', note, prompt, requests })
  world.remove(agent, CheckpointAsked)
  const isKept = typeof start === 'object' && by === 'model'
  if (isKept) world.patch(agent, CheckpointPending, { requests: [] })
  else world.remove(agent, CheckpointPending)
  answerUnstarted(world, agent, requests, start)
}
