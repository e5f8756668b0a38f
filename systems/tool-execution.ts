import { Ancestry, ToolCeiling } from '../components/ancestry.ts'
import { Approval, ApprovalOf } from '../components/approval.ts'
import { Busy } from '../components/busy.ts'
import { Effect } from '../components/effect.ts'
import { ApprovalsDenied } from '../components/holder.ts'
import { defaultLimits, Limits } from '../components/limits.ts'
import { Outcome } from '../components/outcome.ts'
import { OwnedBy } from '../components/owned-by.ts'
import { Pending } from '../components/pending.ts'
import { Permissions } from '../components/permissions.ts'
import { AwaitingApproval, Requested, ToolCall } from '../components/tool-call.ts'
import type { ToolDeclaration } from '../components/tool-declaration.ts'
import { ToolRegistry } from '../components/tool-registry.ts'
import { Turn } from '../components/turn.ts'
import { checkJson } from '../src/tools/check-json.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { requestedCalls } from './requested-calls.ts'
import { settled } from './settled.ts'
import { textOutcome } from './text-outcome.ts'
import { collectResults } from './tool-results.ts'
import type { WorldTool } from './world-tools/world-tool.ts'
import { tell } from './tell.ts'

/** Longest run of a tool whose declaration says nothing. */
const defaultTimeoutMs = 600_000

/** What an agent reads that nobody can agree with. */
const blocked =
  'needs an approval, and nobody can give one here. Do not try again: report that you are blocked, and by what.'

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
    run(world: World): void {
      const answered = settled(world, Approval)
      const requested = requestedCalls(world, maxStartsPerTick)
      if (answered.length + requested.length === 0) return
      const agents = new Set([...answered, ...requested].map((entity) => world.read(entity, OwnedBy).agent))
      for (const approval of answered) takeAnswer(world, approval)
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
  world.patch(agent, Turn, { toolCalls: world.read(agent, Turn).toolCalls + 1 })
  const found = toolOf(world, agent, name)
  const problem = 'problem' in found ? found.problem : problemOf(world, agent, call, found.declaration)
  if ('problem' in found || problem !== undefined) return refuse(world, call, `${problem}`)
  if (found.declaration.world === true) return callWorldTool(world, call, worldTools.get(name))
  if (found.declaration.approval !== true) return start(world, call, found.declaration)
  if (world.has(agent, ApprovalsDenied)) return refuse(world, call, `'${name}' ${blocked}`)
  world.add(call, AwaitingApproval)
  askNext(world, agent)
}

/** Runs in this tick. What it leaves open is answered by whoever it waits for. */
function callWorldTool(world: World, call: Entity, tool: WorldTool | undefined): void {
  const { agent } = world.read(call, OwnedBy)
  const { arguments: input, callId, name } = world.read(call, ToolCall)
  tell(world, 'tool-called', { agent, effect: call, callId, tool: name })
  if (tool === undefined) return refuse(world, call, `no system has the tool '${name}'.`)
  const answer = tool(world, { agent, arguments: input, call, callId })
  if (typeof answer === 'string') world.add(call, textOutcome({ text: answer, isError: false }))
  else if (answer !== undefined) refuse(world, call, answer.problem)
}

/** A tool that the agent has and is permitted to run, or why it may not. */
function toolOf(
  world: World,
  agent: Entity,
  name: string,
): { readonly declaration: ToolDeclaration } | { readonly problem: string } {
  const declaration = world.get(agent, ToolRegistry)?.tools.find((tool) => tool.name === name)
  if (declaration === undefined) return { problem: `there is no tool named ${name}.` }
  const { allowed, denied } = world.get(agent, Permissions) ?? {}
  const ceiling = world.get(agent, ToolCeiling)?.allowed
  const isPermitted = denied?.includes(name) !== true && allowed?.includes(name) !== false
  if (isPermitted && ceiling?.includes(name) !== false) return { declaration }
  const isFork = world.get(agent, Ancestry)?.sessions.at(-1)?.kind === 'fork'
  return { problem: isFork ? `tool '${name}' is not allowed in this fork` : `tool '${name}' is not permitted.` }
}

