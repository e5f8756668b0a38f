import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { schemaIssues } from '../../rules/text/schema-issues.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { Tool } from '../../tools/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { shortly } from '../../base/known-options.ts'
import { lazily } from '../../base/lazily.ts'
import { contains, leadsTo } from '../../tools/files/leads-to.ts'
import { inHome } from '../config/folders.ts'
import { findPackage, readInside, readSpecifier } from '../tools/js/package-folder.ts'
import { repositoryOf } from '../tools/whole-disk.ts'

/** What tool packages bring. */
export interface ToolPackages {
  readonly tools: readonly { readonly tool: Tool; readonly package: string }[]
  /** Folders with skills, absolute. */
  readonly skillFolders: readonly string[]
  /** Packages that were left out, for the user. */
  readonly notices: readonly string[]
}

export interface ToolPackagesOptions {
  readonly cwd: string
  /** What `~` stands for. */
  readonly home: string
  /** The user's own configuration folder: packages that are installed there are found from any working folder. */
  readonly configFolder: string
  /** Whether code that lies in the working folder's project may run. */
  readonly isTrusted: boolean
  /** Names that no tool of a package may have. */
  readonly taken: ReadonlySet<string>
}

/** Longest that a package's module may take to load, in milliseconds of real time. */
const maxLoadMs = 10_000

const place = (what: string) =>
  z
    .string()
    .regex(/^\.\/(?!(?:.*\/)?\.\.(?:\/|$))./, `expected a path to ${what} in the package that begins with ./`)
    .optional()

const manifestSchema = lazily(() =>
  z.object({
    entia: z
      .strictObject({ tools: place('a module'), skills: place('a folder') }, 'expected an object { tools, skills }')
      .refine(({ skills, tools }) => skills !== undefined || tools !== undefined, 'expected tools, skills or both'),
  }),
)

/**
 * Loads the packages that a configuration names: of each, the tools that its module exports, and where its skills lie.
 *
 * @throws by its promise: `config-invalid` that names all problems of all packages
 */
export async function loadToolPackages(names: readonly string[], options: ToolPackagesOptions): Promise<ToolPackages> {
  const loaded = await Promise.all([...new Set(names)].map((name) => loadPackage(name, options)))
  const tools = loaded.flatMap((each) => each.tools.map((tool) => ({ tool, package: each.name })))
  const problems = [...loaded.flatMap((each) => each.problems), ...clashes(tools, options.taken)]
  if (problems.length > 0) {
    const text = ['toolPackages: these packages cannot be used:', ...problems.map((problem) => `- ${problem}`)].join(
      '\n',
    )
    throw new EntiaError('config-invalid', text, { path: 'toolPackages', problems })
  }
  return {
    tools,
    skillFolders: loaded.flatMap(({ skills }) => (skills === undefined ? [] : [skills])),
    notices: loaded.flatMap(({ notice }) => (notice === undefined ? [] : [notice])),
  }
}

/** Where packages have skills. Nothing of theirs is run; packages that cannot be used are left out. */
export async function packageSkillFolders(
  names: readonly string[],
  options: Omit<ToolPackagesOptions, 'taken'>,
): Promise<readonly string[]> {
  const folders = await Promise.all(
    names.map(async (name) => {
      const found = await folderOf(name, options)
      if (!('folder' in found)) return undefined
      const manifest = await manifestIn(found.folder, join(found.folder, 'package.json'))
      return 'problem' in manifest || manifest.skills === undefined
        ? undefined
        : folderIn(found.folder, manifest.skills)
    }),
  )
  return folders.filter((folder) => folder !== undefined)
}

interface Loaded {
  readonly name: string
  readonly tools: readonly Tool[]
  readonly skills?: string
  readonly problems: readonly string[]
  readonly notice?: string
}

async function loadPackage(name: string, options: ToolPackagesOptions): Promise<Loaded> {
  const none = { name, tools: [], problems: [] }
  const found = await folderOf(name, options)
  if ('notice' in found) return { ...none, notice: found.notice }
  if ('problem' in found) return { ...none, problems: [`${name}: ${found.problem}`] }
  const { folder } = found
  const file = join(folder, 'package.json')
  const manifest = await manifestIn(folder, file)
  if ('problem' in manifest) return { ...none, problems: [`${name}: ${file}: ${manifest.problem}`] }
  const { skills: skillsPath, tools: toolsPath } = manifest
  const { problems, tools } = toolsPath === undefined ? none : await toolsIn(folder, toolsPath)
  const skills = skillsPath === undefined ? undefined : await folderIn(folder, skillsPath)
  const noSkills = skillsPath !== undefined && skills === undefined
  const all = [
    ...problems,
    ...(noSkills ? [`${file}: entia.skills: expected a folder in the package, got ${skillsPath}.`] : []),
  ]
  return { name, tools, ...(skills !== undefined && { skills }), problems: all.map((problem) => `${name}: ${problem}`) }
}

