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
import { Boundary } from '../../components/context/boundary.ts'
import { Prefix } from '../../components/agent/prefix.ts'
import { projectionStart } from '../../src/rules/projection/boundaries.ts'
import { blockIn } from '../../src/rules/projection/live-tail.ts'
import { contextTools } from '../../src/rules/context/context-tools.ts'
import { prefixAt, providerSettings } from '../../src/rules/projection/prefix.ts'
import { systemText } from '../../src/rules/projection/project.ts'
import { builtInForkPrompt, forkHistory } from '../../src/rules/delegation/fork-history.ts'
import { subagentToolNames } from '../../src/rules/delegation/declarations.ts'
import { knownHolders } from '../../src/rules/delegation/record-holder.ts'

/** What a session that is asked for is to be made of. */
export interface ChildRequest {
  readonly config: SubagentConfig
  readonly loadSkills: readonly string[]
  readonly isBackground: boolean
  readonly loadedBy: 'program' | undefined
  /** Names of tools that are denied above it. */
  readonly denied: readonly string[]
  /** What would need an approval there is denied. */
  readonly approvals?: 'denied'
  /** A session that goes on with this one is made from the same. */
  readonly isCaptured: boolean
}

/** The blueprint for a subagent of an agent as both are now, made or found, and what is to be warned of. */
export function blueprintFor(
  world: World,
  agent: Entity,
  request: ChildRequest,
): { readonly blueprint: Entity; readonly warnings: readonly string[] } | Refusal {
  // Where nobody can agree, nobody below can.
  const further = {
    ...((request.approvals === 'denied' || world.has(agent, ApprovalsDenied)) && { approvals: 'denied' as const }),
    ...(request.isCaptured && { captured: true as const }),
  }
  const plan = planFor(parentView(world, agent), request, knownHost(world), further)
  if (!plan.ok) return plan
  const { data, warnings } = plan
  return { blueprint: existing(world, agent, data.hash) ?? spawn(world, agent, data), warnings }
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

/** Whose ceilings refuse models without a price calls none, and neither does anybody below. */
function isPricedOnly(world: World, agent: Entity): true | undefined {
  return world.get(agent, Ceilings)?.onUnpriced === 'refuse' ? true : undefined
}

const none: readonly never[] = []

/** A plan with its hash, or why there is none. */
type Hashed = { readonly ok: true; readonly data: BlueprintData; readonly warnings: readonly string[] } | Refused
type Refused = Extract<ChildPlan, { readonly ok: false }>

/** What a plan was made of. Values of a World are frozen: the same objects make the same plan. */
interface Planned {
  readonly parent: ParentView
  readonly facts: HostFactsData | undefined
  readonly asked: string
  readonly plan: Hashed
}

/** The last plan of each config, for agents that launch many sessions of one. Planning is pure, so all worlds share it. */
const planned = new WeakMap<SubagentConfig, Planned>()

function planFor(
  parent: ParentView,
  { config, denied, isBackground, loadSkills, loadedBy }: ChildRequest,
  facts: HostFactsData | undefined,
  further: Pick<BlueprintData, 'approvals' | 'captured'>,
): Hashed {
  const request = { denied, isBackground, loadSkills, loadedBy }
  const asked = JSON.stringify([request, further])
  const last = planned.get(config)
  if (last?.asked === asked && last.facts === facts && isSame(last.parent, parent)) return last.plan
  const plan = hashed(planChild(parent, { config, ...request }, facts), further)
  if (Object.isFrozen(config)) planned.set(config, { parent, facts, asked, plan })
  return plan
}

function hashed(plan: ChildPlan, further: Pick<BlueprintData, 'approvals' | 'captured'>): Hashed {
  if (!plan.ok) return plan
  const blueprint = { ...plan.blueprint, ...further }
  return { ok: true, data: { ...blueprint, hash: blueprintHash(blueprint) }, warnings: plan.warnings }
}

function isSame(before: ParentView, after: ParentView): boolean {
  return (Object.keys(after) as (keyof ParentView)[]).every((part) => before[part] === after[part])
}

/** A blueprint with so many messages of that agent's conversation as its history, whose hash is that. */
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

/** Is a session's blueprint to be kept for one that goes on with it? */
export function isCaptured(world: World, session: Entity): boolean {
  const blueprint = world.get(session, MadeFrom)?.blueprint
  if (blueprint === undefined) return false
  return world.read(session, SubagentSession).kind === 'fork' || world.read(blueprint, Blueprint).captured === true
}

/** Lets go of the blueprint that a session was to be made from; it goes with the last that needs it. */
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

/** What a fork of an agent begins with, captured as it is now. */
export interface ForkPlan {
  readonly blueprint: Entity
  /** Of the request that it shares with its parent; `null` if the parent has made none. */
  readonly prefixHash: string | null
}

/** @param callId of the tool call that asks for it; absent: a program does */
export function planFork(world: World, agent: Entity, callId: string | undefined): ForkPlan {
  const messages = world.get(agent, Conversation) ?? []
  const { shared, behind } = forkHistory(messages, callId)
  // What a model was never asked is in nobody's cache.
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
      ...(isShared && { prefix: prefixAt(world, agent, shared) }),
    },
    { shared, hash },
  )
  return { blueprint, prefixHash: isShared ? hash : null }
}

/** The boundary that is in force, where a fork finds it: among the messages that it shares. */
function boundaryOf(world: World, agent: Entity): Pick<BlueprintData, 'boundary'> {
  const start = projectionStart(world, agent)
  const newest = world.get(agent, Boundary)?.at(-1)
  return start === undefined || newest === undefined ? {} : { boundary: { ...newest, seq: start.from } }
}

/** The turns that were archived are part of what a fork has behind it. */
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

/** Everything that the projection of an agent reads, but for its messages. */
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

/** What may run in a fork and below it: what its parent has, or less. Further down it can only get less again. */
function ceilingOf(world: World, agent: Entity, allowedTools: readonly string[] | undefined) {
  const own = world.get(agent, ToolRegistry)?.tools ?? []
  const names = own.map(({ name }) => name)
  // Before its first step an agent has not been given the tools that come with its registry, and with its configuration.
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
