import { join, posix, relative, sep } from 'node:path'
import type { ClosedKind, ClosedPlaces } from '../../rules/policy/closed-places.ts'
import { isCredentialFile } from '../../rules/policy/credential-paths.ts'
import { cleanName } from '../../tools/files/clean-text.ts'
import { LeftOut } from '../../tools/files/left-out.ts'
import { contains } from '../../tools/files/leads-to.ts'
import { Refusal } from '../../tools/files/refusal.ts'
import type { ToolContext } from '../../tools/port.ts'
import { closedPlaces } from '../policy/real-paths.ts'
import { git, gitRefusal, maxOutputBytes } from './git-command.ts'
import { nearestFolder, type Repository, repositoryAt } from './git-repository.ts'
import type { ToolSettings } from './settings.ts'
import { repositoryOf, WholeDisk } from './whole-disk.ts'

/**
 * What of a repository a call may see: what lies in the path that it names, or else in the working folder, and is not closed. The
 * repository may reach further up, or keep its work tree elsewhere.
 */
export class GitView {
  readonly leftOut = new LeftOut()
  /** Where git runs: the working folder, or one in another repository that the path leads to. */
  readonly folder: string
  /** Pathspecs of what may be seen; none where that is all. */
  readonly limits: readonly string[]
  readonly #repository: Repository
  readonly #limit: string
  readonly #isNamed: boolean
  #outside = 0
  readonly #places: ClosedPlaces
  readonly #closed: ClosedPlaces
  readonly #settings: ToolSettings
  readonly #context: ToolContext

  private constructor(parts: {
    readonly folder: string
    readonly repository: Repository
    readonly limit: string
    readonly isNamed: boolean
    readonly places: ClosedPlaces
    readonly settings: ToolSettings
    readonly context: ToolContext
  }) {
    const { limit, repository } = parts
    this.folder = parts.folder
    this.limits = contains(limit, repository.root) ? [] : [pathspec(relative(repository.root, limit))]
    this.#repository = repository
    this.#limit = limit
    this.#isNamed = parts.isNamed
    this.#places = parts.places
    this.#closed = parts.places.below(limit)
    this.#settings = parts.settings
    this.#context = parts.context
  }

  /** @throws Refusal */
  static async open(path: string | undefined, settings: ToolSettings, context: ToolContext): Promise<GitView> {
    const disk = new WholeDisk(settings)
    const cwd = (await disk.locate('.')).realPath
    const limit = path === undefined ? cwd : (await disk.locate(path)).realPath
    const nearest = await nearestFolder(limit)
    const isElsewhere = path !== undefined && (await repositoryOf(nearest)) !== (await repositoryOf(cwd))
    const folder = isElsewhere ? nearest : cwd
    const repository = await repositoryAt(folder, settings, context)
    const { root } = repository
    if (!contains(limit, root) && !contains(root, limit))
      throw Refusal.of(path ?? '.', 'is not in the work tree of its repository, which has core.worktree elsewhere.')
    const places = await closedPlaces(context.policy)
    return new GitView({ folder, repository, limit, isNamed: path !== undefined, places, settings, context })
  }

