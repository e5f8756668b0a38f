import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { Archival } from '../../../components/context/archival.ts'
import { Context } from '../../../components/context/context.ts'
import { HolderOf, Seed } from '../../../components/context/holder.ts'
import { InstalledTools, ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { SubagentRegistry } from '../../../components/sessions/subagent-registry.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { querySubagentDeclaration, spawnSubagentDeclaration, worldDeclaration } from '../delegation/declarations.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** Searches the part of the conversation that is not projected any more. */
const recallDeclaration: ToolDeclaration = worldDeclaration(
  'recall',
  'Searches the earlier part of this conversation that you no longer see: turns that were archived, and what a summary ' +
    'stands for. Gives the messages that have words of the query, at most 10.',
  { query: { type: 'string', description: 'Words to look for.' } },
  ['query'],
)

const own = [querySubagentDeclaration, spawnSubagentDeclaration, recallDeclaration]
const names = own.map(({ name }) => name)

/** The tools that come with archival, and the one that finds what no projection has any more. */
export const archivalTools = {
  names,
  declare(world: World, agent: Entity): readonly ToolDeclaration[] {
    if (world.has(agent, Seed)) return []
    const isOn = isArchivalOn(world, agent)
    return own.filter((tool) => {
      if (tool === recallDeclaration) return canRecall(world, agent)
      if (!isOn) return !world.has(agent, Archival) && hasItself(world, agent, tool.name)
      return tool === querySubagentDeclaration || mayDelegate(world, agent)
    })
  },
}

/** Are turns archived, or were they? Where archival was switched off, its holders can still be asked. */
function isArchivalOn(world: World, agent: Entity): boolean {
  const config = world.get(agent, Archival)
  return config !== undefined && (config.enabled || world.isReferred(HolderOf, agent))
}

/** Is there a part of its conversation that the agent will not see, and can search? */
function canRecall(world: World, agent: Entity): boolean {
  if (isArchivalOn(world, agent)) return true
  const context = world.get(agent, Context)
  return context?.compaction.enabled === true || context?.checkpoint.enabled === true
}

/** A program may have given these tools to an agent that is never archived. */
function hasItself(world: World, agent: Entity, name: string): boolean {
  if (world.get(agent, InstalledTools)?.names.includes(name) === true) return false
  return world.get(agent, ToolRegistry)?.tools.some((tool) => tool.world === true && tool.name === name) === true
}

/** A session may if it has inherited that; a fork has what its parent has. */
function mayDelegate(world: World, agent: Entity): boolean {
  const kind = world.get(agent, Ancestry)?.sessions.at(-1)?.kind
  if (kind === undefined || world.has(agent, SubagentRegistry)) return true
  return kind === 'fork' && hasItself(world, agent, spawnSubagentDeclaration.name)
}
