import { randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join, normalize, resolve } from 'node:path'
import type { PolicyConfig } from '../../protocol/policy.ts'
import { policyDefaults } from '../../rules/policy/call.ts'
import { credentialFolders } from '../../rules/policy/credential-paths.ts'
import { absolute } from '../../rules/policy/paths.ts'
import { contains, leadsTo } from '../../tools/files/leads-to.ts'
import { type Folders, inHome, ownPaths } from '../config/folders.ts'
import { markVariable } from '../tools/process-marks.ts'
import { type PathLimits, startUpFiles } from './confined-paths.ts'
import { type ConfinedProgram, NotConfined, type Program, type Reach, type Sandbox } from './port.ts'
import { HostEnded, SandboxHost } from './sandbox-host.ts'
import { namespaceRefused, sandboxPackages, type SandboxParts, sandboxParts } from './sandbox-parts.ts'
import { stoppedIn } from './stopped-note.ts'

/** Options of `SessionSandbox.open`. */
export interface SandboxOptions {
  /** `require`: nothing is started without one. */
  readonly mode: 'auto' | 'require'
  /** The working folder, absolute. */
  readonly cwd: string
  readonly home: string
  /** Entia's own. */
  readonly folders: Folders
  readonly config: Pick<PolicyConfig, 'allowedPaths' | 'deniedPaths' | 'personalPaths'>
  /** What all programs in it may reach. @default none */
  readonly allowedDomains?: readonly string[] | undefined
}

/** The sandbox of one chat session or server: its limits are those of the policy, kept by the operating system. */
export class SessionSandbox implements Sandbox {
  readonly rules: string | undefined
  readonly #options: SandboxOptions
  readonly #limits: PathLimits
  readonly #parts: SandboxParts | undefined
  /** Why there is none. */
  #why: string | undefined
  /** Calls may have been let in without a question since. */
  #wasThere = false
  readonly #hosts = new Map<string, SandboxHost>()
  #folder: Promise<string> | undefined

  /** Looks for what a sandbox is made with. It is made with the first program, or before that by `begin`. */
  static async open(options: SandboxOptions): Promise<SessionSandbox> {
    const cwd = await leadsTo(options.cwd)
    const parts = await sandboxParts(cwd)
    const problem = /[*?[\]]/.test(cwd) ? `The name of the folder ${cwd} has one of *, ?, [ and ].` : undefined
    const found = 'why' in parts ? parts : problem === undefined ? parts : { why: problem }
    return new SessionSandbox(options, await limitsOf(cwd, options), found)
  }

  private constructor(options: SandboxOptions, limits: PathLimits, parts: SandboxParts | { readonly why: string }) {
    this.#options = options
    this.#limits = limits
    this.#parts = 'why' in parts ? undefined : parts
    this.#why = 'why' in parts ? parts.why : undefined
    this.rules = 'why' in parts ? undefined : this.#rulesFor({})
  }

  /** Why there is none, as far as that is known without a trial; `undefined`: there is one. */
  get missing(): string | undefined {
    return this.#why
  }