/** Code of a foreign project does not run because the user's own configuration names a package that the project brings. */
async function folderOf(
  name: string,
  { configFolder, cwd, home, isTrusted }: Omit<ToolPackagesOptions, 'taken'>,
): Promise<{ readonly folder: string } | { readonly problem: string } | { readonly notice: string }> {
  const isPath = /^(?:\.{0,2}\/|~)/.test(name)
  if (!isPath && readSpecifier(name)?.subpath !== '.') {
    return { problem: 'expected the name of a package, or a path that begins with ./, / or ~.' }
  }
  const project = await leadsTo((await repositoryOf(resolve(cwd))) ?? cwd)
  let isForeign = false
  for (const from of [cwd, configFolder]) {
    const folder = isPath ? await leadsTo(resolve(from, inHome(name, home))) : (await findPackage(name, from))?.folder
    if (folder === undefined || (isPath && !(await isFolder(folder)))) continue
    if (isTrusted || !contains(project, folder)) return { folder }
    isForeign = true
  }
  const where = `Install it in ${configFolder}, or put ${JSON.stringify(cwd)} into trustedFolders.`
  if (isForeign)
    return { notice: `The tool package ${name} was left out: it lies in this folder, which is not trusted. ${where}` }
  return {
    problem: `there is no such package with a package.json, seen from ${cwd} or ${configFolder}. Install it in one of them.`,
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}

interface Problem {
  readonly problem: string
}

async function manifestIn(folder: string, file: string): Promise<{ tools?: string; skills?: string } | Problem> {
  const text = await readInside(folder, file)
  if (text === undefined) return { problem: 'expected a file, got none that can be read.' }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return { problem: `expected JSON, got ${thrownMessage(error)}.` }
  }
  const checked = manifestSchema().safeParse(json)
  if (!checked.success) return { problem: `${schemaIssues(checked.error)}.` }
  const { skills, tools } = checked.data.entia
  return { ...(tools !== undefined && { tools }), ...(skills !== undefined && { skills }) }
}

/** A folder of the package, links followed; `undefined` if it is none, or lies elsewhere. */
async function folderIn(root: string, path: string): Promise<string | undefined> {
  const real = await realpath(join(root, path)).catch(() => undefined)
  return real !== undefined && contains(root, real) && (await isFolder(real)) ? real : undefined
}

async function toolsIn(
  root: string,
  path: string,
): Promise<{ readonly tools: readonly Tool[]; readonly problems: readonly string[] }> {
  const file = join(root, path)
  const real = await realpath(file).catch(() => undefined)
  if (real === undefined || !contains(root, real)) {
    return { tools: [], problems: [`${file}: expected a module in the package, got none.`] }
  }
  const exported = await exportOf(file)
  if ('problem' in exported) return { tools: [], problems: [`${file}: ${exported.problem}`] }
  const { list } = exported
  if (!Array.isArray(list)) {
    const what = `expected a list of tools as its default export or as tools, got ${shortly(list)}.`
    return { tools: [], problems: [`${file}: ${what}`] }
  }
  const items = Array.from(list, (item: unknown, index) => ({ item, problem: problemOf(item, index) }))
  const problems = items.flatMap(({ problem }) => (problem === undefined ? [] : [`${file}: ${problem}`]))
  return { tools: items.filter(({ problem }) => problem === undefined).map(({ item }) => item as Tool), problems }
}

async function exportOf(file: string): Promise<{ readonly list: unknown } | Problem> {
  const late = new AbortController()
  try {
    const module = await Promise.race([
      import(pathToFileURL(file).href) as Promise<{ readonly default?: unknown; readonly tools?: unknown }>,
      delay(maxLoadMs, undefined, { signal: late.signal }),
    ])
    if (module === undefined) return { problem: `expected a module that loads within ${maxLoadMs / 1_000} s.` }
    return { list: module.default ?? module.tools }
  } catch (error) {
    return { problem: `expected a module that loads, got ${thrownMessage(error)}` }
  } finally {
    late.abort()
  }
}

/** What keeps something from being a tool, by its place in the list. */
function problemOf(item: unknown, index: number): string | undefined {
  const { call, declaration } = typeof item === 'object' && item !== null ? (item as Partial<Tool>) : {}
  if (declaration === undefined || typeof call !== 'function') {
    return `[${index}]: expected a tool; make one with defineTool, got ${shortly(item)}.`
  }
  const checked = ToolDeclaration().safeParse(declaration)
  if (!checked.success) return `[${index}]: ${schemaIssues(checked.error)}.`
  return checked.data.world === true ? `[${index}]: expected a tool with a handler, got one of a world.` : undefined
}

/** Names that two tools have, or that a tool of the runtime has. */
function clashes(tools: ToolPackages['tools'], taken: ReadonlySet<string>): readonly string[] {
  const owners = new Map<string, string>()
  return tools.flatMap(({ package: owner, tool }) => {
    const { name } = tool.declaration
    const other = owners.get(name)
    owners.set(name, owner)
    if (taken.has(name))
      return [`${owner}: '${name}' is the name of a built-in tool or category; expected another name.`]
    return other === undefined ? [] : [`${owner}: '${name}' is the name of a tool of ${other}; expected another name.`]
  })
}
