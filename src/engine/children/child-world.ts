import { Ancestry, ToolCeiling, type WorldKind } from '../../../components/sessions/ancestry.ts'
import { Archival, type ArchivalData } from '../../../components/context/archival.ts'
import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import { Ceilings, type CeilingsData } from '../../../components/money/ceilings.ts'
import { Context } from '../../../components/context/context.ts'
import { Conversation, Edited } from '../../../components/agent/conversation.ts'
import { ApprovalsDenied, Seed, SharedBlock } from '../../../components/context/holder.ts'
import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import { Limits } from '../../../components/agent/turn.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import type { Message, UserMessage } from '../../protocol/message.ts'
import { Metered, OnAllowance } from '../../../components/money/metered.ts'
import { Permissions, ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { Prefix } from '../../../components/agent/prefix.ts'
import { type Skill, Skills } from '../../../components/agent/skills.ts'
import { subagentDefaults, SubagentRegistry } from '../../../components/sessions/subagent-registry.ts'
import type { SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { declarationHash } from '../../rules/delegation/hashes.ts'
import { canonical } from '../../world/canonical.ts'
import type { Component, EditedPart, Entity } from '../../world/component.ts'
import type { Json } from '../../base/json.ts'
import { hashText } from '../../world/random.ts'
import { type System, World } from '../../world/world.ts'
import { inheritPolicy, type InheritedPolicy } from '../../rules/policy/inherited-policy.ts'
import { inPlanMode } from '../../rules/policy/plan-mode.ts'
import { deniedBesides } from '../../rules/delegation/permissions.ts'
import { forkDirective } from '../../rules/delegation/fork-history.ts'
import { Retrieval } from '../../../components/agent/workspace-entry.ts'
import { addWorkspace } from '../../rules/handles/handles-of.ts'
import { recordHolder } from '../../rules/delegation/record-holder.ts'
import type { Catalogue } from './port.ts'
import { AgentTranscript } from '../../../components/context/agent-transcript.ts'

export interface ChildParts {
  readonly session: Pick<SubagentSessionData, 'denied' | 'prompt' | 'sessionId'> & { readonly kind: WorldKind }
  /** The sessions above, outermost first. */
  readonly above: readonly { readonly kind: WorldKind; readonly sessionId: string }[]
  readonly blueprint: BlueprintData
  readonly budgetOwner?: BudgetOwner | undefined
  /** Of a fork: what it shares with its parent. */
  readonly history: readonly Message[]
  /** Where that was changed since it was captured. */
  readonly edited?: EditedPart | undefined
  readonly systems: readonly System[]
  readonly facts: HostFactsData
  readonly policy: InheritedPolicy | undefined
  readonly catalogue: Catalogue
}

/** Makes the World of a session before its first tick, or says what the Host lacks for it, and others of its fleet lack too. */
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
  put(Retrieval, blueprint.retrieval)
  put(Prefix, blueprint.prefix)
  inheritPolicy(world, agent, parts.policy)
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
  world.core.put(world.spawn(), HostFacts, factsWith(facts, installed.foreign))
  if (blueprint.workspace !== undefined) addWorkspace(world, agent, blueprint.workspace)
  for (const holder of blueprint.holders ?? []) recordHolder(world, agent, holder)
  return { world, agent }
}

/** Tools that the Host has no more, or only others have, count as tools that it had: the start applies `onToolChange` to them. */
function factsWith(facts: HostFactsData, foreign: readonly ToolDeclaration[]): HostFactsData {
  if (foreign.length === 0) return facts
  const keptTools = Object.fromEntries(foreign.map((tool) => [tool.name, [declarationHash(tool)]]))
  return fresh({ ...facts, keptTools }) as HostFactsData
}

function conversation({ session: { kind, prompt }, history, blueprint: { behind = [] }, policy }: ChildParts): Json {
  const task = kind === 'fork' ? forkDirective(prompt) : userText(prompt)
  const first = policy?.isPlanMode === true ? inPlanMode(task) : task
  // Frozen messages are taken as they are; the list of them is the World's own.
  return Object.freeze([...history, ...behind, fresh(first)]) as Json
}

function userText(text: string): UserMessage {
  return { content: [{ text, type: 'text' }], role: 'user' }
}

function fresh(value: unknown): Json {
  return canonical(value, () => 'a part of a session')
}

interface InstalledParts {
  readonly tools: readonly ToolDeclaration[]
  readonly skills: readonly Skill[]
  /** Of these tools, those that the Host itself lacks: it had them when they were captured, or others of its fleet have them. */
  readonly foreign: readonly ToolDeclaration[]
}

/** The tools and skills of a session's agent, or what no Host has. Inherited tools come before those of the Host's skills. */
function installedParts(blueprint: BlueprintData, catalogue: Catalogue): InstalledParts | { readonly problem: string } {
  const { model } = blueprint.llm
  if (!catalogue.knowsProvider(parseModel(model).provider)) return { problem: `Unknown model '${model}'` }
  const tools = new Map<string, ToolDeclaration>()
  const skills = [...blueprint.skills]
  for (const name of blueprint.hostTools) {
    const declaration = catalogue.declaration(name)
    if (declaration === undefined) return { problem: `Unknown tool '${name}'` }
    tools.set(name, declaration)
  }
  for (const declaration of blueprint.tools) tools.set(declaration.name, declaration)
  for (const name of blueprint.hostSkills) {
    const skill = catalogue.skill(name)
    if (skill === undefined) return { problem: `Unknown skill '${name}'` }
    const { tools: all = [], ...rest } = skill
    const only = blueprint.hostSkillTools?.find((limited) => limited.skill === name)?.tools
    const own = all.filter(({ declaration }) => only?.includes(declaration.name) !== false)
    for (const { declaration } of own) if (!tools.has(declaration.name)) tools.set(declaration.name, declaration)
    skills.push({ ...rest, ...(own.length > 0 && { tools: own.map((tool) => tool.declaration.name) }) })
  }
  const all = [...tools.values()]
  const foreign = all.filter((tool) => tool.world !== true && catalogue.tool(tool.name) === undefined)
  return { tools: all, skills, foreign }
}

/** The agent whose budget a subtask spends from. */
export interface BudgetOwner {
  readonly ceilings: CeilingsData | undefined
}

export function budgetOwnerOf(world: World, agent: Entity): BudgetOwner | undefined {
  const ceilings = world.get(agent, Ceilings)
  return ceilings !== undefined || world.has(agent, Context) ? { ceilings } : undefined
}

/** A subtask's agent records what it spends, and asks before each model call if the owner of its budget has ceilings. */
function spendFor(world: World, agent: Entity, { ceilings }: BudgetOwner): void {
  world.add(agent, Metered)
  if (ceilings === undefined) return
  world.add(agent, OnAllowance)
  // The owner keeps the bounds; unpriced models are treated as under any ceiling.
  world.add(agent, Ceilings({ onUnpriced: ceilings.onUnpriced }))
}

export interface HolderParts {
  readonly sessionId: string
  readonly task: string
  readonly llm: LlmData
  readonly above: ChildParts['above']
  /** The turn, from the message that opened it. */
  readonly seed: readonly Message[]
  readonly archival: ArchivalData | undefined
  readonly facts: HostFactsData
  readonly policy: InheritedPolicy | undefined
  readonly systems: readonly System[]
}

/** Lines of a holder's transcript besides those of the messages: the first, and the summary. */
const furtherLines = 2
/** Further fields of requests by which a model would get tools of its provider's own. */
const toolFields = new Set([
  'functions',
  'function_call',
  'mcp_servers',
  'parallel_tool_calls',
  'plugins',
  'tool_choice',
  'tools',
  'web_search_options',
])

/** Makes the World of a holder. It does not tick before the first question. */
export function holderWorld(parts: HolderParts): World {
  const { above, archival, facts, llm, seed, sessionId, systems, task } = parts
  const world = new World({ name: sessionId, seed: hashText(sessionId), systems })
  const agent = world.spawn()
  const put = (token: Component, value: unknown): void => world.core.put(agent, token, fresh(value))
  put(Llm, withoutTools(llm))
  put(Limits, { maxSteps: subagentDefaults.maxSteps })
  put(Ancestry, { sessions: [...above, { kind: 'holder', sessionId }] })
  // A turn of its own may be archived in turn; that is noticed only in an agent that has this.
  put(Archival, archival ?? Archival({ enabled: false }).initial)
  inheritPolicy(world, agent, parts.policy)
  // What a user wrote is no template.
  put(SystemPrompt, { ending: `The turn: ${task}`, template })
  put(Seed, { count: seed.length })
  // What it spends beside its answers is charged to those who ask it.
  world.add(agent, Metered)
  put(AgentTranscript, { lines: seed.length + furtherLines, seq: seed.length })
  // Frozen messages are taken as they are; the list of them is the World's own.
  world.core.put(agent, Conversation, Object.freeze([...seed]) as Json)
  world.core.put(world.spawn(), HostFacts, facts)
  return world
}

const template =
  "You hold one finished turn of another agent's conversation. All that is known of it stands above. Answer questions from " +
  'this history alone: quote names, paths, numbers and texts exactly, and say so plainly if the history does not hold the ' +
  'answer. You have no tools.'

/** A provider's own tools are declared in further fields of its requests. */
function withoutTools({ extra, ...llm }: LlmData): LlmData {
  if (extra === undefined) return llm
  const kept = Object.fromEntries(Object.entries(extra).filter(([field]) => !toolFields.has(field)))
  return Object.keys(kept).length === 0 ? llm : { ...llm, extra: kept }
}
