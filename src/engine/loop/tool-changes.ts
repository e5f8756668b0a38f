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

export interface ToolAddition {
  readonly agent: Entity
  readonly tool: string
}

export function checkedAddition(agent: Entity, tool: string): ToolAddition {
  refuseMisfit('runner.addTool', 'agent', agent, count)
  refuseMisfit('runner.addTool', 'tool', tool, text)
  return { agent, tool }
}

interface Difference extends ToolAddition {
  readonly change: 'changed' | 'removed'
  readonly now: ToolDeclaration | undefined
}

/** How a world's tools change with its Host. @param facts new facts; absent: none has changed. @throws `tool-changed` */
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

/** Tools that an earlier Host of a world had and this one lacks. */
export function goneTools(world: World, host: Host): ReadonlySet<string> {
  return new Set([...knownDeclarations(knownHost(world)).keys()].filter((name) => host.tool(name) === undefined))
}

export function callsOf(world: World, tools: ReadonlySet<string>): readonly Entity[] {
  if (tools.size === 0) return []
  const { state } = world.core
  return state.entitiesWith(Pending).filter((call) => tools.has(world.get(call, ToolCall)?.name ?? ''))
}

function differencesOf(world: World, host: Host): readonly Difference[] {
  const known = knownDeclarations(knownHost(world))
  if (known.size === 0) return []
  return world.entitiesWith(ToolRegistry).flatMap((agent): readonly Difference[] => {
    // A fork keeps its parent's request prefix.
    if (world.get(agent, Ancestry)?.sessions.at(-1)?.kind === 'fork') return []
    return world.read(agent, ToolRegistry).tools.flatMap((tool): readonly Difference[] => {
      const { name } = tool
      const hashes = tool.world === true ? undefined : known.get(name)
      if (hashes === undefined) return []
      const now = host.tool(name)?.declaration
      if (now === undefined) return [{ agent, tool: name, change: 'removed', now }]
      const hash = declarationHash(tool)
      // A declaration that no Host had is the program's own, such as a stricter one for one agent.
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
