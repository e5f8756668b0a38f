import { Unread } from '../../components/agent/conversation.ts'
import { Archival, type ArchivalData } from '../../components/context/archival.ts'
import { Context, type ContextData } from '../../components/context/context.ts'
import { HolderOf } from '../../components/context/holder.ts'
import { InstalledTools, ToolRegistry } from '../../components/agent/tool-registry.ts'
import { SubagentRegistry } from '../../components/sessions/subagent-registry.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { contextToolNames, contextTools as toolsFor } from '../../src/rules/context/context-tools.ts'
import { querySubagentDeclaration, spawnSubagentDeclaration } from '../../src/rules/delegation/declarations.ts'
import type { DeepReadonly, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { soonReady } from '../kit.ts'

const noTools: readonly ToolDeclaration[] = Object.freeze([])

/** What an agent's installed tools depend on, besides its own tools and constants. */
interface Source {
  readonly archival: DeepReadonly<ArchivalData> | undefined
  readonly context: DeepReadonly<ContextData> | undefined
  readonly hasHolders: boolean
  readonly mayDelegate: boolean
}

/** A program may have given an agent these tools: the package exports their declarations. */
const givenNames: ReadonlySet<string> = new Set([querySubagentDeclaration.name, spawnSubagentDeclaration.name])

/** By the installed list of tools. */
const madeFrom = () => new WeakMap<readonly ToolDeclaration[], Source>()

/**
 * Gives agents the tools of their configuration before a model call, and removes those it no longer has. They keep
 * their place in the list, to preserve the prompt cache.
 * Writes: ToolRegistry, InstalledTools.
 */
export function contextTools(maxStartsPerTick: number) {
  return {
    name: 'context-tools',
    priority: -3.5,
    wakes: [
      [Context, Unread],
      [Archival, Unread],
      [InstalledTools, Unread],
    ],
    run(world: World): void {
      for (const agent of soonReady(world, maxStartsPerTick)) refreshContextTools(world, agent)
    },
  }
}

export function refreshContextTools(world: World, agent: Entity): void {
  const archival = world.get(agent, Archival)
  const context = world.get(agent, Context)
  if (archival === undefined && context === undefined && !world.has(agent, InstalledTools)) return
  const mayDelegate = world.has(agent, SubagentRegistry)
  const hasHolders = archival?.enabled === false && world.isReferred(HolderOf, agent)
  const tools = world.get(agent, ToolRegistry)?.tools ?? noTools
  const last = world.unsaved(madeFrom).get(tools)
  const isKnown = last !== undefined && last.archival === archival && last.context === context
  if (isKnown && last.mayDelegate === mayDelegate && last.hasHolders === hasHolders) return
  install(world, agent, tools)
  const installed = world.get(agent, ToolRegistry)?.tools ?? noTools
  world.unsaved(madeFrom).set(installed, { archival, context, hasHolders, mayDelegate })
}

function install(world: World, agent: Entity, tools: readonly ToolDeclaration[]): void {
  const own = tools.filter((tool) => !isInstalled(tool))
  const declared = toolsFor(world, agent, own).filter(({ name }) => !own.some((tool) => tool.name === name))
  noteInstalled(world, agent, tools, declared)
  if (isSame(tools.filter(isInstalled), declared)) return
  const place = tools.findIndex(isInstalled)
  const before = place === -1 ? own.length : place
  world.set(agent, ToolRegistry, { tools: [...own.slice(0, before), ...declared, ...own.slice(before)] })
}

/** A tool that the agent already had is its own, if a program can have given it. */
function noteInstalled(
  world: World,
  agent: Entity,
  tools: readonly ToolDeclaration[],
  declared: readonly ToolDeclaration[],
): void {
  const before = world.get(agent, InstalledTools)?.names
  const isGiven = (name: string): boolean =>
    before?.includes(name) !== true && givenNames.has(name) && tools.some((tool) => tool.name === name)
  const names = declared.map(({ name }) => name).filter((name) => !isGiven(name))
  if (names.length === 0) world.remove(agent, InstalledTools)
  else if (JSON.stringify(names) !== JSON.stringify(before)) world.set(agent, InstalledTools, { names })
}

function isInstalled({ name, world: isWorldTool }: ToolDeclaration): boolean {
  return isWorldTool === true && contextToolNames.has(name)
}

function isSame(before: readonly ToolDeclaration[], after: readonly ToolDeclaration[]): boolean {
  // Declarations are frozen, and mostly the same object.
  const isSameTool = (tool: ToolDeclaration, index: number): boolean =>
    tool === after[index] || JSON.stringify(tool) === JSON.stringify(after[index])
  return before.length === after.length && before.every(isSameTool)
}
