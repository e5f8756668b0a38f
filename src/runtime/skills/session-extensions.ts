import { resolve } from 'node:path'
import type { Tool } from '../../tools/port.ts'
import type { Folders } from '../config/folders.ts'
import { isTrusted as trusts } from '../config/read-runtime-config.ts'
import type { RuntimeConfig } from '../config/runtime-config.ts'
import { builtinNames } from '../tools/builtin-tools.ts'
import { type ListedSkill, skillPlaces, skillsIn } from './list-skills.ts'
import { skillCatalogue } from './skill-catalogue.ts'
import { skillTool } from './skill-tool.ts'
import type { ToolPackages } from './tool-packages.ts'

/** What skills and tool packages add to a chat session. */
export interface SessionExtensions {
  /** Those of packages, and the tool `skill` if there is a skill. */
  readonly tools: readonly Tool[]
  /** The names of the chat session's tools that do not name a tool of a package. */
  readonly otherNames: readonly string[]
  /** For the system prompt: names and descriptions of skills. Absent: there is none. */
  readonly text?: string | undefined
  /** What the user should know. */
  readonly notices: readonly string[]
}

export interface SessionPlace {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  readonly folders: Folders
}

/**
 * Loads the tool packages of a configuration, and looks for skills: of packages, of the user and of the working folder.
 *
 * @param given tools of the chat session. `all` grants all tools of packages, and skills; so does the name or the category of a
 * tool, the name of a package, and `skill`. A tool that is named `skill` stands in for skills.
 * @throws by its promise: `config-invalid`
 */
export async function sessionExtensions(
  given: readonly (string | Tool)[],
  config: RuntimeConfig,
  place: SessionPlace,
): Promise<SessionExtensions> {
  const names = new Set(given.filter((tool) => typeof tool === 'string'))
  const isGranted = (...words: readonly (string | undefined)[]): boolean =>
    names.has('all') || words.some((word) => word !== undefined && names.has(word))
  if (names.size === 0) return { tools: [], otherNames: [], notices: [] }
  const packages = await packagesOf(config, place)
  const ofPackages = packages.tools.map(({ package: owner, tool }) => {
    const { category, name } = tool.declaration
    return { tool, words: [name, category, owner] }
  })
  const words = new Set(ofPackages.flatMap((each) => each.words))
  const isBuiltin = words.size === 0 ? undefined : builtinNames()
  const base = {
    tools: ofPackages.filter((each) => isGranted(...each.words)).map(({ tool }) => tool),
    otherNames: [...names].filter((name) => isBuiltin === undefined || isBuiltin.has(name) || !words.has(name)),
    notices: packages.notices,
  }
  const hasOwn = given.some((tool) => typeof tool !== 'string' && tool.declaration.name === 'skill')
  if (!isGranted('skill') || hasOwn) return base
  const places = skillPlaces(place, packages.skillFolders)
  const { notices, text } = skillCatalogue(await skillsIn(places))
  const all = [...base.notices, ...notices]
  return text === undefined
    ? { ...base, notices: all }
    : { ...base, tools: [...base.tools, skillTool(places)], text, notices: all }
}

/** All skills of a working folder, with those of the tool packages of its configuration. Runs nothing of the packages. */
export async function allSkills(
  { toolPackages = [], trustedFolders = [] }: RuntimeConfig,
  place: SessionPlace,
): Promise<readonly ListedSkill[]> {
  if (toolPackages.length === 0) return skillsIn(skillPlaces(place))
  const { packageSkillFolders } = await import('./tool-packages.ts')
  const folders = await packageSkillFolders(toolPackages, await lookup(trustedFolders, place))
  return skillsIn(skillPlaces(place, folders))
}

async function packagesOf(
  { toolPackages = [], trustedFolders = [] }: RuntimeConfig,
  place: SessionPlace,
): Promise<ToolPackages> {
  if (toolPackages.length === 0) return { tools: [], skillFolders: [], notices: [] }
  const [{ loadToolPackages }, { worldTools }] = await Promise.all([
    import('./tool-packages.ts'),
    import('../../../systems/sessions/world-tools/index.ts'),
  ])
  const taken = new Set([...builtinNames(), ...worldTools(undefined).keys(), 'skill'])
  return loadToolPackages(toolPackages, { ...(await lookup(trustedFolders, place)), taken })
}

/** Where packages are looked for, and whether they may lie in the project. */
async function lookup(trustedFolders: readonly string[], { cwd, folders, home }: SessionPlace) {
  const isTrusted = await trusts(cwd, trustedFolders, home)
  return { cwd: resolve(cwd), home, configFolder: folders.config, isTrusted }
}
