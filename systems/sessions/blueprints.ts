import { ToolCeiling } from '../../components/sessions/ancestry.ts'
import { Archival } from '../../components/context/archival.ts'
import {
  Blueprint,
  type BlueprintData,
  BlueprintOf,
  MadeFrom,
  SharedHistory,
} from '../../components/sessions/blueprint.ts'
import { Ceilings } from '../../components/money/ceilings.ts'
import { Context } from '../../components/context/context.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import { ApprovalsDenied } from '../../components/context/holder.ts'
import type { HostFactsData } from '../../src/protocol/host.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Permissions, ToolRegistry } from '../../components/agent/tool-registry.ts'
import { Skills } from '../../components/agent/skills.ts'
import { type SubagentConfig, subagentDefaults, SubagentRegistry } from '../../components/sessions/subagent-registry.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { RenderedPrompt, SystemPrompt } from '../../components/agent/system-prompt.ts'
import { knownHost } from '../../src/rules/projection/host-facts.ts'
import { blueprintHash, prefixHash } from '../../src/rules/delegation/hashes.ts'
import { type ChildPlan, type ParentView, planChild } from '../../src/rules/delegation/plan-child.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { isBelowFork, type Refusal } from './delegation.ts'
import { Workspace } from '../../components/agent/handle.ts'
import { Retrieval } from '../../components/agent/workspace-entry.ts'
import { Boundary } from '../../components/context/boundary.ts'
import { Prefix } from '../../components/agent/prefix.ts'
import { projectionStart } from '../../src/rules/projection/boundaries.ts'
import { blockIn } from '../../src/rules/projection/live-tail.ts'
import { contextTools } from '../../src/rules/context/context-tools.ts'
import { prefixAt, providerSettings } from '../../src/rules/projection/prefix.ts'
import { systemText } from '../../src/rules/projection/project.ts'
import { builtInForkPrompt, forkHistory } from '../../src/rules/delegation/fork-history.ts'
import { subagentToolNames } from '../../src/rules/delegation/declarations.ts'
import { sharedHandles } from '../../src/rules/handles/handles-of.ts'
import { knownHolders } from '../../src/rules/delegation/record-holder.ts'

export interface ChildRequest {
  readonly config: SubagentConfig
  readonly loadSkills: readonly string[]
  readonly isBackground: boolean
  readonly loadedBy: 'program' | undefined
  /** Names of tools denied above it. */
  readonly denied: readonly string[]
  /** Tool calls that need an approval are denied. */
  readonly approvals?: 'denied'
  /** Keep the blueprint, so that a resumed session is made from the same. */
  readonly isCaptured: boolean
}

/** Finds or makes the blueprint for a subagent from the agent's current state, with warnings. */
export function blueprintFor(
  world: World,
  agent: Entity,
  request: ChildRequest,
): { readonly blueprint: Entity; readonly warnings: readonly string[] } | Refusal {
  const further = {
    ...((request.approvals === 'denied' || world.has(agent, ApprovalsDenied)) && { approvals: 'denied' as const }),
    ...(request.isCaptured && { captured: true as const }),
    ...(world.has(agent, Workspace) && { workspace: true as const }),
    ...retrievalOf(world, agent),
  }
  const plan = planFor(parentView(world, agent), request, knownHost(world), further)
  if (!plan.ok) return plan
  const { data, warnings } = plan
  return { blueprint: existing(world, agent, data.hash) ?? spawn(world, agent, data), warnings }
}

function retrievalOf(world: World, agent: Entity): Pick<BlueprintData, 'retrieval'> {
  const retrieval = world.get(agent, Retrieval)
  return retrieval === undefined ? {} : { retrieval }
}

function parentView(world: World, agent: Entity): ParentView {
  return {
    llm: world.get(agent, Llm),
    template: world.get(agent, SystemPrompt)?.template ?? '',
    tools: world.get(agent, ToolRegistry)?.tools ?? none,
    skills: world.get(agent, Skills)?.installed ?? none,
    permissions: world.get(agent, Permissions),
    registry: world.get(agent, SubagentRegistry),
    ceiling: world.get(agent, ToolCeiling),
    archival: world.get(agent, Archival),
    context: world.get(agent, Context),
    pricedOnly: isPricedOnly(world, agent),
    isBelowFork: isBelowFork(world, agent),
  }
}

