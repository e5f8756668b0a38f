import { AwaitingJudgement, Inspection, Judgement, Policy } from '../../components/agent/policy.ts'
import { AwaitingApproval } from '../../components/agent/tool-call.ts'
import { Outcome, OwnedBy } from '../../components/effects/effect.ts'
import { SlotReleased } from '../../components/sessions/ancestry.ts'
import type { Decision } from '../../src/protocol/policy.ts'
import type { OutcomeData } from '../../src/protocol/failure.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { pathArguments, type PolicyCall } from '../../src/rules/policy/call.ts'
import { absolute } from '../../src/rules/policy/paths.ts'
import { Inspected, policyCallOf } from '../../src/rules/policy/inspected-call.ts'
import { raiseMarks } from '../../src/rules/policy/marks.ts'
import { assess } from '../../src/rules/policy/policy.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { askNext } from './call-approval.ts'
import { awaitJudgement, isInspected } from './call-inspection.ts'
import { runCall, stillPermitted, type WorldTools } from './run-call.ts'
import { refuseCall } from './tool-results.ts'

/**
 * Judges the calls of an agent that wait for it, in call order, as far as their facts are known: what an earlier call
 * touches bears on those behind it. In a session without a slot, inspected calls wait for one: they may run then.
 */
export function judgeInLine(world: World, agent: Entity, worldTools: WorldTools): void {
  for (const call of world.referrers(OwnedBy, agent)) {
    if (!world.has(call, AwaitingJudgement)) continue
    const [inspection] = world.referrers(Inspection, call)
    const outcome = inspection === undefined ? undefined : world.get(inspection, Outcome)
    if (inspection !== undefined && (outcome === undefined || world.has(agent, SlotReleased))) break
    world.remove(call, AwaitingJudgement)
    const found = stillPermitted(world, agent, call)
    const isStale =
      inspection !== undefined && 'declaration' in found && !isInspected(world, inspection, found.declaration)
    if (inspection !== undefined) world.despawn(inspection)
    if ('problem' in found) refuseCall(world, call, found.problem)
    else if (isStale) {
      // A restart brought another declaration of the tool.
      awaitJudgement(world, call, found.declaration)
      break
    } else if (outcome === undefined) judgeWorldTool(world, call, found.declaration, worldTools)
    else judge(world, call, { declaration: found.declaration, outcome, worldTools })
  }
  askNext(world, agent, worldTools)
}

/** A world tool runs, unless it needs an approval. */
function judgeWorldTool(world: World, call: Entity, declaration: ToolDeclaration, worldTools: WorldTools): void {
  const { agent } = world.read(call, OwnedBy)
  const problem = declaration.approval === true ? worldTools.get(declaration.name)?.problem?.(world, agent) : undefined
  if (problem !== undefined) return refuseCall(world, call, problem)
  const decision = withOwnApproval(world.read(call, Judgement).decision, declaration)
  world.patch(call, Judgement, { decision })
  if (decision.approval === 'ask') world.add(call, AwaitingApproval)
  else runCall(world, call, declaration, worldTools)
}

interface Judging {
  readonly declaration: ToolDeclaration
  readonly outcome: OutcomeData
  readonly worldTools: WorldTools
}

function judge(world: World, call: Entity, { declaration, outcome, worldTools }: Judging): void {
  const { agent } = world.read(call, OwnedBy)
  // A program may have taken the policy away meanwhile.
  if (!world.has(agent, Policy)) return deny(world, call, 'there is no policy any more')
  const inspected = outcome.ok ? parsedAs(Inspected(), outcome.value) : undefined
  const { config } = world.read(agent, Policy)
  const asked = policyCallOf(world, agent, call, inspected)
  const { marksSession, readsOther, ...assessed } = assess(asked, config)
  const { isCovered, onlyAPerson, ...shown } = assessed
  raiseMarks(world, agent, { ...(marksSession && { sticky: true }), ...(readsOther && { hasReadOther: true }) })
  const decision =
    inspected === undefined
      ? uninspected(outcome, assessed.decision)
      : isCovered
        ? assessed.decision
        : withOwnApproval(assessed.decision, declaration)
  world.patch(call, Judgement, { ...shown, decision, onlyAPerson, places: placesOf(asked) })
  if (decision.approval === 'deny') deny(world, call, decision.reason)
  else if (decision.approval === 'ask') world.add(call, AwaitingApproval)
  else runCall(world, call, declaration, worldTools)
}

/** Where the path arguments led when they were looked for: a handler checks that again. */
function placesOf(asked: PolicyCall): Record<string, readonly string[]> | undefined {
  const { real = {} } = asked.facts ?? {}
  const paths = pathArguments(asked).map((path) => absolute(path, asked))
  if (paths.length === 0) return undefined
  return Object.fromEntries(paths.map((path) => [path, Object.hasOwn(real, path) ? (real[path] ?? []) : []]))
}

/** What cannot be inspected does not run. */
function uninspected(outcome: OutcomeData, { model }: Decision): Decision {
  const why = outcome.ok ? 'the inspection gave no facts' : outcome.failure.message
  return { model, approval: 'deny', reason: `the call could not be inspected: ${why}` }
}

/** A tool that needs an approval by its declaration is asked about at least. */
function withOwnApproval(decision: Decision, { approval, name }: ToolDeclaration): Decision {
  if (approval !== true || decision.approval !== 'allow') return decision
  return { ...decision, approval: 'ask', reason: `needs approval: ${name}` }
}

function deny(world: World, call: Entity, reason: string): void {
  const message = `[entia policy denied: ${reason}]`
  world.add(call, Outcome({ ok: false, failure: { kind: 'tool-denied', message } }))
}
