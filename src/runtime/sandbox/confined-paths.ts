import { statSync } from 'node:fs'
import { join } from 'node:path'
import { guardedIn } from './guarded-in.ts'
import type { StandIns } from './stand-ins.ts'

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
  '.entia .vscode .idea .zed .helix .claude .codex .cursor .gemini .mcp.json .envrc .gitconfig',
  '.bashrc .bash_profile .bash_login .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin',
)

/** What shells, desktops and the system run by themselves, in a home folder. */
const homeNames = words(
  '.bash_logout .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .inputrc .config/fish bin .local/bin',
  '.xprofile .xinitrc .xsession .xsessionrc .pam_environment .config/autostart .config/environment.d .config/systemd',
  'Library/LaunchAgents',
)

/** Files and folders of a home folder whose programs run by themselves, besides those that no project has either. */
export function startUpFiles(home: string): readonly string[] {
  return homeNames.map((name) => join(home, name))
}

function words(...lines: readonly string[]): readonly string[] {
  return lines.join(' ').split(' ')
}

/**
 * What stands in the way of the limits now.
 *
 * @throws where a folder holds what cannot be guarded
 */
export async function pathLists(limits: PathLimits, standIns: StandIns): Promise<PathLists> {
  const folders = limits.folders.filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
  const found = await Promise.all(folders.map((folder) => guardedIn(folder)))
  const closed = found.flatMap((each) => each.closed)
  const denyWrite = standIns.guard([
    ...folders.flatMap((folder) => guardedNames.map((name) => ({ path: join(folder, name) }))),
    ...found.flatMap(({ guarded }) => guarded),
    ...[...limits.guarded, ...closed].map((path) => ({ path })),
  ])
  const writable = [...limits.folders, ...limits.writable]
  const secrets = found.flatMap((each) => each.secrets)
  return {
    allowWrite: writable,
    denyWrite: [...new Set(denyWrite)],
    // Where something is not there, there is nothing to hide.
    denyRead: [
      ...limits.hidden.filter((path) => process.platform !== 'linux' || standIns.isThere(path)),
      ...[...secrets, ...closed].map(asPattern),
    ],
    allowRead: writable,
  }
}

/** A path in which nothing stands for other characters. */
function asPattern(path: string): string {
  return path.replace(/[*?[]/g, '[$&]')
}
