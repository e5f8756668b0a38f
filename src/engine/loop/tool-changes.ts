import { Ancestry } from '../../../components/sessions/ancestry.ts'
import type { HostFactsData, ToolChanges } from '../../protocol/host.ts'
import { Pending } from '../../../components/effects/effect.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { knownHost } from '../../rules/projection/host-facts.ts'
import { declarationHash, knownDeclarations } from '../../rules/delegation/hashes.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { count, refuseMisfit, text } from '../../world/option-shapes.ts'
import type { World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'

/** A tool that a program gives to an agent. */
export interface ToolAddition {
  readonly agent: Entity
  readonly tool: string
}

/** @throws `invalid-argument` */
export function checkedAddition(agent: Entity, tool: string): ToolAddition {
  refuseMisfit('runner.addTool', 'agent', agent, count)
  refuseMisfit('runner.addTool', 'tool', tool, text)
  return { agent, tool }
}

/** One tool of an agent that is not what it was. */
interface Difference extends ToolAddition {
  readonly change: 'changed' | 'removed'
  /** As it is now. */
  readonly now: ToolDeclaration | undefined
}

/**
 * What is different about a Host's tools, for the world that it takes up to apply in its first tick.
 *
 * @param facts what is new about the Host. Absent: nothing, and then no tool has changed
 * @throws `tool-changed` where changes are refused
 */
export function toolChanges(
  world: World,
  host: Host,
  facts: HostFactsData | undefined,
  added: readonly ToolAddition[],
): ToolChanges | undefined {
  const differences = facts === undefined ? [] : differencesOf(world, host)
  if (differences.length > 0 && host.onToolChange === 'refuse') throw refusal(world, differences)
  const removed = new Set(differences.flatMap(({ change, tool }) => (change === 'removed' ? [tool] : [])))
  const changed = new Map(differences.flatMap(({ now, tool }) => (now === undefined ? [] : [[tool, now] as const])))
  const additions = added.map(({ agent, tool }) => ({ agent, tool: addable(world, host, agent, tool) }))
  if (differences.length + additions.length === 0) return undefined
  return {
    ...(additions.length > 0 && { added: additions }),
    ...(changed.size > 0 && { changed: [...changed.values()] }),
    ...(differences.length > 0 && host.onToolChange === 'keep' && { kept: true as const }),
    ...(removed.size > 0 && { removed: [...removed] }),
  }
}

/** Tools that an earlier Host of a world had, and this one has not. */
export function goneTools(world: World, host: Host): ReadonlySet<string> {
  return new Set([...knownDeclarations(knownHost(world)).keys()].filter((name) => host.tool(name) === undefined))
}

/** Calls of tools that are gone, which are not to begin before the first tick has looked at them. */
export function callsOf(world: World, tools: ReadonlySet<string>): readonly Entity[] {
  if (tools.size === 0) return []
  const { state } = world.core
  return state.entitiesWith(Pending).filter((call) => tools.has(world.get(call, ToolCall)?.name ?? ''))
}

function differencesOf(world: World, host: Host): readonly Difference[] {
  const known = knownDeclarations(knownHost(world))
  if (known.size === 0) return []
  return world.entitiesWith(ToolRegistry).flatMap((agent): readonly Difference[] => {
    // A fork begins its requests as its parent's begin, or did.
    if (world.get(agent, Ancestry)?.sessions.at(-1)?.kind === 'fork') return []
    return world.read(agent, ToolRegistry).tools.flatMap((tool): readonly Difference[] => {
      const { name } = tool
      const hashes = tool.world === true ? undefined : known.get(name)
      if (hashes === undefined) return []
      const now = host.tool(name)?.declaration
      if (now === undefined) return [{ agent, tool: name, change: 'removed', now }]
      const hash = declarationHash(tool)
      // What was never a Host's is the program's own, such as a stricter declaration for one agent.
      const hasChanged = hash !== declarationHash(now) && hashes.has(hash)
      return hasChanged ? [{ agent, tool: name, change: 'changed', now }] : []
    })
  })
}

function addable(world: World, host: Host, agent: Entity, name: string): ToolDeclaration {
  const tool = host.tool(name)?.declaration
  if (tool !== undefined && world.exists(agent)) return tool
  const what = tool === undefined ? `the host has no tool '${name}'` : `there is no entity ${agent}`
  throw new EntiaError('invalid-argument', `addTool(${agent}, '${name}'): ${what}.`, { entity: agent, tool: name })
}

function refusal(world: World, differences: readonly Difference[]): EntiaError {
  const said = differences.map(({ agent, change, tool }) => {
    return `'${tool}' of entity ${agent} ${change === 'removed' ? 'is gone' : 'has changed'}`
  })
  return new EntiaError(
    'tool-changed',
    `World '${world.name}' was saved with other tools than the host has now: ${said.join('; ')}. ` +
      "Pass the tools as they were, or set onToolChange to 'refresh' or 'keep'.",
    { changes: differences.map(({ agent, change, tool }) => ({ agent, change, tool })) },
  )
}
