import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { contains, leadsTo } from '../../tools/files/leads-to.ts'
import { Refusal } from '../../tools/files/refusal.ts'
import type { ToolContext } from '../../tools/port.ts'
import { inHome } from '../config/folders.ts'
import { git, gitRefusal } from './git-command.ts'
import type { ToolSettings } from './settings.ts'

/** A repository, as git finds it from a folder. All paths are absolute, without links. */
export interface Repository {
  /** What names of files count from: the work tree; of a bare repository its own folder. */
  readonly root: string
  /** Where its index lies, and in most repositories all of it. */
  readonly gitDir: string
  /** Where its objects and its configuration lie. */
  readonly commonDir: string
}

type Settings = Pick<ToolSettings, 'environment'>
type Signal = Pick<ToolContext, 'signal'>

/** @throws Refusal where there is none, and where git cannot run */
export async function repositoryAt(folder: string, settings: Settings, context: Signal): Promise<Repository> {
  const asked = ['--is-bare-repository', '--absolute-git-dir', '--git-common-dir', '--show-toplevel']
  const result = await git(folder, ['rev-parse', ...asked], settings, context)
  const [isBare, gitDir, commonDir, top, ...more] = result.output.toString().trimEnd().split('\n')
  // A bare one has no work tree to show.
  const isFound = result.exitCode === 0 || (isBare === 'true' && commonDir !== undefined)
  if (!isFound || gitDir === undefined || commonDir === undefined) throw gitRefusal(result)
  if (more.length > 0) throw new Refusal('The path of the repository has a line break in it.')
  return {
    root: await leadsTo(top ?? gitDir),
    gitDir: await leadsTo(gitDir),
    commonDir: await leadsTo(resolve(folder, commonDir)),
  }
}

/** The folder that a path is, or the nearest above it that is there. */
export async function nearestFolder(path: string): Promise<string> {
  let folder = path
  while (!(await isFolder(folder)) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}

/** What a repository has git do besides reading the files that a call names, by its own configuration and its own links. */
export interface RepositoryFacts {
  /** It sets filters, programs that `git_status` and `git_diff` run. */
  readonly runsPrograms: boolean
  /** Files and folders elsewhere that git reads: another repository, or a file that the configuration includes. */
  readonly reads: readonly string[]
}

const none: RepositoryFacts = { runsPrograms: false, reads: [] }
const maxReads = 20

/** Where there is no repository, or git cannot read it, the tools of git read nothing either. */
export async function repositoryFacts(folder: string, settings: Settings, context: Signal): Promise<RepositoryFacts> {
  const repository = await repositoryAt(folder, settings, context).catch((error: unknown) => {
    if (error instanceof Refusal) return undefined
    throw error
  })
  if (repository === undefined) return none
  const own = await ownFolders(await leadsTo(folder), repository)
  const isElsewhere = (path: string): boolean => !own.some((each) => contains(each, path))
  const { named, runsPrograms } = await configured(folder, repository, settings, context)
  const { commonDir, gitDir } = repository
  const inside = [...(await linkedFrom(gitDir)), ...(gitDir === commonDir ? [] : await linkedFrom(commonDir))]
  const read = await Promise.all([gitDir, commonDir, ...inside, ...named].map((path) => leadsTo(path)))
  return { runsPrograms, reads: [...new Set(read.filter(isElsewhere))].slice(0, maxReads) }
}

/**
 * Folders that are a repository's own. Its `.git` may be a file or a link that leads anywhere: what it leads to counts if that
 * names the folder as its own in turn, as the parts of linked work trees and of submodules do.
 */
async function ownFolders(folder: string, { commonDir, gitDir }: Repository): Promise<readonly string[]> {
  const home = await homeOf(folder, gitDir)
  if (home === undefined) return contains(gitDir, folder) ? [gitDir] : []
  if (contains(home, gitDir)) return [home]
  const isOf = async (path: string | undefined, place: string): Promise<boolean> =>
    path !== undefined && (await leadsTo(resolve(gitDir, path))) === place
  const back = (await textOf(join(gitDir, 'gitdir')))?.trimEnd()
  if (contains(join(commonDir, 'worktrees'), gitDir) && (await isOf(back, join(home, '.git')))) return [home, commonDir]
  const tree = /^\s*worktree\s*=\s*"?(.+?)"?\s*$/m.exec((await textOf(join(gitDir, 'config'))) ?? '')?.[1]
  return (await isOf(tree, home)) ? [home, gitDir] : [home]
}

/** The folder, from a folder upwards, whose `.git` leads to a repository. */
async function homeOf(folder: string, gitDir: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const place = await leadsTo(join(at, '.git'))
    const target = /^gitdir: (.+?)\r?\n*$/.exec((await textOf(place)) ?? '')?.[1]
    if (place === gitDir || (target !== undefined && (await leadsTo(resolve(at, target))) === gitDir)) return at
    if (dirname(at) === at) return undefined
  }
}

const maxTextBytes = 65_536

/** A small file's text; `undefined` if it is none. */
async function textOf(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined)
  if (stats?.isFile() !== true || stats.size > maxTextBytes) return undefined
  return readFile(path, 'utf8').catch(() => undefined)
}

/** Links in a repository's folder and in the folders right in it, and where objects are borrowed from. */
async function linkedFrom(folder: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const at of [folder, ...(await entriesOf(folder, 'folder'))]) found.push(...(await entriesOf(at, 'link')))
  const objects = join(folder, 'objects')
  const alternates = (await textOf(join(objects, 'info/alternates')))?.split('\n') ?? []
  return [...found, ...alternates.filter((line) => /^[^#\s]/.test(line)).map((line) => resolve(objects, line))]
}

async function entriesOf(folder: string, kind: 'folder' | 'link'): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const wanted = entries.filter((entry) => (kind === 'link' ? entry.isSymbolicLink() : entry.isDirectory()))
  return wanted.map(({ name }) => join(folder, name))
}

/** What the repository's own configuration names: programs that git would run, and files that git reads. */
async function configured(folder: string, { root }: Repository, settings: Settings, context: Signal) {
  const keys = String.raw`^(filter\..*|include\.path|includeif\..*\.path|core\.(attributesfile|excludesfile)|mailmap\.file)$`
  const asked = ['config', '--includes', '--show-scope', '--show-origin', '-z', '--get-regexp', keys]
  const fields = (await git(folder, asked, settings, context)).output.toString().split('\0')
  const named: string[] = []
  let runsPrograms = false
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [scope = '', origin = '', entry = ''] = fields.slice(at, at + 3)
    if (scope !== 'local' && scope !== 'worktree') continue
    const [key = '', path = ''] = entry.split(/\n(.*)/s)
    if (key.startsWith('filter.')) runsPrograms = true
    else {
      const base = key.startsWith('include') ? dirname(resolve(root, origin.replace(/^file:/, ''))) : root
      named.push(resolve(base, inHome(path, settings.environment()['HOME'])))
    }
  }
  return { named, runsPrograms }
}
