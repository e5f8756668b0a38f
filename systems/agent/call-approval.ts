import { Notified } from '../../components/sessions/subagent-wait.ts'
import { Judgement, PlanMode, Policy, PolicyState } from '../../components/agent/policy.ts'
import { type Answer, Approval, ApprovalOf, AwaitingApproval, ToolCall } from '../../components/agent/tool-call.ts'
import { ApprovalsDenied } from '../../components/context/holder.ts'
import { Effect, Outcome, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { Permissions } from '../../components/agent/tool-registry.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { judgedFieldsOf } from '../../src/protocol/policy.ts'
import { covers, rememberedOf } from '../../src/rules/policy/remembered.ts'
import type { Entity } from '../../src/world/component.ts'
import { sha256 } from '../../src/base/sha256.ts'
import type { World } from '../../src/world/world.ts'
import { emit, inputsOf } from '../kit.ts'
import { awaitJudgement } from './call-inspection.ts'
import { endTurn } from './end-turn.ts'
import { permittedTool, runCall, stillPermitted, type WorldTools } from './run-call.ts'
import { refuseCall } from './tool-results.ts'

const blocked =
  'needs an approval, and nobody can give one here. Do not try again: report that you are blocked, and by what.'

/** An agent's approvals are requested one at a time, in call order. What an earlier answer covers runs at once. */
export function askNext(world: World, agent: Entity, worldTools: WorldTools): void {
  const owned = world.referrers(OwnedBy, agent)
  const waiting = owned.filter((call) => world.has(call, AwaitingApproval))
  for (const call of waiting) if (isRemembered(world, agent, call)) runRemembered(world, call, worldTools)
  if (owned.some((entity) => world.has(entity, Approval))) return
  for (const call of waiting) {
    if (!world.has(call, AwaitingApproval)) continue
    const found = stillPermitted(world, agent, call)
    const isDenied = world.has(agent, ApprovalsDenied)
    if ('declaration' in found && !isDenied) return ask(world, agent, call, found.declaration)
    world.remove(call, AwaitingApproval)
    if ('problem' in found) refuseCall(world, call, found.problem)
    else if (!world.has(call, Judgement)) refuseCall(world, call, `'${found.declaration.name}' ${blocked}`)
    else decline(world, call, `no approval channel (${world.read(call, Judgement).decision.reason})`)
  }
}

function ask(world: World, agent: Entity, call: Entity, declaration: ToolDeclaration): void {
  const { name, arguments: input } = world.read(call, ToolCall)
  const { approvalTimeoutMs: timeMs } = declaration
  const id = world.newId('approval')
  const deadline = timeMs === undefined ? {} : { deadlineMs: world.nowMs + timeMs }
  const asked = { tool: name, arguments: input, ...shownOf(world, call) }
  world.spawn(
    Approval({ id, ...asked }),
    ApprovalOf({ call, shown: shownHash(world, agent, declaration) }),
    OwnedBy({ agent }),
    Effect({ kind: 'approval', restart: 'pure', attempt: 1, ...deadline }),
    Pending,
  )
  emit(world, 'approval-requested', { agent, approval: id, ...asked })
}

/** What a person is shown of the judgement of a call, if it was judged. */
function shownOf(world: World, call: Entity) {
  const judged = world.get(call, Judgement)
  if (judged === undefined) return {}
  const { callId } = world.read(call, ToolCall)
  return { callId, ...judgedFieldsOf(judged) }
}

/**
 * Takes the answer to an approval, runs the call if it is approved, and asks for the next. If the call has changed since
 * it was shown, it is decided anew.
 */
export function takeApproval(world: World, approval: Entity, worldTools: WorldTools): void {
  const { agent } = world.read(approval, OwnedBy)
  const { call } = world.read(approval, ApprovalOf)
  const { id, tool } = world.read(approval, Approval)
  const { approved, isAnswered, reason, remember, stopTurn } = answerOf(world, approval)
  const found = permittedTool(world, agent, world.read(call, ToolCall).name)
  if (isAnswered && 'declaration' in found && !isAsShown(world, approval, found.declaration)) {
    emit(world, 'input-dropped', { kind: 'answer', effect: approval, reason: `the call has changed since ${id}` })
    return decideAnew(world, approval, worldTools)
  }
  world.despawn(approval)
  world.remove(call, AwaitingApproval)
  emit(world, 'approval-answered', { agent, approval: id, tool, approved, reason })
  if (!approved) decline(world, call, reason ?? world.get(call, Judgement)?.decision.reason ?? 'no reason given')
  else if ('problem' in found) refuseCall(world, call, found.problem)
  else {
    if (remember !== undefined) noteRemembered(world, agent, call, remember)
    runCall(world, call, found.declaration, worldTools)
  }
  if (!approved && stopTurn === true) return stop(world, agent)
  askNext(world, agent, worldTools)
}

function decline(world: World, call: Entity, reason: string): void {
  const message = `[user declined: ${reason}]`
  world.add(call, Outcome({ ok: false, failure: { kind: 'tool-denied', message } }))
}

function stop(world: World, agent: Entity): void {
  endTurn(world, agent, { stop: 'declined' })
  // The wait system has run: pending notifications need another tick.
  if (world.has(agent, Notified)) world.requestTick()
}

/** After a restart declarations may differ: calls that are asked about and have changed are decided anew. */
export function renewApprovals(world: World, worldTools: WorldTools): readonly Entity[] {
  if (inputsOf(world, 'started').length === 0) return []
  return world.query(Approval, Pending).flatMap((approval) => {
    const { agent } = world.read(approval, OwnedBy)
    const { name } = world.read(world.read(approval, ApprovalOf).call, ToolCall)
    const found = permittedTool(world, agent, name)
    if ('declaration' in found && isAsShown(world, approval, found.declaration)) return []
    decideAnew(world, approval, worldTools)
    return [agent]
  })
}

/** Judges a call again where there is a policy, and asks again. */
function decideAnew(world: World, approval: Entity, worldTools: WorldTools): void {
  const { agent } = world.read(approval, OwnedBy)
  const { call } = world.read(approval, ApprovalOf)
  world.despawn(approval)
  const found = permittedTool(world, agent, world.read(call, ToolCall).name)
  if (world.has(agent, Policy) && 'declaration' in found) {
    world.remove(call, AwaitingApproval)
    awaitJudgement(world, call, found.declaration)
  }
  askNext(world, agent, worldTools)
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

/** Of all that says how the call is decided. */
function shownHash(world: World, agent: Entity, declaration: ToolDeclaration): string {
  const policy = world.get(agent, Policy)
  const judgedBy = policy === undefined ? [] : [policy, world.has(agent, PlanMode)]
  return sha256(JSON.stringify([declaration, world.get(agent, Permissions) ?? null, ...judgedBy]))
}

type GivenAnswer = Partial<Omit<Answer, 'approved'>> & { readonly approved: boolean; readonly isAnswered: boolean }

/** Anything but a clear yes is a no. */
function answerOf(world: World, approval: Entity): GivenAnswer {
  const outcome = world.read(approval, Outcome)
  if (!outcome.ok) return { approved: false, isAnswered: false, reason: outcome.failure.message }
  const { approved, reason, remember, stopTurn } = (outcome.value ?? {}) as Readonly<Record<string, unknown>>
  return {
    approved: approved === true,
    isAnswered: true,
    reason: typeof reason === 'string' ? reason : undefined,
    remember: remember === 'session' || remember === 'command' ? remember : undefined,
    stopTurn: stopTurn === true ? true : undefined,
  }
}

/** Lets an answer count for later calls, where it may. */
function noteRemembered(world: World, agent: Entity, call: Entity, remember: 'session' | 'command'): void {
  const judged = world.get(call, Judgement)
  if (judged?.mayRemember !== true || judged.onlyAPerson) return
  const noted = rememberedOf({ ...judged, tool: world.read(call, ToolCall).name }, remember)
  if (noted === undefined) return
  const { remembered = [], ...state } = world.get(agent, PolicyState) ?? { calls: judged.number }
  world.set(agent, PolicyState, { ...state, remembered: [...remembered, noted] })
}

/** Does an earlier answer cover a call that would be asked about? */
function isRemembered(world: World, agent: Entity, call: Entity): boolean {
  const judged = world.get(call, Judgement)
  if (judged?.mayRemember !== true || judged.onlyAPerson) return false
  const { name } = world.read(call, ToolCall)
  return covers(world.get(agent, PolicyState)?.remembered ?? [], { ...judged, tool: name })
}

/** Runs a call that an earlier answer covers, unless it has changed. */
function runRemembered(world: World, call: Entity, worldTools: WorldTools): void {
  const { agent } = world.read(call, OwnedBy)
  const found = stillPermitted(world, agent, call)
  world.remove(call, AwaitingApproval)
  const { decision } = world.read(call, Judgement)
  const { name } = world.read(call, ToolCall)
  world.patch(call, Judgement, { decision: { ...decision, approval: 'allow', reason: `remembered: ${name}` } })
  if ('problem' in found) refuseCall(world, call, found.problem)
  else runCall(world, call, found.declaration, worldTools)
}
