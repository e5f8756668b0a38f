import type { JsonObject } from '../../base/json.ts'
import { type RawView, read } from './raw-view.ts'

/** A call that waits for a person's answer, as its world has it. */
export interface AskedCall {
  readonly world: string
  readonly agent: number
  /** Names it in the answer. */
  readonly approval: string
  readonly tool: string
  readonly arguments: JsonObject
  readonly callId?: string | undefined
  /** Where a policy asks: why. */
  readonly reason?: string | undefined
  readonly operation?: string | undefined
  readonly dataClass?: string | undefined
  /** Ids of the sessions above the call, outermost first; empty: an agent of a root world asks. */
  readonly path: readonly string[]
  /** The folder that the agent works in. */
  readonly cwd?: string | undefined
  readonly model: string
  /** World time at which nobody needs to answer any more. */
  readonly deadlineMs?: number | undefined
  /** Of its world, at its newest tick. */
  readonly tick: number
  readonly nowMs: number
  readonly dateMs: number
}

/** What a world asks people now. */
export function questionsOf(world: RawView): readonly AskedCall[] {
  return world.entitiesWith('Approval').flatMap((entity) => {
    const approval = read(world, entity, 'Approval')
    const agent = read(world, entity, 'OwnedBy')?.agent
    if (approval === undefined || agent === undefined || world.value(entity, 'Outcome') !== undefined) return []
    const { callId, dataClass, decision, id, operation, tool } = approval
    return [
      {
        world: world.name,
        agent,
        approval: id,
        tool,
        arguments: approval.arguments,
        callId,
        reason: decision?.reason,
        operation,
        dataClass,
        path: read(world, agent, 'Ancestry')?.sessions.map(({ sessionId }) => sessionId) ?? [],
        cwd: read(world, agent, 'Policy')?.cwd,
        model: read(world, agent, 'Llm')?.model ?? '',
        deadlineMs: read(world, entity, 'Effect')?.deadlineMs,
        tick: world.tick,
        nowMs: world.nowMs,
        dateMs: world.dateMs,
      },
    ]
  })
}
