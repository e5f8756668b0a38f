import type { HostFactsData } from '../../protocol/host.ts'
import type { Skill } from '../../../components/agent/skills.ts'

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
