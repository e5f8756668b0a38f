import type { HostFactsData } from '../../protocol/host.ts'
import type { Skill } from '../../../components/agent/skills.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { declarationHash } from './hashes.ts'
import { subagentToolNames } from './declarations.ts'
import type { InheritancePolicy } from '../../protocol/delegation.ts'

/** Where the skills that were asked for are to be had, each once, in the order of asking. */
export interface FoundSkills {
  readonly ofParent: readonly Skill[]
  /** Names in the Host's catalogue. */
  readonly ofHost: readonly string[]
  /** Names of those that are nowhere to be had. */
  readonly missing: readonly string[]
  /** Names of those of whose tools only the ones come that the parent may run. */
  readonly limited: ReadonlySet<string>
}

/** The skills that are asked for, by name. */
export interface AskedSkills {
  /** Of the config. */
  readonly own: readonly string[]
  /** Of the launch. */
  readonly loaded: readonly string[]
  /** A program launches, or the names of those that a model may load with their tools. */
  readonly loadable: 'all' | readonly string[]
}

/** Looks skills up: with the parent first, then in the Host's catalogue. */
export function findSkills(
  { own, loaded, loadable }: AskedSkills,
  parentSkills: readonly Skill[],
  facts: HostFactsData | undefined,
): FoundSkills {
  const catalogue = facts?.skills ?? {}
  const ofParent: Skill[] = []
  const ofHost: string[] = []
  const missing: string[] = []
  const limited = loadable === 'all' ? [] : loaded.filter((name) => !own.includes(name) && !loadable.includes(name))
  for (const name of new Set([...own, ...loaded])) {
    const skill = parentSkills.find((each) => each.name === name)
    if (skill !== undefined) ofParent.push(skill)
    else if (Object.hasOwn(catalogue, name)) ofHost.push(name)
    else missing.push(name)
  }
  return { ofParent, ofHost, missing, limited: new Set(limited) }
}

/**
 * The skills of the parent's that a subagent gets: those asked for, then those that inherited tools belong to. Of a skill's
 * tools it names the inherited ones alone.
 *
 * @param inherited names of the tools that the subagent has of its parent
 * @param listed names of those that were asked for by name
 */
export function inheritedSkills(
  asked: readonly Skill[],
  parentSkills: readonly Skill[],
  inherited: ReadonlySet<string>,
  listed: readonly string[],
): readonly Skill[] {
  const names = listed.filter((name) => inherited.has(name))
  const brought = parentSkills.filter(
    (skill) => !asked.includes(skill) && names.some((name) => skill.tools?.includes(name) === true),
  )
  return [...asked, ...brought].map((skill) => {
    // The same object, where it can be: it need not be read again to know that it is the same.
    if (skill.tools?.every((name) => inherited.has(name)) !== false) return skill
    return { ...skill, tools: skill.tools.filter((name) => inherited.has(name)) }
  })
}

/** What a subagent's tools are taken from. */
export interface ToolSource {
  readonly tools: readonly ToolDeclaration[]
  readonly skills: readonly Skill[]
  /** It can delegate, and pass that on. */
  readonly delegates: boolean
  /** Names of tools that it may run. */
  readonly mayRun: (name: string) => boolean
}

/** Tools of the parent's that a subagent is to inherit, each once, in the order of asking. */
export interface FoundTools {
  readonly found: readonly ToolDeclaration[]
  /** Names of skills that tools come from and that the parent no longer has. */
  readonly missingSkills: readonly string[]
  /** Names of tools that are left out, each with the reason. */
  readonly leftOut: readonly (readonly [name: string, reason: string])[]
}

/**
 * Looks up the tools that a policy lists, and those of the skills that come whole from the parent. Tools that change the
 * world are never copied: `subagent` stands for all six, which come with the registry.
 */
