import type { HostFactsData } from '../../protocol/host.ts'
import type { InheritancePolicy } from '../../protocol/delegation.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { declarationHash } from './declaration-hash.ts'
import { ownValue } from './find-tools.ts'

/** A subagent's tools, one of a name. */
export interface SettledTools {
  /** Names of those that the Host declares. */
  readonly hostTools: readonly string[]
  /** Copies of the parent's. */
  readonly tools: readonly ToolDeclaration[]
  /** Names of the parent's tools that the subagent has, copied or as its own. */
  readonly inherited: ReadonlySet<string>
  /** Names of tools that are different ones on both sides. */
  readonly conflicts: readonly string[]
}

/** What a subagent has of the Host. */
export interface HostPart {
  /** Names of tools. */
  readonly tools: readonly string[]
  /** Names of skills, which bring tools along. */
  readonly skills: readonly string[]
}

/**
 * Puts a subagent's own tools and those of its parent together. The same tool on both sides stays the subagent's own. Of
 * two different ones, `override` takes the parent's; against a tool of one of the Host's skills it stands in `tools`, which
 * go before those of skills.
 */
export function settleTools(
  own: HostPart,
  found: readonly ToolDeclaration[],
  policy: NonNullable<InheritancePolicy['toolConflictPolicy']>,
  facts: HostFactsData | undefined,
): SettledTools {
  const hostTools = new Set(own.tools)
  const tools: ToolDeclaration[] = []
  const inherited = new Set<string>()
  const conflicts: string[] = []
  for (const declaration of found) {
    const { name } = declaration
    const others = hashesOf(name, own, facts)
    const isSame = others.every((hash) => hash === declarationHash(declaration))
    if (!isSame) conflicts.push(name)
    if (!isSame && policy !== 'override') continue
    inherited.add(name)
    if (isSame && others.length > 0) continue
    // A Host that has no such tool does not keep a subagent from having the parent's.
    hostTools.delete(name)
    tools.push(declaration)
  }
  return { hostTools: [...hostTools], tools, inherited, conflicts }
}

/** Of the tools that the Host gives the subagent under a name: its own, and those of its skills. */
function hashesOf(name: string, own: HostPart, facts: HostFactsData | undefined): readonly number[] {
  const ofTools = own.tools.includes(name) ? [ownValue(facts?.tools, name)] : []
  const ofSkills = own.skills.map((skill) => ownValue(facts?.skills?.[skill], name))
  return [...ofTools, ...ofSkills].filter((hash) => hash !== undefined)
}
