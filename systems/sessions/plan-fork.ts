import { ToolCeiling } from '../../components/sessions/ancestry.ts'
import { Archival } from '../../components/context/archival.ts'
import { Boundary } from '../../components/context/boundary.ts'
import type { BlueprintData } from '../../components/sessions/blueprint.ts'
import { Context } from '../../components/context/context.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import { ApprovalsDenied } from '../../components/context/holder.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Permissions } from '../../components/agent/permissions.ts'
import { Prefix } from '../../components/agent/prefix.ts'
import { RenderedPrompt } from '../../components/agent/rendered-prompt.ts'
import { Skills } from '../../components/agent/skills.ts'
import { subagentDefaults, SubagentRegistry } from '../../components/sessions/subagent-registry.ts'
import { SystemPrompt } from '../../components/agent/system-prompt.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { projectionStart } from '../../src/rules/projection/boundaries.ts'
import { blockIn } from '../../src/rules/projection/live-subagents.ts'
import { contextTools } from '../../src/rules/context/context-tools.ts'
import { prefixAt, providerSettings } from '../../src/rules/projection/prefix.ts'
import { systemText } from '../../src/rules/projection/project.ts'
import { builtInForkPrompt } from '../../src/rules/delegation/fork-directive.ts'
import { subagentToolNames } from '../../src/rules/delegation/declarations.ts'
import { forkHistory } from '../../src/rules/delegation/fork-history.ts'
import { knownHolders } from '../../src/rules/delegation/record-holder.ts'
import { prefixHash } from '../../src/rules/delegation/prefix-hash.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { forkBlueprint, isPricedOnly } from './blueprints.ts'

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
