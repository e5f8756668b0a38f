import type { HostFactsData } from '../../protocol/host.ts'
import type { Skill } from '../../../components/agent/skills.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { oncePerObject } from '../once-per.ts'
import { declarationHash } from './hashes.ts'
import { subagentToolNames } from './declarations.ts'
import type { InheritancePolicy } from '../../protocol/delegation.ts'

/** Where the requested skills are, each once, in the requested order. */
export interface FoundSkills {
  readonly ofParent: readonly Skill[]
  /** Names in the Host's catalogue. */
  readonly ofHost: readonly string[]
  /** Names of skills that do not exist. */
  readonly missing: readonly string[]
  /** Names of skills that bring only tools which the parent may run. */
  readonly limited: ReadonlySet<string>
}

/** Names of requested skills. */
export interface AskedSkills {
  /** By the config. */
  readonly own: readonly string[]
  /** By the launch. */
  readonly loaded: readonly string[]
  /** `all` if a program launches, else the skills that a model may load with their tools. */
  readonly loadable: 'all' | readonly string[]
}

/** Looks skills up: first the parent's, then the Host's catalogue. */
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
 * The parent's skills for a subagent: the requested ones, then those that inherited tools belong to. Each keeps only
 * its inherited tools.
 * @param inherited names of the tools taken from the parent
 * @param listed names of tools that the policy lists
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

export interface ToolSource {
  readonly tools: readonly ToolDeclaration[]
  readonly skills: readonly Skill[]
  /** It can delegate, and pass that on. */
  readonly delegates: boolean
  readonly mayRun: (name: string) => boolean
}

/** A subagent is shown all of its tools, and has no search for others. */
const inView = oncePerObject((declaration: ToolDeclaration): ToolDeclaration => {
  if (declaration.deferred !== true) return declaration
  const { deferred: _, ...shown } = declaration
  return shown
})

/** The parent's tools that a subagent inherits, each once, in the requested order. */
export interface FoundTools {
  readonly found: readonly ToolDeclaration[]
  /** Skills of tools whose skill the parent no longer has. */
  readonly missingSkills: readonly string[]
  /** Tools that are left out, with the reason. */
  readonly leftOut: readonly (readonly [name: string, reason: string])[]
}

/**
 * Looks up the tools that a policy lists, and those of skills taken from the parent. World tools are never copied:
 * `subagent` stands for all six, which come with the registry.
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
    if (subagentToolNames.some((each) => each === name)) {
      const reason =
        name === 'subagent' ? 'the parent has no SubagentRegistry' : "it comes only together with 'subagent'"
      if (!isDelegating) leftOut.push([name, reason])
      continue
    }
    const skill = lostSkill(name, declaration, parent, skills, facts)
    if (skill !== undefined) missingSkills.push(skill)
    else if (declaration === undefined) leftOut.push([name, 'the parent lacks it'])
    else if (declaration.world === true) leftOut.push([name, 'it cannot be copied'])
    else found.push(inView(declaration))
  }
  return { found, missingSkills, leftOut }
}

/** Tools of the parent's skills. A skill that a model named brings nothing that the parent may not run. */
function toolsOfSkills({ mayRun }: ToolSource, { limited, ofParent }: FoundSkills) {
  const names = new Set<string>()
  const withheld = new Set<string>()
  for (const { name: skill, tools = [] } of ofParent) {
    for (const name of tools) (limited.has(skill) && !mayRun(name) ? withheld : names).add(name)
  }
  return { names, withheld: [...withheld].filter((name) => !names.has(name)) }
}

/**
 * For each Host skill that a model named: the tools that the parent also has and may run, and those left out, with the
 * reason.
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

/**
 * The skill of a tool, if neither the parent nor the subagent has it. The catalogue identifies a declaration that
 * outlived its skill, unless the Host has the tool on its own.
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
    .filter(([, tools]) => Object.hasOwn(tools, name) && (hash === undefined || tools[name] === hash))
    .map(([skill]) => skill)
  const isHere = providers.some((skill) => ofHost.includes(skill) || parent.skills.some((each) => each.name === skill))
  return isHere ? undefined : providers[0]
}

/** A tool may be called `constructor`. */
function ownValue(hashes: Readonly<Record<string, number>> | undefined, name: string): number | undefined {
  return hashes !== undefined && Object.hasOwn(hashes, name) ? hashes[name] : undefined
}

/** A subagent's tools, with unique names. */
export interface SettledTools {
  /** Names of those that the Host declares. */
  readonly hostTools: readonly string[]
  /** Copies of the parent's. */
  readonly tools: readonly ToolDeclaration[]
  /** Names of the parent's tools that it has, copied or as its own. */
  readonly inherited: ReadonlySet<string>
  /** Names under which both sides have different tools. */
  readonly conflicts: readonly string[]
}

/** What a subagent takes from the Host: names of tools and of skills. */
export interface HostPart {
  /** Names of tools. */
  readonly tools: readonly string[]
  /** Names of skills, which bring tools along. */
  readonly skills: readonly string[]
}

/**
 * Merges a subagent's own tools with its parent's. A tool that both have stays the subagent's own. If they differ,
 * `override` takes the parent's; `tools` win over tools of the Host's skills.
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

/** Hashes of the Host's tools that the subagent gets under a name: its own, and those of its skills. */
function hashesOf(name: string, own: HostPart, facts: HostFactsData | undefined): readonly number[] {
  const ofTools = own.tools.includes(name) ? [ownValue(facts?.tools, name)] : []
  const ofSkills = own.skills.map((skill) => ownValue(facts?.skills?.[skill], name))
  return [...ofTools, ...ofSkills].filter((hash) => hash !== undefined)
}
