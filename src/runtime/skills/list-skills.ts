import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { checkOptions, environment, filledText, refuseMisfit, type ShapesOf } from '../../base/option-shapes.ts'
import { byCodePoint } from '../../base/by-code-point.ts'
import { isFileSystemError } from '../../tools/files/refusal.ts'
import { contains, leadsTo } from '../../tools/files/leads-to.ts'
import { folders, inHome } from '../config/folders.ts'
import { repositoryOf } from '../tools/whole-disk.ts'
import { readSkillFile, type SkillFile } from './skill-file.ts'

/** Whose a skill is: of a tool package, of the user, of the project; `folder` for a folder that was named. */
export type SkillScope = 'package' | 'user' | 'project' | 'folder'

/** A skill that was found, valid or not. */
export interface ListedSkill {
  /** That of its folder. */
  readonly name: string
  /** Empty, if its `SKILL.md` could not be read. */
  readonly description: string
  /** Its folder, absolute. */
  readonly path: string
  readonly scope: SkillScope
  /** Whether agents are offered it, unless another one of its name counts. */
  readonly valid: boolean
  /** What is wrong with it, a sentence each. */
  readonly problems: readonly string[]
  /** The folder of the skill of the same name that counts instead. */
  readonly overriddenBy?: string | undefined
}

/** Where skills are looked for. */
export interface SkillsOptions {
  /** The working folder: its skills are in `.agents/skills` and `.entia/skills`. @default that of the process */
  readonly cwd?: string | undefined
  /** Where the data folder is looked up: the user's skills are in `skills` in it. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** A folder with a skill in each of its folders. */
export interface SkillPlace {
  readonly scope: SkillScope
  /** Absolute. */
  readonly folder: string
  /** Skills must lie in it, links followed. Absent: a link may lead anywhere. */
  readonly root?: string | undefined
}

/** Entries of one place that are looked at, by name. */
const maxEntries = 1_000

const skillsShapes: ShapesOf<SkillsOptions> = { cwd: filledText, env: environment }

/**
 * The skills of a folder, each in a folder of its own; or, without one, those of the user and of the working folder, of which a
 * later one counts over an earlier one of the same name. Sorted by place, then by name.
 *
 * @param folder absolute, relative to `cwd`, or beginning with `~`. @default the usual places
 * @throws by its promise: `invalid-argument`
 */
export async function listSkills(folder?: string, options: SkillsOptions = {}): Promise<readonly ListedSkill[]> {
  checkOptions('listSkills', options, skillsShapes)
  if (folder === undefined) return skillsIn(skillPlaces(options))
  refuseMisfit('listSkills', 'folder', folder, filledText)
  return skillsIn([{ scope: 'folder', folder: skillFolder(folder, options) }])
}

/** The usual places; later ones count over earlier ones. @param packages folders of tool packages */
export function skillPlaces(
  { cwd = '.', env = process.env }: SkillsOptions,
  packages: readonly string[] = [],
): SkillPlace[] {
  const root = resolve(cwd)
  return [
    ...packages.map((folder) => ({ scope: 'package', folder, root: folder }) as const),
    { scope: 'user', folder: join(folders(env, root).data, 'skills') },
    { scope: 'project', folder: join(root, '.agents', 'skills'), root },
    { scope: 'project', folder: join(root, '.entia', 'skills'), root },
  ]
}

/** A folder that a person named. */
export function skillFolder(folder: string, { cwd = '.', env = process.env }: SkillsOptions): string {
  return resolve(cwd, inHome(folder, env['HOME'] || env['USERPROFILE'] || userInfo().homedir))
}

/** The skills of these places, each with the one that counts over it. */
export async function skillsIn(places: readonly SkillPlace[]): Promise<readonly ListedSkill[]> {
  const found: ListedSkill[] = []
  for (const place of places) {
    for (const name of await namesIn(place.folder)) found.push(await listed(place, name))
  }
  const counting = new Map(found.filter(({ valid }) => valid).map((skill) => [skill.name, skill.path]))
  return found.map((skill) => {
    const overriddenBy = counting.get(skill.name)
    return !skill.valid || overriddenBy === skill.path ? skill : { ...skill, overriddenBy }
  })
}

/** The skill of that name that counts, with its text as it is now. */
export async function skillNamed(
  places: readonly SkillPlace[],
  name: string,
): Promise<{ readonly folder: string; readonly file: SkillFile } | undefined> {
  for (const place of places.toReversed()) {
    const folder = join(place.folder, name)
    const file = await readSkill(place, folder)
    if (file.matter !== undefined) return { folder, file }
  }
  return undefined
}

async function listed(place: SkillPlace, name: string): Promise<ListedSkill> {
  const path = join(place.folder, name)
  const { matter, problems } = await readSkill(place, path)
  const description = matter?.description ?? ''
  return { name, description, path, scope: place.scope, valid: matter !== undefined, problems }
}

/** A project must not bring in files of the user's by a link: they would go to a model before a policy is asked. */
async function readSkill({ root }: SkillPlace, folder: string): Promise<SkillFile> {
  const file = await readSkillFile(folder)
  if (root === undefined || file.matter === undefined) return file
  const project = await leadsTo((await repositoryOf(root)) ?? root)
  if (contains(project, await leadsTo(folder))) return file
  return { body: '', problems: ['It is a link that leads out of the project.'] }
}

/** Folders, and links to folders, by name. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isFileSystemError(error)) return []
    throw error
  })
  const names: string[] = []
  for (const entry of entries.toSorted((a, b) => byCodePoint(a.name, b.name)).slice(0, maxEntries)) {
    if (!entry.name.startsWith('.') && (await isFolder(folder, entry))) names.push(entry.name)
  }
  return names
}

async function isFolder(parent: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory()
  const stats = await stat(join(parent, entry.name)).catch(() => undefined)
  return stats?.isDirectory() ?? false
}
