import { isMissing } from '../../base/unless-missing.ts'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, mkdtemp, open, rename, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { cleanName } from '../../tools/files/clean-text.ts'
import { isFileSystemError } from '../../tools/files/refusal.ts'
import { EntiaError } from '../../base/entia-error.ts'
import {
  checkOptions,
  count,
  environment,
  filledText,
  flag,
  objectWith,
  refuseMisfit,
  type ShapesOf,
} from '../../base/option-shapes.ts'
import { folders, makePrivateFolder } from '../config/folders.ts'
import { checkedOut } from './git-checkout.ts'
import { skillFolder, type SkillsOptions } from './list-skills.ts'
import { skillLimits, tooLarge } from './skill-limits.ts'
import { readSkillFile } from './skill-file.ts'
import { gitSource } from './skill-source.ts'
import { treeOf, type TreeEntry } from './skill-tree.ts'

/** Options of `removeSkill`, and of `installSkill`. */
export interface SkillTargetOptions extends SkillsOptions {
  /** The folder that skills are installed in. @default `skills` in the data folder */
  readonly targetDir?: string | undefined
}

/** Options of `installSkill`. */
export interface InstallSkillOptions extends SkillTargetOptions {
  /** Replaces a skill of the same name. @default false */
  readonly force?: boolean | undefined
  /** Longest that git may take, in milliseconds of real time. @default 120000 */
  readonly timeoutMs?: number | undefined
  /** Cancels the installation. @default none */
  readonly signal?: AbortSignal | undefined
}

const targetShapes: ShapesOf<SkillTargetOptions> = { cwd: filledText, env: environment, targetDir: filledText }
const installShapes: ShapesOf<InstallSkillOptions> = {
  ...targetShapes,
  force: flag,
  timeoutMs: count,
  signal: objectWith('an AbortSignal', 'throwIfAborted'),
}

/**
 * Copies a skill into the folder of installed skills: it is there whole, or nothing has changed. Runs nothing of it.
 *
 * @param source a folder; or a git URL with https, ssh or file, and behind a `#` a branch, tag or commit, and behind a `:` a folder
 * of the repository: `https://example.org/skills.git#v2:pdf`
 * @returns its name
 * @throws by its promise: `invalid-argument`, `skill-not-found` where there is no folder, `skill-exists`, `invalid-skill` for one
 * with problems, with links that lead out of it, or above 50 MB or 2,000 files, `skill-fetch-failed`, `store-failed`
 */
export async function installSkill(source: string, options: InstallSkillOptions = {}): Promise<string> {
  checkOptions('installSkill', options, installShapes)
  refuseMisfit('installSkill', 'source', source, filledText)
  const { env = process.env, force = false, signal = new AbortController().signal, timeoutMs = 120_000 } = options
  const target = targetOf(options)
  const fromGit = gitSource(source)
  if (fromGit === undefined) {
    const folder = skillFolder(source, options)
    return install({ folder, shown: folder, name: basename(folder) }, target, force)
  }
  const into = await mkdtemp(join(tmpdir(), 'entia-skill-'))
  try {
    const folder = await checkedOut(fromGit, { into, env, signal, timeoutMs })
    return await install({ folder, shown: fromGit.shown, name: false }, target, force)
  } finally {
    await rm(into, { recursive: true, force: true })
  }
}

/**
 * Removes an installed skill, or a link to one.
 *
 * @param name that of its folder
 * @returns true
 * @throws by its promise: `skill-not-found`, `invalid-argument`
 */
export async function removeSkill(name: string, options: SkillTargetOptions = {}): Promise<true> {
  checkOptions('removeSkill', options, targetShapes)
  refuseMisfit('removeSkill', 'name', name, filledText)
  const target = targetOf(options)
  const place = join(target, name)
  const isChild = !name.startsWith('.') && !/[\\/\0]/.test(name)
  if (!isChild || !(await isSkillFolder(place))) {
    const what = `There is no skill '${cleanName(name)}' in ${target}.`
    throw new EntiaError('skill-not-found', `${what} listSkills() has all of them.`, { name, targetDir: target })
  }
  const gone = hidden(target, name)
  await rename(place, gone)
  await rm(gone, { recursive: true, force: true })
  return true
}

function targetOf({ cwd = '.', env = process.env, targetDir }: SkillTargetOptions): string {
  return targetDir === undefined ? join(folders(env, cwd).data, 'skills') : skillFolder(targetDir, { cwd, env })
}

/** A folder, or a link to one. */
async function isSkillFolder(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined)
  return stats?.isDirectory() === true || stats?.isSymbolicLink() === true
}

/** A name that no list shows. */
function hidden(target: string, name: string): string {
  return join(target, `.${name}-${randomBytes(6).toString('hex')}`)
}

interface Found {
  readonly folder: string
  /** As errors name it. */
  readonly shown: string
  /** That it must have; `false`: it may have any. */
  readonly name: string | false
}