export function findTools(
  listed: readonly string[],
  parent: ToolSource,
  skills: FoundSkills,
  facts: HostFactsData | undefined,
): FoundTools {
  const found: ToolDeclaration[] = []
  const missingSkills: string[] = []
  const leftOut: [string, string][] = []
  const isDelegating = parent.delegates && listed.includes('subagent')
  const { names, withheld } = toolsOfSkills(parent, skills)
  for (const name of withheld) if (!listed.includes(name)) leftOut.push([name, 'the parent may not run it'])
  for (const name of new Set([...listed, ...names])) {
    const declaration = parent.tools.find((tool) => tool.name === name)
    if (isOfDelegation(name)) {
      if (!isDelegating) leftOut.push([name, reasonAgainst(name)])
      continue
    }
    const skill = lostSkill(name, declaration, parent, skills, facts)
    if (skill !== undefined) missingSkills.push(skill)
    else if (declaration === undefined) leftOut.push([name, 'the parent lacks it'])
    else if (declaration.world === true) leftOut.push([name, 'it cannot be copied'])
    else found.push(declaration)
  }
  return { found, missingSkills, leftOut }
}

/** Of the skills that come from the parent. A model that names one gets nothing that the parent may not run. */
function toolsOfSkills({ mayRun }: ToolSource, { limited, ofParent }: FoundSkills) {
  const names = new Set<string>()
  const withheld = new Set<string>()
  for (const { name: skill, tools = [] } of ofParent) {
    for (const name of tools) (limited.has(skill) && !mayRun(name) ? withheld : names).add(name)
  }
  return { names, withheld: [...withheld].filter((name) => !names.has(name)) }
}

/**
 * Of each of the Host's skills that a model has named, the tools that the parent has as well and may run; and those that
 * are left out, each with the reason.
 */
export function limitSkills({ ofHost, limited }: FoundSkills, parent: ToolSource, facts: HostFactsData | undefined) {
  const leftOut: [string, string][] = []
  const kept = ofHost.flatMap((skill) => {
    const theirs = Object.entries(facts?.skills?.[skill] ?? {})
    if (!limited.has(skill) || theirs.length === 0) return []
    const tools = theirs.filter(([name, hash]) => {
      const own = parent.tools.find((tool) => tool.name === name)
      const mayRun = own !== undefined && declarationHash(own) === hash && parent.mayRun(name)
      if (!mayRun) leftOut.push([name, `the parent may not run it, and the skill '${skill}' is not in loadableSkills`])
      return mayRun
    })
    return [{ skill, tools: tools.map(([name]) => name) }]
  })
  return { kept, leftOut }
}

function isOfDelegation(name: string): boolean {
  return subagentToolNames.some((each) => each === name)
}

function reasonAgainst(name: string): string {
  return name === 'subagent' ? 'the parent has no SubagentRegistry' : "it comes only together with 'subagent'"
}

/**
 * The skill that a tool comes from, if neither the parent has it nor the subagent gets it. A declaration that outlived its
 * skill is known by the catalogue, as long as the Host has no such tool apart from the skill.
 */
function lostSkill(
  name: string,
  declaration: ToolDeclaration | undefined,
  parent: ToolSource,
  { ofHost }: FoundSkills,
  facts: HostFactsData | undefined,
): string | undefined {
  if (facts?.skills === undefined || parent.skills.some(({ tools }) => tools?.includes(name) === true)) return undefined
  const hash = declaration === undefined ? undefined : declarationHash(declaration)
  if (hash !== undefined && ownValue(facts.tools, name) === hash) return undefined
  const providers = Object.entries(facts.skills)
    .filter(([, tools]) => isProvided(ownValue(tools, name), hash))
    .map(([skill]) => skill)
  const isHere = providers.some((skill) => ofHost.includes(skill) || parent.skills.some((each) => each.name === skill))
  return isHere ? undefined : providers[0]
}

/** Without a declaration, any tool of that name will do. */
function isProvided(ofSkill: number | undefined, hash: number | undefined): boolean {
  return ofSkill !== undefined && (hash === undefined || ofSkill === hash)
}

/** A tool may be called `constructor`. */
function ownValue(hashes: Readonly<Record<string, number>> | undefined, name: string): number | undefined {
  return hashes !== undefined && Object.hasOwn(hashes, name) ? hashes[name] : undefined
}

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
