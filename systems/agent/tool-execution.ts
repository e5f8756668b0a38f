import { Effect, Outcome, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { Approval, ApprovalOf, AwaitingApproval, Requested, ToolCall } from '../../components/agent/tool-call.ts'
import { Busy } from '../../components/agent/agent-tags.ts'
import { defaultLimits, Limits, Turn } from '../../components/agent/turn.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { contextToolNames } from '../../src/rules/context/context-tools.ts'
import { argumentsProblem } from '../../src/rules/projection/tool-calls.ts'
import { checkJson } from '../../src/rules/text/schema-issues.ts'
import type { Entity } from '../../src/world/component.ts'
import { made, patchMade } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { refreshContextTools } from '../context/context-tools.ts'
import { emit, inputsOf, requestedCalls, settled } from '../kit.ts'
import { dropSubagentTools, isSubagentTool } from '../sessions/subagent-tools.ts'
import { collectResults, cutProblem, refuseCall, textOutcome } from './tool-results.ts'
import type { WorldTool } from '../sessions/world-tools/world-tool.ts'
import { ApprovalsDenied } from '../../components/context/holder.ts'
import { Permissions, ToolRegistry } from '../../components/agent/tool-registry.ts'
import { sha256 } from '../../src/world/sha256.ts'
import { Ancestry, ToolCeiling } from '../../components/sessions/ancestry.ts'
import { isPermitted } from '../../src/rules/delegation/permissions.ts'

/** Timeout of a tool whose declaration has none, in ms. */
const defaultTimeoutMs = 600_000

export interface ToolExecutionOptions {
  readonly maxStartsPerTick: number
  /** Tools that change the world inside the tick, by name. */
  readonly worldTools: ReadonlyMap<string, WorldTool>
}

/**
 * Decides about each requested tool call: it becomes an effect, awaits approval, or is refused with the reason. If in
 * doubt it does not run.
 * Writes: Turn, Outcome, AwaitingApproval, Conversation, Busy, and what world tools write. Starts: tool, approval, and
 * what world tools start.
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
      // Calls answered at once are in the conversation in the same tick.
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
  // Tools switched off during the model call are gone.
  if (contextToolNames.has(name)) refreshContextTools(world, agent)
  else if (isSubagentTool(name)) dropSubagentTools(world, agent)
  const found = permittedTool(world, agent, name)
  if ('problem' in found) return refuseCall(world, call, found.problem)
  const problem = problemOf(world, agent, call, found.declaration)
  if (problem !== undefined) return refuseCall(world, call, problem)
  if (found.declaration.world === true) return callWorldTool(world, call, worldTools.get(name))
  if (found.declaration.approval !== true) return start(world, call, found.declaration)
  world.add(call, AwaitingApproval)
  askNext(world, agent)
}

/** Runs in this tick. `undefined` leaves the call open for a later system to answer. */
function callWorldTool(world: World, call: Entity, tool: WorldTool | undefined): void {
  const { agent } = world.read(call, OwnedBy)
  const { arguments: input, callId, name } = world.read(call, ToolCall)
  emit(world, 'tool-called', { agent, effect: call, callId, tool: name, arguments: input })
  if (tool === undefined) return refuseCall(world, call, `no system has the tool '${name}'.`)
  const answer = tool(world, { agent, arguments: input, call, callId })
  if (typeof answer === 'string') world.add(call, textOutcome(answer))
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
  // A world tool checks its own: it accepts more than its schema says.
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

const blocked =
  'needs an approval, and nobody can give one here. Do not try again: report that you are blocked, and by what.'

/**
 * Takes the answer to an approval and asks for the next. If the call has changed since it was shown, the user is asked
 * again.
 * @returns the call, if it is to run
 */
function takeApproval(world: World, approval: Entity) {
  const { agent } = world.read(approval, OwnedBy)
  const { call } = world.read(approval, ApprovalOf)
  const { id, tool } = world.read(approval, Approval)
  const { approved, isAnswered, reason } = answerOf(world, approval)
  const found = permittedTool(world, agent, world.read(call, ToolCall).name)
  if (isAnswered && 'declaration' in found && !isAsShown(world, approval, found.declaration)) {
    emit(world, 'input-dropped', { kind: 'answer', effect: approval, reason: `the call has changed since ${id}` })
    askAgain(world, approval)
    return undefined
  }
  world.despawn(approval)
  world.remove(call, AwaitingApproval)
  emit(world, 'approval-answered', { agent, approval: id, tool, approved, reason })
  if (!approved) {
    const message = `[user declined: ${reason ?? 'no reason given'}]`
    world.add(call, Outcome({ ok: false, failure: { kind: 'tool-denied', message } }))
  } else if ('problem' in found) refuseCall(world, call, found.problem)
  askNext(world, agent)
  return approved && 'declaration' in found ? { call, declaration: found.declaration } : undefined
}

/** After a restart declarations may differ: asks again about calls that changed. */
function renewApprovals(world: World): readonly Entity[] {
  if (inputsOf(world, 'started').length === 0) return []
  return world.query(Approval, Pending).flatMap((approval) => {
    const { agent } = world.read(approval, OwnedBy)
    const { name } = world.read(world.read(approval, ApprovalOf).call, ToolCall)
    const found = permittedTool(world, agent, name)
    if ('declaration' in found && isAsShown(world, approval, found.declaration)) return []
    askAgain(world, approval)
    return [agent]
  })
}

function askAgain(world: World, approval: Entity): void {
  const { agent } = world.read(approval, OwnedBy)
  world.despawn(approval)
  askNext(world, agent)
}

/** An agent's approvals are requested one at a time, in call order. */
function askNext(world: World, agent: Entity): void {
  const owned = world.referrers(OwnedBy, agent)
  if (owned.some((entity) => world.has(entity, Approval))) return
  for (const call of owned) {
    if (!world.has(call, AwaitingApproval)) continue
    const found = askable(world, agent, call)
    if ('declaration' in found) return ask(world, agent, call, found.declaration)
    world.remove(call, AwaitingApproval)
    refuseCall(world, call, found.problem)
  }
}

/** The tool, or the permission to run it, may have been removed since the call was requested. */
function askable(world: World, agent: Entity, call: Entity): ReturnType<typeof permittedTool> {
  const { arguments: input, name } = world.read(call, ToolCall)
  if (world.has(agent, ApprovalsDenied)) return { problem: `'${name}' ${blocked}` }
  const found = permittedTool(world, agent, name)
  if ('problem' in found) return found
  const wrong = checkJson(found.declaration.inputSchema, input)
  return wrong === undefined ? found : { problem: `Invalid arguments for '${name}': ${wrong}` }
}

function ask(world: World, agent: Entity, call: Entity, declaration: ToolDeclaration): void {
  const { name, arguments: input } = world.read(call, ToolCall)
  const { approvalTimeoutMs: timeMs } = declaration
  const id = world.newId('approval')
  const deadline = timeMs === undefined ? {} : { deadlineMs: world.nowMs + timeMs }
  world.spawn(
    Approval({ id, tool: name, arguments: input }),
    ApprovalOf({ call, shown: shownHash(world, agent, declaration) }),
    OwnedBy({ agent }),
    Effect({ kind: 'approval', restart: 'pure', attempt: 1, ...deadline }),
    Pending,
  )
  emit(world, 'approval-requested', { agent, approval: id, tool: name, arguments: input })
}

/** Is the call still the one the user was shown? */
function isAsShown(world: World, approval: Entity, declaration: ToolDeclaration): boolean {
  const { agent } = world.read(approval, OwnedBy)
  const { call, shown } = world.read(approval, ApprovalOf)
  const { name, arguments: input } = world.read(call, ToolCall)
  const { arguments: shownInput, tool } = world.read(approval, Approval)
  // Values of a World are canonical: the same data is the same text.
  if (tool !== name || JSON.stringify(shownInput) !== JSON.stringify(input)) return false
  return shown === undefined || shown === shownHash(world, agent, declaration)
}

function shownHash(world: World, agent: Entity, declaration: ToolDeclaration): string {
  return sha256(JSON.stringify([declaration, world.get(agent, Permissions) ?? null]))
}

/** Anything but a clear yes is a no. */
function answerOf(world: World, approval: Entity) {
  const outcome = world.read(approval, Outcome)
  if (!outcome.ok) return { approved: false, isAnswered: false, reason: outcome.failure.message }
  const { approved, reason } = (outcome.value ?? {}) as { approved?: unknown; reason?: unknown }
  return { approved: approved === true, isAnswered: true, reason: typeof reason === 'string' ? reason : undefined }
}

/** A tool the agent has and may run, or why not. */
function permittedTool(
  world: World,
  agent: Entity,
  name: string,
): { readonly declaration: ToolDeclaration } | { readonly problem: string } {
  const declaration = world.get(agent, ToolRegistry)?.tools.find((tool) => tool.name === name)
  if (declaration === undefined) return { problem: `there is no tool named ${name}.` }
  const ceiling = world.get(agent, ToolCeiling)?.allowed
  if (isPermitted(name, world.get(agent, Permissions), ceiling)) return { declaration }
  const isFork = world.get(agent, Ancestry)?.sessions.at(-1)?.kind === 'fork'
  return { problem: isFork ? `tool '${name}' is not allowed in this fork` : `tool '${name}' is not permitted.` }
}
