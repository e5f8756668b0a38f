import { Outcome } from '../../components/effects/outcome.ts'
import { Approval } from '../../components/agent/approval.ts'
import { Busy } from '../../components/agent/busy.ts'
import { Effect } from '../../components/effects/effect.ts'
import { defaultLimits, Limits } from '../../components/agent/limits.ts'
import { OwnedBy } from '../../components/effects/owned-by.ts'
import { Pending } from '../../components/effects/pending.ts'
import { Requested, ToolCall } from '../../components/agent/tool-call.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { Turn } from '../../components/agent/turn.ts'
import { contextToolNames } from '../../src/rules/context/context-tools.ts'
import { argumentsProblem } from '../../src/rules/projection/tool-arguments.ts'
import { checkJson } from '../../src/rules/text/check-json.ts'
import type { Entity } from '../../src/world/component.ts'
import { made, patchMade } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { awaitApproval, renewApprovals, takeApproval } from './approvals.ts'
import { permittedTool } from './permitted-tool.ts'
import { refreshContextTools } from '../context/context-tools.ts'
import { requestedCalls } from './requested-calls.ts'
import { settled } from '../kit/settled.ts'
import { dropSubagentTools, isSubagentTool } from '../sessions/subagent-tools.ts'
import { cutProblem } from './cut-problem.ts'
import { refuseCall, textOutcome } from './text-outcome.ts'
import { collectResults } from './tool-results.ts'
import type { WorldTool } from '../sessions/world-tools/world-tool.ts'
import { emit } from '../kit/emit.ts'

/** Longest run of a tool whose declaration says nothing. */
const defaultTimeoutMs = 600_000

export interface ToolExecutionOptions {
  readonly maxStartsPerTick: number
  /** Tools that change the world inside the tick, by name. */
  readonly worldTools: ReadonlyMap<string, WorldTool>
}

/**
 * Decides about each tool call that a model has asked for: it becomes an effect, waits for a person, or is answered with
 * what is wrong. In doubt it does not run.
 *
 * Query: Requested; Outcome. Writes: Turn, Outcome, AwaitingApproval, Conversation, Busy, and what world tools write.
 * Starts: tool, approval, and what world tools start.
 */
export function toolExecution({ maxStartsPerTick, worldTools }: ToolExecutionOptions) {
  return {
    name: 'tool-execution',
    priority: 5,
    wakes: ['started', Requested, [Approval, Outcome]],
    run(world: World): void {
      const requested = requestedCalls(world, maxStartsPerTick)
      const agents = new Set<Entity>(renewApprovals(world))
      const answered = settled(world, Approval)
      for (const entity of answered) agents.add(world.read(entity, OwnedBy).agent)
      for (const entity of requested) agents.add(world.read(entity, OwnedBy).agent)
      for (const approval of answered) {
        const approved = takeApproval(world, approval)
        if (approved !== undefined) start(world, approved.call, approved.declaration)
      }
      for (const call of requested) decide(world, call, worldTools)
      // What was answered at once stands in the conversation in the same tick.
      for (const agent of agents) {
        collectResults(world, agent)
        if (!world.has(agent, Busy)) world.requestTick()
      }
      if (requested.length === maxStartsPerTick) world.requestTick()
    },
  }
}

function decide(world: World, call: Entity, worldTools: ToolExecutionOptions['worldTools']): void {
  world.remove(call, Requested)
  const { agent } = world.read(call, OwnedBy)
  const { name } = world.read(call, ToolCall)
  patchMade(world, agent, Turn, { toolCalls: world.read(agent, Turn).toolCalls + 1 })
  // What was switched off while the model was thinking is not there any more.
  if (contextToolNames.has(name)) refreshContextTools(world, agent)
  else if (isSubagentTool(name)) dropSubagentTools(world, agent)
  const found = permittedTool(world, agent, name)
  if ('problem' in found) return refuseCall(world, call, found.problem)
  const problem = problemOf(world, agent, call, found.declaration)
  if (problem !== undefined) return refuseCall(world, call, problem)
  if (found.declaration.world === true) return callWorldTool(world, call, worldTools.get(name))
  if (found.declaration.approval !== true) return start(world, call, found.declaration)
  awaitApproval(world, call)
}

/** Runs in this tick. What it leaves open is answered by whoever it waits for. */
function callWorldTool(world: World, call: Entity, tool: WorldTool | undefined): void {
  const { agent } = world.read(call, OwnedBy)
  const { arguments: input, callId, name } = world.read(call, ToolCall)
  emit(world, 'tool-called', { agent, effect: call, callId, tool: name, arguments: input })
  if (tool === undefined) return refuseCall(world, call, `no system has the tool '${name}'.`)
  const answer = tool(world, { agent, arguments: input, call, callId })
  if (typeof answer === 'string') world.add(call, textOutcome({ text: answer, isError: false }))
  else if (answer !== undefined) refuseCall(world, call, answer.problem)
}

function problemOf(
  world: World,
  agent: Entity,
  call: Entity,
  { name, inputSchema, world: isWorldTool }: ToolDeclaration,
): string | undefined {
  const { arguments: input, isCut, malformed } = world.read(call, ToolCall)
  const maxToolCalls = world.get(agent, Limits)?.maxToolCalls ?? defaultLimits.maxToolCalls
  if (world.read(agent, Turn).toolCalls > maxToolCalls) {
    return `the limit of ${maxToolCalls} tool calls a turn is reached; answer with what you have.`
  }
  if (isCut === true) return cutProblem(world, agent, name)
  if (malformed !== undefined) return `Invalid arguments for '${name}': ${argumentsProblem(malformed)}`
  // A world tool checks its own: it takes more than its schema says.
  const wrong = isWorldTool === true ? undefined : checkJson(inputSchema, input)
  return wrong === undefined ? undefined : `Invalid arguments for '${name}': ${wrong}`
}

function start(world: World, call: Entity, { restart, timeoutMs = defaultTimeoutMs }: ToolDeclaration): void {
  const { agent } = world.read(call, OwnedBy)
  const { arguments: input, callId, name } = world.read(call, ToolCall)
  world.add(call, made(Effect, { attempt: 1, kind: 'tool', restart, timeoutMs }))
  world.add(call, Pending)
  emit(world, 'tool-called', { agent, effect: call, callId, tool: name, arguments: input })
}
