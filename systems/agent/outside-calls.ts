import { Approval, Requested, ToolCall } from '../../components/agent/tool-call.ts'
import { Inspection } from '../../components/agent/policy.ts'
import { Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { argumentFaults } from '../../src/rules/text/argument-faults.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, requestedCalls, settled } from '../kit.ts'
import { takeApproval } from './call-approval.ts'
import { awaitJudgement } from './call-inspection.ts'
import { judgeInLine } from './call-judgement.ts'
import { emitSettled, numberCall } from './numbered-call.ts'
import { permittedTool } from './run-call.ts'
import { contentOf, resultOf } from '../../src/rules/projection/call-result.ts'
import { refuseCall } from './tool-results.ts'

/** Most calls that are decided in a tick; the rest are in the next. */
const maxStartsPerTick = 256

/** Outside callers have no world tools: what changes a world is for the agents in it. */
const noWorldTools = new Map()

/**
 * Runs tool calls of callers outside of the world, in a world without models: the one who reasons is elsewhere. A caller is
 * an entity with `Policy` and `ToolRegistry`; its calls are inspected, judged, asked about and run as an agent's are, side
 * by side, and each is answered by `tool-answered`, for no conversation waits for it.
 * Writes: Outcome, AwaitingApproval, Judgement, AwaitingJudgement, PolicyState. Starts: tool, approval, inspect.
 */
export const outsideCalls = {
  name: 'outside-calls',
  priority: 5,
  wakes: [Requested, [Approval, Outcome], [Inspection, Outcome], [ToolCall, Outcome]],
  run(world: World): void {
    const requested = requestedCalls(world, maxStartsPerTick)
    const approvals = settled(world, Approval)
    const callers = new Set(
      [...requested, ...approvals, ...settled(world, Inspection)].map((entity) => world.read(entity, OwnedBy).agent),
    )
    for (const approval of approvals) takeApproval(world, approval, noWorldTools)
    for (const call of requested) decide(world, call)
    for (const caller of callers) judgeInLine(world, caller, noWorldTools)
    for (const call of settled(world, ToolCall)) answer(world, call)
    if (requested.length === maxStartsPerTick) world.requestTick()
  },
}

function decide(world: World, call: Entity): void {
  world.remove(call, Requested)
  const { agent: caller } = world.read(call, OwnedBy)
  const { arguments: input, name } = world.read(call, ToolCall)
  numberCall(world, caller, call)
  const found = permittedTool(world, caller, name)
  if ('problem' in found) return refuseCall(world, call, found.problem)
  const wrong = argumentFaults(found.declaration, input)
  if (wrong !== undefined) return refuseCall(world, call, `Invalid arguments for '${name}': ${wrong}`)
  awaitJudgement(world, call, found.declaration)
}

function answer(world: World, call: Entity): void {
  const { agent: caller } = world.read(call, OwnedBy)
  const { callId, name: tool } = world.read(call, ToolCall)
  const result = resultOf(world, call, world.read(call, Outcome))
  const content = contentOf(result)
  const { isError } = result
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  emitSettled(world, caller, call, { isError, result: texts.join('\n') })
  world.despawn(call)
  emit(world, 'tool-answered', { agent: caller, callId, tool, isError, result: content })
}

/** Stops a call that its caller does not wait for any more; the Runner aborts it after the commit. One that has ended stays so. */
export function cancelOutsideCall(world: World, call: Entity): void {
  if (!world.exists(call) || !world.has(call, ToolCall) || world.has(call, Outcome)) return
  const { agent: caller } = world.read(call, OwnedBy)
  emitSettled(world, caller, call, { isError: true, result: '[cancelled by the client]' })
  // Its inspection and its approval go with it; the next call of the caller may have waited for them.
  world.despawn(call)
  judgeInLine(world, caller, noWorldTools)
}
