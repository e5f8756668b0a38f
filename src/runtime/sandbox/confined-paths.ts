import { execFile } from 'node:child_process'
import { lstatSync, mkdirSync, rmdirSync } from 'node:fs'
import { dirname, join, parse, sep } from 'node:path'
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
 * Empty folders, which git and editors do not see, where a guarded path is not there: nothing can be mounted over what is not there.
 * They are made for all sandboxes of a process, since what one of them saw as missing must not be there for the next.
 */
export class StandIns {
  readonly #made = new Set<string>()

  /** Is a path there, and none of these? */
  isThere(path: string): boolean {
    return isThere(path) && !this.#made.has(path)
  }

  /** What of a path is to be mounted over, so that no program in a sandbox can write or make it. */
  guardAt(path: string): string {
    if (!isLinux) return path
    const { root } = parse(path)
    let place = root
    for (const name of path.slice(root.length).split(sep)) {
      place = join(place, name)
      if (this.#made.has(place)) return place
      if (isThere(place)) continue
      try {
        mkdirSync(place)
        this.#made.add(place)
        return place
      } catch {
        // Where the user cannot make it, bubblewrap says what is in the way.
        return join(path, 'guarded')
      }
    }
    return path
  }

  /** Removes them, once no sandbox runs. What others have put into one keeps it. */
  remove(): void {
    for (const place of [...this.#made].toReversed()) {
      try {
        rmdirSync(place)
      } catch {
        // It is in use, or gone.
      }
    }
    this.#made.clear()
  }
}

/**
 * What stands in the way of the limits now.
 *
 * @throws where a folder holds too much to be looked at
 */
export async function pathLists(
  { folders, writable, guarded, hidden }: PathLimits,
  ripgrep: string,
  standIns: StandIns,
): Promise<PathLists> {
  const found = (await Promise.all(folders.map((folder) => search(folder, ripgrep)))).flat()
  const repositories = found.filter((path) => path.endsWith('/config')).map((path) => dirname(path))
  const secrets = found.filter((path) => !path.endsWith('/config'))
  const closed = [
    ...folders.flatMap((folder) => guardedNames.map((name) => join(folder, name))),
    ...folders.flatMap((folder) => guardsOfGit(join(folder, '.git'))),
    ...repositories.flatMap(guardsOfRepository),
    ...guarded,
  ]
  return {
    allowWrite: [...folders, ...writable],
    denyWrite: [...new Set(closed.map((path) => standIns.guardAt(path)))],
    // Where something is not there, there is nothing to hide.
    denyRead: [...hidden.filter((path) => !isLinux || standIns.isThere(path)), ...secrets.map(asPattern)],
    allowRead: [...folders, ...writable],
  }
}

/** A path in which nothing stands for other characters. */
function asPattern(path: string): string {
  return path.replace(/[*?[]/g, '[$&]')
}

function guardsOfGit(path: string): readonly string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return []
  // In a worktree a file names the repository.
  return stats.isDirectory() ? guardsOfRepository(path) : [path]
}

function guardsOfRepository(folder: string): readonly string[] {
  const names = ['hooks', 'config', ...['config.worktree', 'commondir'].filter((name) => isThere(join(folder, name)))]
  return names.map((name) => join(folder, name))
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
