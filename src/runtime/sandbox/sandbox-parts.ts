import { execFile } from 'node:child_process'
import { access, constants, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { contains } from '../../tools/files/leads-to.ts'

/** The programs that a sandbox is made with, absolute. */
export interface SandboxParts {
  /** Of Linux. */
  readonly bwrap?: string | undefined
  /** Of Linux. */
  readonly socat?: string | undefined
}

/** Why there is no sandbox, and what to do about it: two sentences. */
export interface NoSandboxHere {
  readonly why: string
}

const packageName = '@anthropic-ai/sandbox-runtime'
const maxTrialMs = 10_000

/** What a namespace needs at least; bubblewrap says why the system refuses it. */
const trial = '--unshare-user --unshare-pid --unshare-net --cap-drop ALL --ro-bind / / --dev /dev --proc /proc true'

/** Whether bubblewrap can make a namespace, by its program. */
const trials = new Map<string, Promise<string | undefined>>()

/**
 * Finds what makes a sandbox on this system, or what is missing.
 *
 * @param folder programs in it are not taken: they are the project's
 */
export async function sandboxParts(folder: string): Promise<SandboxParts | NoSandboxHere> {
  const { arch, platform } = process
  if (platform !== 'linux' && platform !== 'darwin') return { why: `There is no sandbox for ${platform}.` }
  if (!isInstalled()) {
    return { why: `The package ${packageName} is not installed. Type: npm install ${packageName}` }
  }
  if (platform === 'darwin') return {}
  // The package has its filter of sockets for these alone, and would run programs without it.
  if (arch !== 'x64' && arch !== 'arm64') return { why: `There is no sandbox for Linux on ${arch}.` }
  const [bwrap, socat] = await Promise.all([onPath('bwrap', folder), onPath('socat', folder)])
  if (bwrap === undefined || socat === undefined) {
    const missing = [...(bwrap === undefined ? ['bubblewrap'] : []), ...(socat === undefined ? ['socat'] : [])]
    const are = missing.length === 1 ? 'is' : 'are'
    const how = `Install ${missing.length === 1 ? 'it' : 'them'} with the package manager of your system, such as`
    return { why: `${missing.join(' and ')} ${are} not installed. ${how}: apt-get install ${missing.join(' ')}` }
  }
  const tried = trials.get(bwrap) ?? problemOf(bwrap)
  trials.set(bwrap, tried)
  const problem = await tried
  return problem === undefined ? { bwrap, socat } : { why: namespaceRefused(problem) }
}

/** Why there is no sandbox where the system refuses one. @param problem the words of the system */
export function namespaceRefused(problem: string): string {
  const advice = 'Let users of this machine make user namespaces: see "Where there is none" in docs/security.md.'
  return `The system refuses to make a namespace (${problem}). ${advice}`
}

/** Folders of packages that make the sandbox, absolute. What is no package yet is not among them. */
export function sandboxPackages(): readonly string[] {
  const files = [resolve('#sandbox-host'), ...(isInstalled() ? [resolve(packageName)] : [])]
  return files.flatMap((file) => /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+(?=[/\\])/.exec(file)?.[0] ?? [])
}

const { resolve } = createRequire(import.meta.url)

function isInstalled(): boolean {
  try {
    resolve(packageName)
    return true
  } catch {
    return false
  }
}

async function onPath(name: string, folder: string): Promise<string | undefined> {
  const places = (process.env['PATH'] ?? '').split(delimiter)
  for (const place of places.filter((each) => isAbsolute(each))) {
    const file = await realpath(join(place, name)).catch(() => undefined)
    if (file === undefined || contains(folder, file)) continue
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return undefined
}

async function problemOf(bwrap: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(bwrap, trial.split(' '), { timeout: maxTrialMs })
    return undefined
  } catch (error) {
    const { message, stderr = '' } = error as { readonly message: string; readonly stderr?: string }
    return stderr.trim().split('\n')[0] || message
  }
}
