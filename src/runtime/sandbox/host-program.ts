import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { getDefaultWritePaths, SandboxManager, type SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime'
import { type PathLimits, type PathLists, pathLists } from './confined-paths.ts'
import type { SandboxParts } from './sandbox-parts.ts'
import { StandIns } from './stand-ins.ts'

/**
 * A process that makes sandboxes for the program which started it: the package keeps one set of domains, proxies and traces on the
 * disk a process. What it has made is cleared away when that program ends, however it ends.
 */

/** What the process is started with. */
export interface HostSettings extends SandboxParts {
  readonly allowedDomains: readonly string[]
  /** Where notes of stand-ins are, absolute. */
  readonly notes: string
}

/** What the program asks of this process. Each request gets one answer with its id. */
export type HostRequest = { readonly id: number } & (
  | { readonly type: 'folder' }
  | { readonly type: 'remove'; readonly folder: string }
  /** @param run names it until it has ended */
  | { readonly type: 'wrap'; readonly run: string; readonly command: string; readonly paths: PathLimits }
  | { readonly type: 'denied'; readonly run: string }
  | { readonly type: 'ended' }
)

/** What this process says: first that it is ready, or why it can make no sandbox. */
export type HostAnswer =
  | { readonly type: 'ready'; readonly problem?: string | undefined }
  | { readonly type: 'done'; readonly id: number; readonly value: string }
  | { readonly type: 'failed'; readonly id: number; readonly problem: string }

const { allowedDomains, bwrap, notes, socat } = JSON.parse(process.argv[2] ?? '{}') as HostSettings
const home = mkdtempSync(join(realpathSync(tmpdir()), 'entia-sandbox-'))
const standIns = new StandIns(notes)
/** Programs for which a sandbox was made, and that have not ended. */
let running = 0

// Signals of the terminal are for the program: this process ends with it.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})
process.on('message', (request: HostRequest) => void answer(request))
process.once('disconnect', () => void end())
// The package takes what stands in the working folder for the project's.
process.chdir(home)

const shell = '/bin/sh'

/**
 * On Linux the package starts the ends of its proxies beside the command, which may ask before they listen (ports 3128 and 1080, as
 * the system lists them). Waits at most two seconds.
 */
const proxiesListen = ['0C38', '0438']
  .map((port) => `grep -qs ":${port} 0*:0000 0A" /proc/net/tcp /proc/net/tcp6`)
  .join(' && ')
const untilProxiesListen = `for _ in $(seq 200); do ${proxiesListen} && break; sleep 0.01; done`

const config: SandboxRuntimeConfig = {
  network: { allowedDomains: [...allowedDomains], deniedDomains: [], strictAllowlist: true },
  filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
  // It would look for files in the working folder of this process, which is empty.
  ripgrep: { command: shell, args: ['-c', 'exit 1'] },
  ...(bwrap !== undefined && { bwrapPath: bwrap }),
  ...(socat !== undefined && { socatPath: socat }),
  allowPty: true,
}

send({ type: 'ready', ...(await begun()) })

/** Makes what all sandboxes share, and tries one. */
async function begun(): Promise<{ readonly problem?: string }> {
  try {
    // Without a domain the network is closed by itself: proxies would only say so.
    if (allowedDomains.length > 0) await SandboxManager.initialize(config)
    // No program has this name, so none is started for each sandbox: the package goes on without what it would find.
    SandboxManager.updateConfig({ ...config, ripgrep: { command: '' } })
    const command = await wrapped('trial', 'true', { folders: [], writable: [], guarded: [], hidden: [] })
    try {
      await promisify(execFile)(shell, ['-c', `exec ${command}`], { timeout: 10_000 })
    } finally {
      hasEnded()
    }
    return {}
  } catch (error) {
    const { message, stderr } = error as { readonly message: string; readonly stderr?: string }
    return { problem: stderr?.trim().split('\n')[0] || message }
  }
}

async function wrapped(run: string, command: string, limits: PathLimits): Promise<string> {
  running++
  try {
    return await lineOf(run, command, await pathLists(limits, standIns))
  } catch (error) {
    leave()
    throw error
  }
}

function hasEnded(): void {
  SandboxManager.cleanupAfterCommand()
  leave()
}

function leave(): void {
  if (--running === 0) standIns.remove()
}

async function lineOf(run: string, command: string, lists: PathLists): Promise<string> {
  const { allowRead, allowWrite, denyRead, denyWrite } = lists
  // Places that the package leaves writable for others.
  const usual = getDefaultWritePaths().filter((path) => {
    return !path.startsWith('/dev/') && existsSync(path) && !allowWrite.some((one) => `${one}/`.startsWith(`${path}/`))
  })
  return SandboxManager.wrapWithSandbox(
    process.platform === 'linux' && allowedDomains.length > 0 ? `${untilProxiesListen}; ${command}` : command,
    shell,
    {
      network: { allowedDomains: [...allowedDomains], deniedDomains: [] },
      filesystem: {
        allowRead: [...allowRead],
        allowWrite: [...allowWrite],
        denyRead: [...denyRead],
        denyWrite: [...denyWrite, ...usual],
      },
    },
    undefined,
    { commandId: run },
  )
}

async function answer(request: HostRequest): Promise<void> {
  const { id } = request
  try {
    send({ type: 'done', id, value: await valueFor(request) })
  } catch (error) {
    send({ type: 'failed', id, problem: (error as Error).message })
  }
}

async function valueFor(request: HostRequest): Promise<string> {
  switch (request.type) {
    case 'folder':
      return mkdtempSync(join(home, 'tmp-'))
    case 'remove':
      rmSync(request.folder, { recursive: true, force: true })
      return ''
    case 'wrap':
      return wrapped(request.run, request.command, request.paths)
    case 'denied': {
      const lines = SandboxManager.getSandboxViolationStore().getViolationsForCommand(request.run)
      return [...new Set(lines.map(({ line }) => /network-outbound (\S+)/.exec(line)?.[1] ?? ''))].join(' ').trim()
    }
    case 'ended':
      hasEnded()
      return ''
  }
}

function send(message: HostAnswer): void {
  // A program that has ended is known by its end.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}

async function end(): Promise<void> {
  await SandboxManager.reset().catch(() => undefined)
  standIns.remove()
  process.chdir('/')
  try {
    // What ran in a sandbox may end a moment after the program.
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  } finally {
    process.exit()
  }
}