  /** Begins to make it, for programs that will come: that takes its time, which the first answer of a model takes too. */
  begin(): void {
    if (this.#why === undefined) this.#host(this.#domains({}))
  }

  /** Whether programs run in it: one was tried. */
  async isThere(): Promise<boolean> {
    if (this.#why !== undefined) return false
    const problem = await this.#host(this.#domains({})).problem()
    if (problem === undefined) this.#wasThere = true
    else this.#why = namespaceRefused(problem)
    return this.#why === undefined
  }

  async confined(program: Program, reach: Reach = {}): Promise<ConfinedProgram | undefined> {
    if (!(await this.isThere())) {
      const isRequired = this.#options.mode === 'require'
      if (!isRequired && !this.#wasThere) return undefined
      const what = isRequired ? 'a sandbox is required (sandbox: "require")' : 'the sandbox cannot be made any more'
      throw new NotConfined(`Nothing is started: ${what}. ${this.#why ?? ''}`)
    }
    if (!(await isProgram(program))) throw new NotConfined(`${program.file} cannot be started: ENOENT.`)
    try {
      return await this.#wrapped(program, reach)
    } catch (error) {
      throw new NotConfined(`The program was not started: the sandbox cannot be made: ${(error as Error).message}.`)
    }
  }

  async #wrapped(program: Program, reach: Reach): Promise<ConfinedProgram> {
    try {
      return await this.#wrappedBy(this.#host(this.#domains(reach)), program, reach)
    } catch (error) {
      // It was ended from outside, which shows only when it is asked.
      if (!(error instanceof HostEnded)) throw error
      return this.#wrappedBy(this.#host(this.#domains(reach)), program, reach)
    }
  }

  async #wrappedBy(host: SandboxHost, program: Program, reach: Reach): Promise<ConfinedProgram> {
    const run = randomUUID()
    const problem = await host.problem()
    if (problem !== undefined) throw new Error(problem)
    const folder = await this.#ownFolder()
    const limits = this.#limitsFor(reach, folder)
    const words = wordsOf(program)
    const line = await host.ask({ type: 'wrap', run, command: lineFor(words.length), paths: limits })
    return {
      file: '/bin/sh',
      args: ['-c', `exec ${line}`],
      cwd: program.cwd,
      env: { ...withoutEarly(program.env), ...handedOver(words, program.env, run, folder) },
      mark: run,
      rules: this.#rulesFor(reach),
      release: async () => void (await host.ask({ type: 'ended' }).catch(() => undefined)),
      stopped: async (printed, hasFailed) => {
        // Answered behind the end of the program: what stood in for guarded paths is gone by then.
        const denied = await host.ask({ type: 'denied', run }).catch(() => '')
        const what = stoppedIn({
          command: program.args.join('\n'),
          printed,
          hasFailed,
          deniedHosts: denied === '' ? [] : denied.split(' '),
          hidden: limits.hidden,
          home: this.#options.home,
        })
        return what && `[sandbox: ${what}. ${this.#rulesFor(reach)}]`
      },
    }
  }

  /** Ends what makes sandboxes, and removes the temporary folder. What runs in it must have ended. */
  async close(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined)
    const [first] = this.#hosts.values()
    if (folder !== undefined) await first?.ask({ type: 'remove', folder }).catch(() => undefined)
    for (const host of this.#hosts.values()) host.leave()
    this.#hosts.clear()
    this.#folder = undefined
  }

  #domains({ allowedDomains = this.#options.allowedDomains ?? [] }: Reach): readonly string[] {
    return [...new Set(allowedDomains)].toSorted()
  }