/** Ceilings that refuse models without a price apply to all sessions below. */
function isPricedOnly(world: World, agent: Entity): true | undefined {
  return world.get(agent, Ceilings)?.onUnpriced === 'refuse' ? true : undefined
}

const none: readonly never[] = []

type Hashed = { readonly ok: true; readonly data: BlueprintData; readonly warnings: readonly string[] } | Refused
type Refused = Extract<ChildPlan, { readonly ok: false }>

/** A plan's inputs. Values of a World are frozen: the same objects give the same plan. */
interface Planned {
  readonly parent: ParentView
  readonly facts: HostFactsData | undefined
  readonly asked: string
  readonly plan: Hashed
}

/** The last plan of each config. Planning is pure, so all worlds share it. */
const planned = new WeakMap<SubagentConfig, Planned>()

function planFor(
  parent: ParentView,
  { config, denied, isBackground, loadSkills, loadedBy }: ChildRequest,
  facts: HostFactsData | undefined,
  further: Pick<BlueprintData, 'approvals' | 'captured' | 'retrieval' | 'workspace'>,
): Hashed {
  const request = { denied, isBackground, loadSkills, loadedBy }
  const asked = JSON.stringify([request, further])
  const last = planned.get(config)
  if (last?.asked === asked && last.facts === facts && isSame(last.parent, parent)) return last.plan
  const plan = hashed(planChild(parent, { config, ...request }, facts), further)
  if (Object.isFrozen(config)) planned.set(config, { parent, facts, asked, plan })
  return plan
}

function hashed(
  plan: ChildPlan,
  further: Pick<BlueprintData, 'approvals' | 'captured' | 'retrieval' | 'workspace'>,
): Hashed {
  if (!plan.ok) return plan
  const blueprint = { ...plan.blueprint, ...further }
  return { ok: true, data: { ...blueprint, hash: blueprintHash(blueprint) }, warnings: plan.warnings }
}

function isSame(before: ParentView, after: ParentView): boolean {
  return (Object.keys(after) as (keyof ParentView)[]).every((part) => before[part] === after[part])
}

function forkBlueprint(
  world: World,
  agent: Entity,
  data: Omit<BlueprintData, 'hash'>,
  { shared, hash: historyHash }: { readonly shared: number; readonly hash: string },
): Entity {
  const hash = `${blueprintHash(data)}-${historyHash}`
  const known = existing(world, agent, hash)
  if (known !== undefined) return known
  const blueprint = spawn(world, agent, { ...data, hash })
  if (shared > 0) world.share(agent, Conversation, blueprint, SharedHistory, shared)
  return blueprint
}

/** Must a session's blueprint be kept for a resume? */
export function isCaptured(world: World, session: Entity): boolean {
  const blueprint = world.get(session, MadeFrom)?.blueprint
  if (blueprint === undefined) return false
  return world.read(session, SubagentSession).kind === 'fork' || world.read(blueprint, Blueprint).captured === true
}

/** Removes the session's reference to its blueprint, and the blueprint with the last reference. */
export function releaseBlueprint(world: World, session: Entity): void {
  const blueprint = world.get(session, MadeFrom)?.blueprint
  if (blueprint === undefined) return
  world.remove(session, MadeFrom)
  if (!world.isReferred(MadeFrom, blueprint)) world.despawn(blueprint)
}

function spawn(world: World, agent: Entity, data: BlueprintData): Entity {
  const blueprint = world.spawn(BlueprintOf({ agent }))
  world.set(blueprint, Blueprint, data)
  return blueprint
}

function existing(world: World, agent: Entity, hash: string): Entity | undefined {
  return world.referrers(BlueprintOf, agent).find((blueprint) => world.read(blueprint, Blueprint).hash === hash)
}

/**
 * What a fork of an agent starts with, captured now.
 * @param callId of the requesting tool call; absent: a program forks
 */