function problemOf(
  world: World,
  agent: Entity,
  call: Entity,
  { name, inputSchema, world: isWorldTool }: ToolDeclaration,
): string | undefined {
  const { arguments: input, malformed } = world.read(call, ToolCall)
  const maxToolCalls = world.get(agent, Limits)?.maxToolCalls ?? defaultLimits.maxToolCalls
  if (world.read(agent, Turn).toolCalls > maxToolCalls) {
    return `the limit of ${maxToolCalls} tool calls a turn is reached; answer with what you have.`
  }
  if (malformed !== undefined) return `Invalid arguments for '${name}': what came is no JSON object.`
  // A world tool checks its own: it takes more than its schema says.
  const wrong = isWorldTool === true ? undefined : checkJson(inputSchema, input)
  return wrong === undefined ? undefined : `Invalid arguments for '${name}': ${wrong}`
}

function start(world: World, call: Entity, { restart, timeoutMs = defaultTimeoutMs }: ToolDeclaration): void {
  const { agent } = world.read(call, OwnedBy)
  const { callId, name } = world.read(call, ToolCall)
  world.add(call, Effect({ attempt: 1, kind: 'tool', restart, timeoutMs }))
  world.add(call, Pending)
  tell(world, 'tool-called', { agent, effect: call, callId, tool: name })
}

/** Answers a call with what is wrong. The result is collected at the end of the system. */
function refuse(world: World, call: Entity, problem: string): void {
  world.add(call, textOutcome({ text: `Error: ${problem}`, isError: true }))
}

/** Approvals of an agent are asked for one after another, in the order of the calls. */
function askNext(world: World, agent: Entity): void {
  const owned = world.referrers(OwnedBy, agent)
  if (owned.some((entity) => world.has(entity, Approval))) return
  const call = owned.find((entity) => world.has(entity, AwaitingApproval))
  if (call === undefined) return
  const { name, arguments: input } = world.read(call, ToolCall)
  const found = toolOf(world, agent, name)
  const deadline = 'declaration' in found ? found.declaration.approvalTimeoutMs : undefined
  const id = world.newId('approval')
  world.spawn(
    Approval({ id, tool: name, arguments: input }),
    ApprovalOf({ call }),
    OwnedBy({ agent }),
    Effect({
      kind: 'approval',
      restart: 'pure',
      attempt: 1,
      ...(deadline !== undefined && { deadlineMs: world.nowMs + deadline }),
    }),
    Pending,
  )
  tell(world, 'approval-requested', { agent, approval: id, tool: name })
}

function takeAnswer(world: World, approval: Entity): void {
  const { agent } = world.read(approval, OwnedBy)
  const { call } = world.read(approval, ApprovalOf)
  const { id, tool } = world.read(approval, Approval)
  const { approved, reason } = answerOf(world, approval)
  world.despawn(approval)
  world.remove(call, AwaitingApproval)
  tell(world, 'approval-answered', { agent, approval: id, tool, approved, reason })
  if (approved) startApproved(world, agent, call, tool)
  else {
    const message = `[user declined: ${reason ?? 'no reason given'}]`
    world.add(call, Outcome({ ok: false, failure: { kind: 'tool-denied', message } }))
  }
  askNext(world, agent)
}

/** A yes is an answer to what was so when it was asked: the tool, or the right to it, may be gone. */
function startApproved(world: World, agent: Entity, call: Entity, tool: string): void {
  const found = toolOf(world, agent, tool)
  if ('declaration' in found) start(world, call, found.declaration)
  else refuse(world, call, found.problem)
}

/** Whatever is not a clear yes is a no. */
function answerOf(world: World, approval: Entity): { approved: boolean; reason?: string | undefined } {
  const outcome = world.read(approval, Outcome)
  if (!outcome.ok) return { approved: false, reason: outcome.failure.message }
  const { approved, reason } = (outcome.value ?? {}) as { approved?: unknown; reason?: unknown }
  return { approved: approved === true, reason: typeof reason === 'string' ? reason : undefined }
}