  /** Runs git here. @throws Refusal for an error of git */
  async run(args: readonly string[]) {
    const result = await git(this.folder, args, this.#settings, this.#context)
    if (result.exitCode !== 0 && !result.isCut) throw gitRefusal(result)
    return result
  }

  /** Why a change of files, by their names in the repository, is left out; `undefined`: it may be seen. */
  kindOfChange(names: readonly (Buffer | string)[]): ClosedKind | undefined {
    for (const name of names) {
      const path = join(this.#repository.root, name.toString())
      const kind = path === this.#limit ? undefined : kindWithin(this.#limit, path, this.#closed)
      if (kind !== undefined) return kind
    }
    return undefined
  }

  /** Counts changed files outside of the working folder, unless the call names a path. @param compared arguments of `git diff` */
  async countOutside(...compared: readonly (readonly string[])[]): Promise<void> {
    if (this.#isNamed || this.limits.length === 0) return
    const outside = new Set<string>()
    for (const what of compared) {
      const args = ['diff', '--name-only', '-z', ...namesOnly, ...what, '--']
      const { output } = await git(this.folder, args, this.#settings, this.#context)
      for (const name of output.toString().split('\0'))
        if (name !== '' && !contains(this.#limit, join(this.#repository.root, name))) outside.add(name)
    }
    this.#outside = outside.size
  }

  /** What a model reads: an output, and what is not in it. */
  text(output: string, isCut: boolean): string {
    const notes = [...(isCut ? [`stopped after ${maxOutputBytes / 1e6} MB`] : []), ...this.leftOut.notes()]
    if (this.#outside > 0) notes.push(`${this.#outside} files outside of the working folder skipped`)
    return [output.trimEnd(), ...notes.map((note) => `[${note}]`)].filter((part) => part !== '').join('\n')
  }

  /** A name in the repository as a model reads it. */
  shown(name: string): string {
    const way = slashed(relative(this.folder, join(this.#repository.root, name)))
    return cleanName(name.endsWith('/') ? `${way || '.'}/` : way)
  }

  /**
   * Checks a model's name of a revision: it names commits, or the file of a commit (`HEAD:path`), which may be seen itself. Trees are
   * refused: what they hold has other names in the repository.
   *
   * @throws Refusal
   */
  async checkRef(ref: string | undefined): Promise<'commits' | 'file' | undefined> {
    if (ref === undefined) return undefined
    if (ref.startsWith('-') || ref.includes('\0'))
      throw new Refusal("A ref must not start with '-' or hold a NUL character.")
    const found = await this.#revisions([ref])
    if (found === undefined) throw new Refusal(`git: fatal: bad revision '${cleanName(ref)}'`)
    const commits = await this.#revisions(found.map((each) => `${each.replace(/^\^/, '')}^{commit}`))
    if (commits?.length === found.length) return 'commits'
    const path = found.length === 1 ? await this.#pathIn(ref) : undefined
    if (path === undefined)
      throw Refusal.of(ref, 'names no commit. Give a commit, branch or range as ref, and the path as file.')
    const kind = kindWithin(this.folder, join(this.#repository.root, path), this.#places.below(this.folder))
    if (kind !== undefined)
      throw Refusal.of(ref, `is left out: it is a ${kind} ${kind === 'credential' ? 'file' : 'path'}.`)
    return 'file'
  }

  async #revisions(names: readonly string[]): Promise<readonly string[] | undefined> {
    const args = ['rev-parse', '--revs-only', ...names]
    const { exitCode, output } = await git(this.folder, args, this.#settings, this.#context)
    const lines = output
      .toString()
      .split('\n')
      .filter((line) => /^\^?[0-9a-f]{40,}$/.test(line))
    return exitCode !== 0 || lines.length === 0 ? undefined : lines
  }

  /** The path of `HEAD:path`, from the root, if that is a file; as git reads it, at the first colon outside of braces. */
  async #pathIn(ref: string): Promise<string | undefined> {
    const type = await git(this.folder, ['cat-file', '-t', ref], this.#settings, this.#context)
    if (type.output.toString().trim() !== 'blob') return undefined
    const [, path] = /^(?:[^:{]|\{[^}]*\})*:(?:[0-3]:)?(.+)$/s.exec(ref) ?? []
    if (path === undefined || !/^\.\.?\//.test(path)) return path
    return posix.join(slashed(relative(this.#repository.root, this.folder)), path)
  }
}

const namesOnly = ['--no-ext-diff', '--no-textconv', '--no-renames', '--ignore-submodules=dirty']

/** Why a path is left out of what is seen of a folder. */
function kindWithin(folder: string, path: string, closed: ClosedPlaces): ClosedKind | undefined {
  // What git lists lies within its pathspecs: what does not was not judged.
  if (!contains(folder, path)) return 'denied'
  return isCredentialFile(slashed(relative(folder, path))) ? 'credential' : closed.kindOf(path)
}

/** A path from the root of the repository, whatever characters are in it. */
function pathspec(path: string, magic = ''): string {
  return `:(top${magic},literal)${slashed(path)}`
}

/** Leaves out a file by its name in the repository; one that is no text cannot be given to git, and takes others like it along. */
export function excluding(name: Buffer): string {
  const text = name.toString()
  if (Buffer.from(text).equals(name)) return pathspec(text, ',exclude')
  const pattern = name.toString('latin1').replace(/[^ -~]|[*?[\\]/g, '?')
  return `:(top,exclude,glob)${pattern}`
}

function slashed(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/')
}
