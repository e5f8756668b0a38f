import { Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { Inspection, Policy } from '../../components/agent/policy.ts'
import { Approval, AwaitingApproval, Requested, ToolCall } from '../../components/agent/tool-call.ts'
import { Busy } from '../../components/agent/agent-tags.ts'
import { defaultLimits, Limits, Turn } from '../../components/agent/turn.ts'
import { SlotReleased } from '../../components/sessions/ancestry.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { contextToolNames } from '../../src/rules/context/context-tools.ts'
import { argumentsProblem } from '../../src/rules/projection/tool-calls.ts'
import { argumentFaults } from '../../src/rules/text/argument-faults.ts'
import type { Entity } from '../../src/world/component.ts'
import { setMade } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { refreshContextTools } from '../context/context-tools.ts'
import { requestedCalls, settled } from '../kit.ts'
import { dropSubagentTools, isSubagentTool } from '../sessions/subagent-tools.ts'
import { askNext, renewApprovals, takeApproval } from './call-approval.ts'
import { awaitJudgement } from './call-inspection.ts'
import { judgeInLine } from './call-judgement.ts'
import { numberCall } from './numbered-call.ts'
import { permittedTool, runCall, type WorldTools } from './run-call.ts'
import { collectResults, cutProblem, refuseCall } from './tool-results.ts'

export interface ToolExecutionOptions {
  readonly maxStartsPerTick: number
  readonly worldTools: WorldTools
}

/**
 * Decides about each requested tool call: it becomes an effect, awaits an inspection and a policy's judgement, awaits
 * approval, or is refused with the reason. If in doubt it does not run. In a session without a slot,
 * answers and what inspections have found wait until it has one again.
 * Writes: Turn, Outcome, AwaitingApproval, Conversation, Busy, and what world tools write; for agents with a Policy
 * Judgement, AwaitingJudgement, PolicyState. Starts: tool, approval, inspect, and what world tools start.
 */
export function toolExecution({ maxStartsPerTick, worldTools }: ToolExecutionOptions) {
  return {
    name: 'tool-execution',
    priority: 5,
    wakes: ['started', Requested, [Approval, Outcome], [Inspection, Outcome]],
    run(world: World): void {
      const requested = requestedCalls(world, maxStartsPerTick)
      const agents = new Set<Entity>(renewApprovals(world, worldTools))
      const hasSlot = (entity: Entity): boolean => !world.has(world.read(entity, OwnedBy).agent, SlotReleased)
      const answered = settled(world, Approval).filter(hasSlot)
      const inspected = settled(world, Inspection)
      for (const entity of answered) agents.add(world.read(entity, OwnedBy).agent)
      for (const entity of inspected) agents.add(world.read(entity, OwnedBy).agent)
      for (const entity of requested) agents.add(world.read(entity, OwnedBy).agent)
      for (const approval of answered) takeApproval(world, approval, worldTools)
      // A person who stops the turn takes its other calls along.
      for (const call of requested) if (world.has(call, Requested)) decide(world, call, worldTools)
      for (const agent of agents) {
        if (inspected.length > 0 || world.has(agent, Policy)) judgeInLine(world, agent, worldTools)
        // Calls answered at once are in the conversation in the same tick.
        collectResults(world, agent)
        if (!world.has(agent, Busy)) world.requestTick()
      }
      if (requested.length === maxStartsPerTick) world.requestTick()
    },
  }
}

function decide(world: World, call: Entity, worldTools: WorldTools): void {
  world.remove(call, Requested)
  const { agent } = world.read(call, OwnedBy)
  const { name } = world.read(call, ToolCall)
  const isJudged = world.has(agent, Policy)
  const turn = world.read(agent, Turn)
  setMade(world, agent, Turn, { ...turn, toolCalls: turn.toolCalls + 1 })
  if (isJudged) numberCall(world, agent, call)
  // Tools switched off during the model call are gone.
  if (contextToolNames.has(name)) refreshContextTools(world, agent)
  else if (isSubagentTool(name)) dropSubagentTools(world, agent)
  const found = permittedTool(world, agent, name)
  if ('problem' in found) return refuseCall(world, call, found.problem)
  const { declaration } = found
  const problem = problemOf(world, agent, call, declaration)
  if (problem !== undefined) return refuseCall(world, call, problem)
  if (isJudged) return awaitJudgement(world, call, declaration)
  if (declaration.approval !== true) return runCall(world, call, declaration, worldTools)
  const needless = worldTools.get(name)?.problem?.(world, agent)
  if (declaration.world === true && needless !== undefined) return refuseCall(world, call, needless)
  world.add(call, AwaitingApproval)
  askNext(world, agent, worldTools)
}

function problemOf(world: World, agent: Entity, call: Entity, declaration: ToolDeclaration): string | undefined {
  const { approval, name, world: isWorldTool } = declaration
  const { arguments: input, isCut, malformed } = world.read(call, ToolCall)
  const maxToolCalls = world.get(agent, Limits)?.maxToolCalls ?? defaultLimits.maxToolCalls
  if (world.read(agent, Turn).toolCalls > maxToolCalls) {
    return `the limit of ${maxToolCalls} tool calls a turn is reached; answer with what you have.`
  }
  if (isCut === true) return cutProblem(world, agent, name)
  if (malformed !== undefined) return `Invalid arguments for '${name}': ${argumentsProblem(malformed)}`
  // A world tool checks its own, and accepts more than its schema says; a person is asked only about what can run.
  const wrong = isWorldTool === true && approval !== true ? undefined : argumentFaults(declaration, input)
  return wrong === undefined ? undefined : `Invalid arguments for '${name}': ${wrong}`
}
