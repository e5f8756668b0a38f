import { Approval, ApprovalOf } from '../../components/agent/approval.ts'
import { Effect } from '../../components/effects/effect.ts'
import { ApprovalsDenied } from '../../components/context/holder.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { OwnedBy } from '../../components/effects/owned-by.ts'
import { Pending } from '../../components/effects/pending.ts'
import { Permissions } from '../../components/agent/permissions.ts'
import { AwaitingApproval, ToolCall } from '../../components/agent/tool-call.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { checkJson } from '../../src/rules/text/check-json.ts'
import type { Entity } from '../../src/world/component.ts'
import { sha256 } from '../../src/world/sha256.ts'
import type { World } from '../../src/world/world.ts'
import { inputsOf } from '../kit/inputs-of.ts'
import { permittedTool } from './permitted-tool.ts'
import { emit } from '../kit/emit.ts'
import { refuseCall } from './text-outcome.ts'

/** What an agent reads that nobody can agree with. */
const blocked =
  'needs an approval, and nobody can give one here. Do not try again: report that you are blocked, and by what.'

/** Has a person asked about a call, after those of its agent that wait before it. */
export function awaitApproval(world: World, call: Entity): void {
  world.add(call, AwaitingApproval)
  askNext(world, world.read(call, OwnedBy).agent)
}

/** A call that a person has agreed to, as it was shown. */
export interface Approved {
  readonly call: Entity
  readonly declaration: ToolDeclaration
}

/**
 * Takes the answer to an approval, and puts the next question. An answer to a call that was shown otherwise than it is now
 * does not count: the person is asked again.
 *
 * @returns the call, if it is to run
 */
export function takeApproval(world: World, approval: Entity): Approved | undefined {
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

/** Where a Runner takes the world up, with other declarations perhaps: puts questions again whose calls have changed. */
export function renewApprovals(world: World): readonly Entity[] {
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

/** Approvals of an agent are asked for one after another, in the order of the calls. */
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

/** Nobody is asked about what could not run: since the call was decided about, its tool or the right to it may be gone. */
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
  emit(world, 'approval-requested', { agent, approval: id, tool: name })
}

/** Is the call still the one that the person was shown? */
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

/** Whatever is not a clear yes is a no. */
function answerOf(world: World, approval: Entity) {
  const outcome = world.read(approval, Outcome)
  if (!outcome.ok) return { approved: false, isAnswered: false, reason: outcome.failure.message }
  const { approved, reason } = (outcome.value ?? {}) as { approved?: unknown; reason?: unknown }
  return { approved: approved === true, isAnswered: true, reason: typeof reason === 'string' ? reason : undefined }
}
