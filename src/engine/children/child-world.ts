import { Ancestry, ToolCeiling, type WorldKind } from '../../../components/sessions/ancestry.ts'
import { Archival } from '../../../components/context/archival.ts'
import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import { Ceilings, type CeilingsData } from '../../../components/money/ceilings.ts'
import { Context } from '../../../components/context/context.ts'
import { Conversation, Edited } from '../../../components/agent/conversation.ts'
import { ApprovalsDenied, SharedBlock } from '../../../components/context/holder.ts'
import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import { Limits } from '../../../components/agent/turn.ts'
import { Llm } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import { Metered, OnAllowance } from '../../../components/money/metered.ts'
import { Permissions, ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { Prefix } from '../../../components/agent/prefix.ts'
import { type Skill, Skills } from '../../../components/agent/skills.ts'
import { SubagentRegistry } from '../../../components/sessions/subagent-registry.ts'
import type { SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { parseModel } from '../../rules/projection/model-name.ts'
import { declarationHash } from '../../rules/delegation/declaration-hash.ts'
import { canonical } from '../../world/canonical.ts'
import type { Component, EditedPart, Entity } from '../../world/component.ts'
import type { Json } from '../../world/json.ts'
import { hashText } from '../../world/random.ts'
import { World } from '../../world/world.ts'
import type { System } from '../../world/world.ts'
import { deniedBesides } from '../../rules/delegation/denied-tools.ts'
import { forkDirective } from '../../rules/delegation/fork-directive.ts'
import { recordHolder } from '../../rules/delegation/record-holder.ts'
import type { Catalogue } from './port.ts'

/** What the World of a session is made from. */
export interface ChildParts {
  readonly session: Pick<SubagentSessionData, 'denied' | 'prompt' | 'sessionId'> & { readonly kind: WorldKind }
  /** The sessions above, outermost first. */
  readonly above: readonly { readonly kind: WorldKind; readonly sessionId: string }[]
  readonly blueprint: BlueprintData
  /** Of a subtask: who keeps account of what it spends. */
  readonly budgetOwner?: BudgetOwner | undefined
  /** Of a fork: what it shares with its parent. */
  readonly history: readonly Message[]
  /** Where that was changed since it was captured. */
  readonly edited?: EditedPart | undefined
  readonly systems: readonly System[]
  readonly facts: HostFactsData
  readonly catalogue: Catalogue
}

/** The World of a session before its first tick, and its agent; or what the Host lacks for it. */
export function childWorld(
  parts: ChildParts,
): { readonly world: World; readonly agent: Entity; readonly problem?: undefined } | { readonly problem: string } {
  const { session, above, blueprint, systems, facts, catalogue } = parts
  const installed = installedParts(blueprint, catalogue)
  if ('problem' in installed) return installed
  const { kind, sessionId } = session
  const world = new World({ name: sessionId, seed: hashText(sessionId), systems })
  const agent = world.spawn()
  const put = (token: Component, value: Json | undefined): void => {
    if (value !== undefined) world.core.put(agent, token, value)
  }
  // What comes from the parent's World was checked there, and is shared as it is.
  put(Llm, blueprint.llm)
  put(Limits, fresh({ maxSteps: blueprint.maxSteps }))
  put(Ancestry, fresh({ sessions: [...above, { kind, sessionId }] }))
  const { ending, template } = blueprint
  if (template !== '' || ending !== undefined) put(SystemPrompt, fresh({ ending, template }))
  if (installed.tools.length > 0) put(ToolRegistry, fresh({ tools: installed.tools }))
  if (installed.skills.length > 0) put(Skills, fresh({ installed: installed.skills }))
  const permissions = deniedBesides(blueprint.permissions, session.denied)
  if (permissions !== undefined) put(Permissions, fresh(permissions))
  put(SubagentRegistry, blueprint.registry)
  put(ToolCeiling, blueprint.ceiling)
  put(Archival, blueprint.archival)
  put(Context, blueprint.context)
  put(Prefix, blueprint.prefix)
  const { approvals, liveSubagents } = blueprint
  if (approvals === 'denied') world.add(agent, ApprovalsDenied)
  if (liveSubagents !== undefined) put(SharedBlock, fresh({ text: liveSubagents }))
  put(Conversation, conversation(parts))
  if (parts.edited !== undefined) put(Edited, fresh(parts.edited))
  const { boundary } = blueprint
  if (boundary !== undefined) put(Boundary, fresh([boundary]))
  // Summaries of its turns are paid for by the agent that launched it. A Context sees to that as well.
  if (blueprint.archival !== undefined && blueprint.context === undefined) world.add(agent, Metered)
  if (blueprint.pricedOnly === true) put(Ceilings, fresh({ onUnpriced: 'refuse' }))
  if (parts.budgetOwner !== undefined) spendFor(world, agent, parts.budgetOwner)
  world.core.put(world.spawn(), HostFacts, factsWith(facts, installed.gone))
  for (const holder of blueprint.holders ?? []) recordHolder(world, agent, holder)
  return { world, agent }
}

/** A captured tool that the Host has no more is known as one that a Host had: the start decides what becomes of it. */
function factsWith(facts: HostFactsData, gone: readonly ToolDeclaration[]): HostFactsData {
  if (gone.length === 0) return facts
  const keptTools = Object.fromEntries(gone.map((tool) => [tool.name, [declarationHash(tool)]]))
  return fresh({ ...facts, keptTools }) as HostFactsData
}

function conversation({ session: { kind, prompt }, history, blueprint: { behind = [] } }: ChildParts): Json {
  const first = kind === 'fork' ? forkDirective(prompt) : { content: [{ text: prompt, type: 'text' }], role: 'user' }
  // Frozen messages are taken as they are; the list of them is the World's own.
  return Object.freeze([...history, ...behind, fresh(first)]) as Json
}

function fresh(value: unknown): Json {
  return canonical(value, () => 'a part of a session')
}

/** What a session's agent is given. */
interface InstalledParts {
  readonly tools: readonly ToolDeclaration[]
  readonly skills: readonly Skill[]
  /** Of these tools, those that the Host has no more since they were captured. */
  readonly gone: readonly ToolDeclaration[]
}

/** The tools and skills of a session's agent; or what the Host lacks. Inherited tools come before those of the Host's skills. */
function installedParts(blueprint: BlueprintData, catalogue: Catalogue): InstalledParts | { readonly problem: string } {
  const { model } = blueprint.llm
  if (!catalogue.hasProvider(parseModel(model).provider)) return { problem: `Unknown model '${model}'` }
  const tools = new Map<string, ToolDeclaration>()
  const skills = [...blueprint.skills]
  const gone: ToolDeclaration[] = []
  for (const name of blueprint.hostTools) {
    const tool = catalogue.tool(name)
    if (tool === undefined) return { problem: `Unknown tool '${name}'` }
    tools.set(name, tool.declaration)
  }
  for (const declaration of blueprint.tools) {
    if (declaration.world !== true && catalogue.tool(declaration.name) === undefined) gone.push(declaration)
    tools.set(declaration.name, declaration)
  }
  for (const name of blueprint.hostSkills) {
    const skill = catalogue.skill(name)
    if (skill === undefined) return { problem: `Unknown skill '${name}'` }
    const { tools: all = [], ...rest } = skill
    const only = blueprint.hostSkillTools?.find((limited) => limited.skill === name)?.tools
    const own = all.filter(({ declaration }) => only?.includes(declaration.name) !== false)
    for (const { declaration } of own) if (!tools.has(declaration.name)) tools.set(declaration.name, declaration)
    skills.push({ ...rest, ...(own.length > 0 && { tools: own.map((tool) => tool.declaration.name) }) })
  }
  return { tools: [...tools.values()], skills, gone }
}

/** The agent whose budget a subtask spends from. */
export interface BudgetOwner {
  /** Under which it spends; absent: none. */
  readonly ceilings: CeilingsData | undefined
}

/** What has to be known of an agent for its subtasks; `undefined`: it keeps no account. */
export function budgetOwnerOf(world: World, agent: Entity): BudgetOwner | undefined {
  const ceilings = world.get(agent, Ceilings)
  return ceilings !== undefined || world.has(agent, Context) ? { ceilings } : undefined
}

/** Has the agent of a subtask keep account of what it spends, and ask before each call if its budget's owner has ceilings. */
function spendFor(world: World, agent: Entity, { ceilings }: BudgetOwner): void {
  world.add(agent, Metered)
  if (ceilings === undefined) return
  world.add(agent, OnAllowance)
  // Bounds are the owner's; what models cost is asked, as under any ceiling.
  world.add(agent, Ceilings({ onUnpriced: ceilings.onUnpriced }))
}
