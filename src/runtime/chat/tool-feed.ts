import { Policy, PolicyState } from '../../../components/agent/policy.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { allowsSome, approvalOf } from '../../protocol/policy.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { declarationHash } from '../../rules/delegation/hashes.ts'
import { withSearch } from '../../rules/projection/deferred-tools.ts'
import type { Tool } from '../../tools/port.ts'
import type { Entity } from '../../world/component.ts'
import { emitMade } from '../../world/made.ts'
import type { World } from '../../world/world.ts'

/** Tools of a chat session that come, change and go while it is open, such as those of MCP servers. */
export interface ToolFeed {
  /** Those that there are now. */
  readonly declarations: readonly ToolDeclaration[]
  /** The handler of one of them. */
  readonly tool: (name: string) => Tool | undefined
  /** Called when the chat session has started; resolves once its first turn may begin. @param update called for each change */
  readonly begin: (update: () => void) => Promise<void>
}

/**
 * Writes what a feed offers into an agent's registry. What was allowed for a tool that changed, by a person or the configuration,
 * does not count for the tool as it is now.
 */
export function takeUpTools(world: World, agent: Entity, offered: readonly ToolDeclaration[]): void {
  const before = world.get(agent, ToolRegistry)?.tools ?? []
  const now = new Map(offered.map((tool) => [tool.name, tool]))
  const changes: { readonly tool: string; readonly change: 'added' | 'changed' | 'removed' }[] = []
  let hasMoved = false
  const left = before.flatMap((tool) => {
    const { name } = tool
    const newer = now.get(name)
    if (newer === undefined) {
      if (!isFed(tool)) return [tool]
      changes.push({ tool: name, change: 'removed' })
      return []
    }
    now.delete(name)
    if (declarationHash(tool) === declarationHash(newer)) return [tool]
    hasMoved ||= isSame(tool, newer)
    if (isSame(tool, newer)) return [newer]
    changes.push({ tool: name, change: 'changed' })
    return [newer]
  })
  for (const { name } of now.values()) changes.push({ tool: name, change: 'added' })
  if (changes.length === 0 && !hasMoved) return
  world.set(agent, ToolRegistry, { tools: withSearch([...left, ...now.values()]) })
  for (const change of changes) emitMade(world, 'tool-changed', { agent, ...change })
  forget(
    world,
    agent,
    changes.filter(({ change }) => change !== 'added').map(({ tool }) => tool),
  )
}

/** Only whether it is shown, or found by a search, is another. */
function isSame(before: ToolDeclaration, now: ToolDeclaration): boolean {
  return declarationHash(inView(before)) === declarationHash(inView(now))
}

function inView(tool: ToolDeclaration): ToolDeclaration {
  const { deferred: _, ...shown } = tool
  return shown
}

/** Is it of a feed, and not of the World or the Host? */
function isFed({ category }: ToolDeclaration): boolean {
  return category === 'mcp'
}

function forget(world: World, agent: Entity, tools: readonly string[]): void {
  const remembered = world.get(agent, PolicyState)?.remembered ?? []
  const left = remembered.filter(({ tool }) => !tools.includes(tool))
  if (left.length < remembered.length) world.patch(agent, PolicyState, { remembered: left })
  const { config } = world.get(agent, Policy) ?? {}
  const { permissions = {} } = config ?? {}
  const changed = tools.filter((tool) => Object.hasOwn(permissions, tool) && allowsSome(permissions[tool]))
  if (changed.length === 0) return
  const kept = Object.entries(permissions).flatMap(([tool, entry]) => {
    if (!changed.includes(tool)) return [[tool, entry] as const]
    const otherwise = approvalOf(entry)
    return otherwise === undefined || otherwise === 'allow' ? [] : [[tool, otherwise] as const]
  })
  world.patch(agent, Policy, { config: { ...config, permissions: Object.fromEntries(kept) } })
}
