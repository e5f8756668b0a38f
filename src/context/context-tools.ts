import type { ToolDeclaration } from '../../components/tool-declaration.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { agenticTools } from './agentic-wrapper.ts'
import { archivalTools } from './archival-tools.ts'
import { checkpointTools } from './checkpoint-tools.ts'

/** Some of the tools that come with a configuration. */
interface Group {
  readonly names: readonly string[]
  /** Those that an agent has now, given the tools of its own. */
  declare(world: World, agent: Entity, own: readonly ToolDeclaration[]): readonly ToolDeclaration[]
}

/** The tools that come with an agent's configuration, in the order in which its model sees them. */
const groups: readonly Group[] = [agenticTools, archivalTools, checkpointTools]

/** Names of all of them, installed or not. */
export const contextToolNames: ReadonlySet<string> = new Set(groups.flatMap(({ names }) => names))

/** The tools that an agent has by its configuration as it is now. */
export function contextTools(world: World, agent: Entity, own: readonly ToolDeclaration[]): readonly ToolDeclaration[] {
  return groups.flatMap((group) => group.declare(world, agent, own))
}