export function planFork(world: World, agent: Entity, callId: string | undefined) {
  const messages = world.get(agent, Conversation) ?? []
  const { shared, behind } = forkHistory(messages, callId)
  // Without an earlier request no cache has the prefix.
  const isShared = world.has(agent, Prefix)
  const hash = hashOf(world, agent, shared)
  const blueprint = forkBlueprint(
    world,
    agent,
    {
      behind: [...behind],
      hostSkills: [],
      hostTools: [],
      ...partsOf(world, agent, isShared),
      ...boundaryOf(world, agent),
      ...archivedOf(world, agent),
      ...(world.has(agent, Workspace) && { workspace: sharedHandles(world, agent) }),
      ...retrievalOf(world, agent),
      ...(isShared && { prefix: prefixAt(world, agent, shared) }),
    },
    { shared, hash },
  )
  return { blueprint, prefixHash: isShared ? hash : null }
}

/** The boundary in force, placed among the messages that the fork shares. */
function boundaryOf(world: World, agent: Entity): Pick<BlueprintData, 'boundary'> {
  const start = projectionStart(world, agent)
  const newest = world.get(agent, Boundary)?.at(-1)
  return start === undefined || newest === undefined ? {} : { boundary: { ...newest, seq: start.from } }
}

/** A fork knows its parent's archived turns. */
function archivedOf(world: World, agent: Entity): Pick<BlueprintData, 'approvals' | 'holders' | 'liveSubagents'> {
  const holders = knownHolders(world, agent)
  const liveSubagents =
    world.get(agent, Archival)?.placement === 'system' ? blockIn(world.get(agent, RenderedPrompt)?.text) : undefined
  return {
    ...(world.has(agent, ApprovalsDenied) && { approvals: 'denied' }),
    ...(holders.length > 0 && { holders: [...holders] }),
    ...(liveSubagents !== undefined && { liveSubagents }),
  }
}

/** What an agent's projection reads, except its messages. */
function partsOf(world: World, agent: Entity, isShared: boolean) {
  const { retry: _, ...llm } = world.read(agent, Llm)
  const registry = world.get(agent, SubagentRegistry)
  const permissions = world.get(agent, Permissions)
  const prompt = world.get(agent, SystemPrompt)
  const archival = world.get(agent, Archival)
  const context = world.get(agent, Context)
  const pricedOnly = isPricedOnly(world, agent)
  const ceiling = ceilingOf(world, agent, registry?.fork?.allowedTools)
  return {
    llm,
    maxSteps: registry?.fork?.maxSteps ?? subagentDefaults.forkMaxSteps,
    skills: world.get(agent, Skills)?.installed ?? [],
    template: prompt?.template ?? (isShared ? '' : builtInForkPrompt),
    tools: world.get(agent, ToolRegistry)?.tools ?? [],
    ceiling,
    ...(prompt?.ending !== undefined && { ending: prompt.ending }),
    ...(archival !== undefined && { archival }),
    ...(context !== undefined && { context }),
    ...(permissions !== undefined && { permissions }),
    ...(pricedOnly !== undefined && { pricedOnly }),
    ...(registry !== undefined && { registry }),
  }
}

/** Tools that may run in a fork and below: its parent's, or fewer. */
function ceilingOf(world: World, agent: Entity, allowedTools: readonly string[] | undefined) {
  const own = world.get(agent, ToolRegistry)?.tools ?? []
  const names = own.map(({ name }) => name)
  // Before its first step an agent lacks the tools that its registry and its configuration add.
  const delegating = world.has(agent, SubagentRegistry) ? subagentToolNames : []
  const configured = contextTools(world, agent, own).map(({ name }) => name)
  const above = world.get(agent, ToolCeiling)?.allowed ?? [...new Set([...names, ...delegating, ...configured])]
  return { allowed: above.filter((name) => allowedTools?.includes(name) ?? true) }
}

function hashOf(world: World, agent: Entity, shared: number): string {
  const conversation = world.get(agent, Conversation) ?? []
  const start = projectionStart(world, agent)
  const asked =
    start === undefined
      ? { messages: conversation, count: shared }
      : { messages: [start.message, ...conversation.slice(start.from)], count: shared - start.from + 1 }
  return prefixHash({
    llm: world.read(agent, Llm),
    settings: providerSettings(world, agent),
    system: systemText(world, agent),
    tools: world.get(agent, ToolRegistry)?.tools ?? [],
    ...asked,
  })
}
