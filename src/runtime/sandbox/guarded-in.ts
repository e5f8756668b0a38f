import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { GuardedPath } from './stand-ins.ts'

/** What lies anywhere in a folder and is not a program's to read or to write. */
export interface GuardedIn {
  /** Files with secrets. */
  readonly secrets: readonly string[]
  /** What git and Mercurial obey: of a repository its configuration and hooks, and files that name another repository. */
  readonly guarded: readonly GuardedPath[]
  /** What is neither read nor written: folders that the user cannot list, since a program may give itself the right to. */
  readonly closed: readonly string[]
}

/** How deep it is looked for. */
const maxDepth = 5
const maxFolders = 200_000
/** Most that are found: bubblewrap takes some thousand paths. */
const maxFound = 1_000

const secretName = /^\.env(?:\..+)?$/i
const harmlessName = /\.(?:example|sample|template)$/i

/** @throws where a folder holds too much to be looked at, and where a name cannot be told to the system */
export async function guardedIn(folder: string): Promise<GuardedIn> {
  const search = new Search(folder)
  await search.look(bytesOf(folder), 1)
  return search
}

interface Entry {
  readonly name: string
  /** A link to one is none. */
  readonly isFolder: boolean
}

/** Paths in here have a character for each byte: a name need not be UTF-8. */
class Search implements GuardedIn {
  readonly secrets: string[] = []
  readonly guarded: GuardedPath[] = []
  readonly closed: string[] = []
  readonly #folder: string
  #folders = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  async look(folder: string, depth: number): Promise<void> {
    const inner: (() => Promise<void>)[] = []
    for (const { isFolder, name } of await this.#entries(folder)) {
      const path = join(folder, name)
      if (name.toLowerCase() === '.git') {
        // The package takes these names for patterns, and guards by none of them.
        if (/[*?[\]]/.test(path)) this.closed.push(this.#said(path))
        // In a worktree and in a submodule a file names the repository.
        else if (isFolder) inner.push(() => this.#repository(path))
        else this.guarded.push({ path: this.#said(path) })
      } else if (isFolder) {
        if (name === '.hg') this.guarded.push({ path: this.#said(join(path, 'hgrc')), standIn: '' })
        if (depth < maxDepth && name !== 'node_modules') inner.push(() => this.look(path, depth + 1))
      } else if (secretName.test(name) && !harmlessName.test(name)) {
        this.secrets.push(this.#said(path))
      }
    }
    this.#check()
    await Promise.all(inner.map((each) => each()))
  }

  async #repository(path: string): Promise<void> {
    for (const [name, standIn] of obeyed) this.guarded.push({ path: this.#said(join(path, name)), ...standIn })
    this.#check()
    await Promise.all([this.#modules(join(path, 'modules'), 1), this.#worktrees(join(path, 'worktrees'))])
  }

  /** Repositories of submodules. */
  async #modules(folder: string, depth: number): Promise<void> {
    const entries = await this.#entries(folder)
    const isRepository = (path: string) =>
      this.#entries(path).then((inner) => inner.some(({ name }) => name === 'HEAD'))
    const folders = entries.filter(({ isFolder }) => isFolder).map(({ name }) => join(folder, name))
    await Promise.all(
      folders.map(async (path) => {
        if (await isRepository(path)) await this.#repository(path)
        else if (depth < maxDepth) await this.#modules(path, depth + 1)
      }),
    )
  }

  async #worktrees(folder: string): Promise<void> {
    for (const { name } of await this.#entries(folder)) {
      const path = this.#said(join(folder, name))
      this.guarded.push({ path: join(path, 'commondir') }, { path: join(path, 'config.worktree'), standIn: '' })
    }
  }

  /** None where it is gone, or no folder. */
  async #entries(folder: string): Promise<readonly Entry[]> {
    if (++this.#folders > maxFolders) throw new Error(`${this.#folder} holds more than ${maxFolders} folders`)
    try {
      const found = await readdir(Buffer.from(folder, 'latin1'), { withFileTypes: true, encoding: 'buffer' })
      return found.map((entry) => ({ name: entry.name.toString('latin1'), isFolder: entry.isDirectory() }))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EACCES' || code === 'EPERM') this.closed.push(this.#said(folder))
      else if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
      return []
    }
  }

  #check(): void {
    const found = this.secrets.length + this.guarded.length / obeyed.length
    if (found > maxFound) throw new Error(`${this.#folder} holds more than ${maxFound} repositories and .env files`)
  }

  #said(path: string): string {
    const bytes = Buffer.from(path, 'latin1')
    const text = bytes.toString('utf8')
    if (!bytes.equals(Buffer.from(text))) throw new Error(`${text} has a name that is not UTF-8 and cannot be guarded`)
    return text
  }
}

/** What git obeys in a repository, with what stands for each one that is not there. */
const obeyed: readonly (readonly [name: string, standIn?: Pick<GuardedPath, 'standIn'>])[] = [
  ['hooks'],
  ['config', { standIn: '' }],
  ['config.worktree', { standIn: '' }],
  // Names the folder with the configuration: itself, as without.
  ['commondir', { standIn: '.\n' }],
]

function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}
