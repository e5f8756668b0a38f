import { execFile } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** What a program in the sandbox may touch. All paths are absolute. */
export interface PathLimits {
  /** Folders to work in: writable, but for what tools and shells run by themselves. */
  readonly folders: readonly string[]
  /** Other paths that are writable as a whole. */
  readonly writable: readonly string[]
  /** Paths in those that are not. */
  readonly guarded: readonly string[]
  /** Paths that are not read, unless they hold one of the folders. */
  readonly hidden: readonly string[]
}

/** The same as lists for the system. */
export interface PathLists {
  readonly allowWrite: readonly string[]
  readonly denyWrite: readonly string[]
  readonly denyRead: readonly string[]
  readonly allowRead: readonly string[]
}

/** What editors, shells, agents and git run or obey without a question, in the folder that is worked in. */
const guardedNames = words(
  '.entia .vscode .idea .claude .cursor .mcp.json .envrc .gitconfig',
  '.bashrc .bash_profile .bash_login .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin',
)

/** How deep in a folder repositories and `.env` files are looked for. */
const maxDepth = 5
/** Most that are found: bubblewrap takes some thousand paths. */
const maxFound = 1_000
const maxSearchMs = 10_000

const isLinux = process.platform === 'linux'

function words(...lines: readonly string[]): readonly string[] {
  return lines.join(' ').split(' ')
}

/**
 * What stands in the way of the limits now.
 *
 * @throws where a folder holds too much to be looked at
 */
export async function pathLists(
  { folders, writable, guarded, hidden }: PathLimits,
  ripgrep: string,
): Promise<PathLists> {
  const found = (await Promise.all(folders.map((folder) => search(folder, ripgrep)))).flat()
  const repositories = found.filter((path) => path.endsWith('/config')).map((path) => dirname(path))
  const secrets = found.filter((path) => !path.endsWith('/config'))
  return {
    allowWrite: [...folders, ...writable],
    denyWrite: [
      ...folders.flatMap((folder) => guardedNames.map((name) => guardAt(join(folder, name)))),
      ...folders.flatMap((folder) => guardsOfGit(join(folder, '.git'))),
      ...repositories.flatMap(guardsOfRepository),
      ...guarded.map(guardAt),
    ],
    // Where something is not there, there is nothing to hide.
    denyRead: [...hidden.filter((path) => !isLinux || isThere(path)), ...secrets.map(asPattern)],
    allowRead: [...folders, ...writable],
  }
}

/** A path in which nothing stands for other characters. */
function asPattern(path: string): string {
  return path.replace(/[*?[]/g, '[$&]')
}

/** Nothing can be mounted over what is not there, so a folder is, which git and editors do not see: an empty one. */
function guardAt(path: string): string {
  return !isLinux || isThere(path) ? path : join(path, 'guarded')
}

function guardsOfGit(path: string): readonly string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return []
  // In a worktree a file names the repository.
  return stats.isDirectory() ? guardsOfRepository(path) : [path]
}

function guardsOfRepository(folder: string): readonly string[] {
  const names = ['hooks', 'config', ...['config.worktree', 'commondir'].filter((name) => isThere(join(folder, name)))]
  return names.map((name) => guardAt(join(folder, name)))
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** Files with secrets, and the configurations of repositories in a folder. */
async function search(folder: string, ripgrep: string): Promise<readonly string[]> {
  const globs = ['.env', '.env.*', '**/.git/config', '**/.git/modules/**/config']
  const left = ['*.example', '*.sample', '*.template', '**/node_modules/**']
  const args = [
    '--no-config',
    '--files',
    '--null',
    '--hidden',
    '--no-ignore',
    `--max-depth=${maxDepth}`,
    ...globs.map((glob) => `--iglob=${glob}`),
    ...left.map((glob) => `--iglob=!${glob}`),
  ]
  const { stdout } = await promisify(execFile)(ripgrep, args, {
    cwd: folder,
    timeout: maxSearchMs,
    maxBuffer: 10_000_000,
  }).catch((error: { readonly code?: unknown; readonly killed?: boolean; readonly stdout?: string }) => {
    // Without a file ripgrep ends with 1, and with 2 where it could not read a folder: neither can the program then.
    if ((error.code !== 1 && error.code !== 2) || error.killed === true) throw error
    return { stdout: error.stdout ?? '' }
  })
  const found = stdout.split('\0').filter((path) => path !== '')
  if (found.length > maxFound) throw new Error(`${folder} holds more than ${maxFound} repositories and .env files`)
  return found.map((path) => join(folder, path))
}