  #host(allowedDomains: readonly string[]): SandboxHost {
    const key = allowedDomains.join(' ')
    const known = this.#hosts.get(key)
    if (known !== undefined && !known.hasEnded) return known
    const host = SandboxHost.use({ allowedDomains, notes: notesFolder(), ...(this.#parts as SandboxParts) })
    this.#hosts.set(key, host)
    return host
  }

  async #ownFolder(): Promise<string> {
    const folder = (this.#folder ??= this.#host(this.#domains({})).ask({ type: 'folder' }))
    try {
      return await folder
    } catch (error) {
      if (this.#folder === folder) this.#folder = undefined
      throw error
    }
  }

  #limitsFor({ writePaths = [] }: Reach, folder: string): PathLimits {
    return { ...this.#limits, writable: [...this.#limits.writable, ...writePaths, folder] }
  }

  #rulesFor(reach: Reach): string {
    const domains = this.#domains(reach)
    const folders = [...this.#limits.folders, ...this.#limits.writable, ...(reach.writePaths ?? []), '$TMPDIR']
    return [
      `It allows writes in ${folders.join(', ')} only (not to .git/hooks, .git/config, .entia and start-up files)`,
      'no reading of credentials (.env too), denied and personal paths',
      domains.length === 0 ? 'and no network.' : `and of the network ${domains.join(', ')} only.`,
    ].join(', ')
  }
}

/** Where the system looks without a PATH. */
const usualPath = '/bin:/usr/bin'

/** Is the file there, as the system looks for it? In the sandbox a shell would say so, in words of its own. */
async function isProgram({ cwd, env, file }: Program): Promise<boolean> {
  const places = file.includes('/') ? [cwd] : (env['PATH'] ?? usualPath).split(delimiter)
  for (const place of places) {
    const isThere = await access(resolve(cwd, place, file), constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return true
  }
  return false
}

/** Arguments reach the program by the environment: in a line they would be quoted several times over. */
function lineFor(words: number): string {
  const names = Array.from({ length: words }, (_, at) => `ENTIA_WORD_${at}`)
  return [
    `set -- ${names.map((name) => `"$${name}"`).join(' ')}`,
    `TMPDIR="$ENTIA_TMPDIR"; ${markVariable}="$ENTIA_MARK"; export TMPDIR ${markVariable}`,
    `unset ${names.join(' ')} ENTIA_TMPDIR ENTIA_MARK`,
    'exec "$@"',
  ].join('; ')
}

/** The mark is set inside alone: what is marked is asked to end, and the sandbox ends with it. */
function handedOver(words: readonly string[], env: NodeJS.ProcessEnv, mark: string, folder: string): NodeJS.ProcessEnv {
  const outer = env[markVariable]
  return {
    ...Object.fromEntries(words.map((word, at) => [`ENTIA_WORD_${at}`, word])),
    ENTIA_MARK: outer === undefined ? mark : `${outer} ${mark}`,
    ENTIA_TMPDIR: folder,
  }
}

/**
 * Variables that lead the system's loader, or a shell, to files. Such a file may be a program's work, and what makes the sandbox runs
 * outside of it: they are set inside alone.
 */
const early = /^(?:LD_|DYLD_|GLIBC_|GCONV_PATH$|LOCPATH$|BASH_|ENV$|SHELLOPTS$|PS4$)/

function withoutEarly(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !early.test(name)))
}

function wordsOf({ args, env, file }: Program): readonly string[] {
  const set = Object.entries(env).flatMap(([name, value]) => (early.test(name) ? [`${name}=${value ?? ''}`] : []))
  return [...(set.length === 0 ? [] : ['/usr/bin/env', ...set]), file, ...args]
}

/** Shared by all sandboxes of a user, and written by none of their programs. */
function notesFolder(): string {
  return join(realpathSync(tmpdir()), `entia-stand-ins-${process.getuid?.() ?? ''}`)
}

async function limitsOf(cwd: string, { config, folders: own, home }: SandboxOptions): Promise<PathLimits> {
  const base = { home, cwd }
  const all = (paths: readonly string[]) =>
    Promise.all(paths.map((path) => leadsTo(normalize(absolute(inHome(path, home), base)))))
  const { allowedPaths, deniedPaths = [], personalPaths = policyDefaults.personalPaths } = config
  const allowed = allowedPaths === undefined ? [cwd] : await all(allowedPaths)
  const isWhole = allowed.some((path) => contains(path, cwd))
  const folders = isWhole ? [cwd] : allowed.filter((path) => contains(cwd, path))
  const credentials = await all(
    credentialFolders(home, { configFolder: own.config, ownPaths: ownPaths(own) }).filter(
      (path) => !path.includes('*'),
    ),
  )
  const ownFolders = await all([own.config, own.data, own.cache, own.state])
  const others = await all([...deniedPaths, ...personalPaths])
  return {
    folders,
    writable: [],
    guarded: [...ownFolders, ...credentials, ...startUpFiles(home), ...sandboxPackages(), notesFolder()].filter(
      (path) => {
        return folders.some((folder) => contains(folder, path))
      },
    ),
    hidden: [...new Set([...credentials, ...others])].filter((path) => path !== cwd),
  }
}
