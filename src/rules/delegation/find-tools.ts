import type { HostFactsData } from '../../protocol/host.ts'
import type { Skill } from '../../../components/agent/skills.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { declarationHash } from './declaration-hash.ts'
import type { FoundSkills } from './child-skills.ts'
import { subagentToolNames } from './declarations.ts'

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
export function ownValue(hashes: Readonly<Record<string, number>> | undefined, name: string): number | undefined {
  return hashes !== undefined && Object.hasOwn(hashes, name) ? hashes[name] : undefined
}