async function install({ folder, name: wanted, shown }: Found, target: string, force: boolean): Promise<string> {
  const stats = await stat(folder).catch(() => undefined)
  if (stats?.isDirectory() !== true) {
    throw new EntiaError('skill-not-found', `There is no folder ${cleanName(shown)}.`, { source: shown })
  }
  const { matter, problems } = await readSkillFile(folder, wanted)
  if (matter === undefined) throw invalid(shown, problems)
  const { name } = matter
  const place = join(target, name)
  if (!force) await refuseExisting(name, place)
  const entries = await checkedTree(folder, shown)
  await makePrivateFolder(target)
  const copy = hidden(target, name)
  try {
    await copyTree(folder, entries, copy, shown)
    // The source may have changed while it was copied.
    const copied = await readSkillFile(copy, name)
    if (copied.matter === undefined) throw invalid(shown, copied.problems)
    await moveInto(place, copy, name, force)
  } catch (error) {
    await rm(copy, { recursive: true, force: true })
    throw isFileSystemError(error) ? notWritten(target, error) : error
  }
  return name
}

async function refuseExisting(name: string, place: string): Promise<void> {
  const stats = await lstat(place).catch(() => undefined)
  if (stats === undefined) return
  const what = `There is a skill '${name}' already, in ${place}.`
  throw new EntiaError('skill-exists', `${what} Install it with force: true to replace that.`, { name, path: place })
}

/** All that is to be copied. @throws `invalid-skill` with all that is wrong */
async function checkedTree(folder: string, shown: string): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = []
  const problems: string[] = []
  let sizeBytes = 0
  for await (const entry of treeOf(folder, skillLimits.maxFiles + 1)) {
    entries.push(entry)
    const path = cleanName(entry.path)
    if (entries.length > skillLimits.maxFiles) throw tooLarge(shown, `more than ${skillLimits.maxFiles} files`)
    if (entry.kind === 'file') sizeBytes += entry.stats.size
    if (sizeBytes > skillLimits.maxBytes) throw tooLarge(shown, `more than ${skillLimits.maxBytes} bytes`)
    if (entry.kind === 'other') problems.push(`${path} is neither file nor folder.`)
    if (entry.leadsInside === false) problems.push(`${path} is a link that leads out of the skill, or nowhere.`)
    if (entry.path.split('/').length > skillLimits.maxDepth)
      problems.push(`${path} lies deeper than ${skillLimits.maxDepth} folders.`)
  }
  if (problems.length > 0) throw invalid(shown, problems)
  return entries
}

async function copyTree(from: string, entries: readonly TreeEntry[], to: string, shown: string): Promise<void> {
  await mkdir(to, { mode: 0o755 })
  const budget = { leftBytes: skillLimits.maxBytes }
  for (const { kind, path, target = '' } of entries) {
    if (kind === 'folder') await mkdir(join(to, path), { mode: 0o755 })
    else if (kind === 'link') await symlink(target, join(to, path))
    else await copyFile(join(from, path), join(to, path), budget, shown)
  }
}

/** The source is not followed if it has become a link, nor waited for if it has become a pipe. */
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Of its mode, only that it can be run is kept. */
async function copyFile(from: string, to: string, budget: { leftBytes: number }, shown: string): Promise<void> {
  const source = await open(from, readFlags)
  try {
    const stats = await source.stat()
    if (!stats.isFile()) throw invalid(shown, [`${cleanName(from)} changed while it was copied.`])
    const copy = await open(to, 'wx', (stats.mode & 0o100) === 0 ? 0o644 : 0o755)
    try {
      const buffer = Buffer.alloc(65_536)
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, buffer.length, null)
        if (bytesRead === 0) return
        budget.leftBytes -= bytesRead
        if (budget.leftBytes < 0) throw tooLarge(shown, `more than ${skillLimits.maxBytes} bytes`)
        await copy.writeFile(buffer.subarray(0, bytesRead))
      }
    } finally {
      await copy.close()
    }
  } finally {
    await source.close()
  }
}

/** What was there before is put back if the new one cannot take its place. */
async function moveInto(place: string, copy: string, name: string, force: boolean): Promise<void> {
  if (!force) {
    await refuseExisting(name, place)
    return rename(copy, place)
  }
  const before = `${copy}-before`
  const isReplaced = await rename(place, before).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )
  try {
    await rename(copy, place)
  } catch (error) {
    if (isReplaced) await rename(before, place)
    throw error
  }
  await rm(before, { recursive: true, force: true })
}

function invalid(source: string, problems: readonly string[]): EntiaError {
  const lines = problems.slice(0, 20).map((problem) => `- ${problem}`)
  const more = problems.length > 20 ? [`- And ${problems.length - 20} more.`] : []
  const text = [`${cleanName(source)} is no skill that can be installed:`, ...lines, ...more].join('\n')
  return new EntiaError('invalid-skill', text, { source, problems })
}

function notWritten(target: string, cause: NodeJS.ErrnoException): EntiaError {
  const what = `The skill cannot be written into ${target}: ${cause.message}.`
  return new EntiaError('store-failed', `${what} Nothing has changed.`, { path: target }, { cause })
}
