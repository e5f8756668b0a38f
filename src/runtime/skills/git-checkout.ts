import { collapsed } from '../../base/one-line.ts'
import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { cutText } from '../../base/cut-text.ts'
import { cleanText } from '../../tools/files/clean-text.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { childEnvironment } from '../tools/child-environment.ts'
import { NotStarted, runProcess } from '../tools/process-tree.ts'
import type { GitSource } from './skill-source.ts'
import { skillLimits, tooLarge } from './skill-limits.ts'

export interface CheckoutOptions {
  /** An empty folder, absolute: it gets the repository and, in `tree`, its files. */
  readonly into: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** Of each command of git, in milliseconds of real time. */
  readonly timeoutMs: number
}

const maxOutputBytes = 4_000_000
/** How often the size of what arrives is looked at. */
const watchMs = 50
const maxNamed = 10

/**
 * Fetches one commit of a repository, looks at its list of files, and only then writes those of the skill's folder. Runs no
 * hooks and no filters, fetches no submodules, and asks nobody.
 *
 * @returns the skill's folder
 * @throws `skill-fetch-failed`, `invalid-skill` for one that is too large or is none; the signal's reason
 */
export async function checkedOut(source: GitSource, options: CheckoutOptions): Promise<string> {
  const repository = join(options.into, 'repository')
  const tree = join(options.into, 'tree')
  const git = (args: readonly string[]): Promise<string> => run(args, source, options)
  await git(['init', '--quiet', '--bare', '--template=', repository])
  const inIt = [`--git-dir=${repository}`]
  const what = ['--depth=1', '--no-tags', '--no-recurse-submodules', '--no-auto-gc', '--no-write-commit-graph']
  await watched(repository, source, options, (signal) =>
    run([...inIt, 'fetch', '--quiet', ...what, '--', source.url, source.ref ?? 'HEAD'], source, { ...options, signal }),
  )
  const files = entriesOf(await git([...inIt, 'ls-tree', '-r', '-l', '-z', '--full-tree', 'FETCH_HEAD']))
  const wanted = source.folder === undefined ? files : files.filter(({ path }) => path.startsWith(`${source.folder}/`))
  refuseWrong(wanted, files, source)
  const own = [...inIt, `--work-tree=${tree}`, '--literal-pathspecs']
  await mkdir(tree)
  await run([...own, 'checkout', '--quiet', '--force', 'FETCH_HEAD', '--', source.folder ?? '.'], source, {
    ...options,
    env: { ...options.env, ...noConfiguration },
  })
  return source.folder === undefined ? tree : join(tree, source.folder)
}

/** The user's configuration says how servers are reached; files are written without it, as it may name filters. */
const noConfiguration = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

interface RepositoryFile {
  readonly path: string
  readonly sizeBytes: number
}

/** Lines of `git ls-tree -l -z`: `mode type id size\tpath`. Submodules have no size, and are left out. */
function entriesOf(output: string): readonly RepositoryFile[] {
  return output.split('\0').flatMap((line) => {
    const [facts = '', path = ''] = line.split(/\t(.*)/s)
    const [, type, , size] = facts.split(/ +/)
    return type === 'blob' ? [{ path, sizeBytes: Number(size) }] : []
  })
}

function refuseWrong(wanted: readonly RepositoryFile[], all: readonly RepositoryFile[], source: GitSource): void {
  const file = source.folder === undefined ? 'SKILL.md' : `${source.folder}/SKILL.md`
  if (!wanted.some(({ path }) => path === file)) {
    const others = all
      .filter(({ path }) => path.endsWith('/SKILL.md'))
      .map(({ path }) => path.slice(0, -'/SKILL.md'.length))
    const named = others
      .slice(0, maxNamed)
      .map((folder) => cleanText(folder))
      .join(', ')
    const more = others.length > maxNamed ? ` and ${others.length - maxNamed} more` : ''
    const where = `${source.shown}#${source.ref ?? ''}:${cleanText(others[0] ?? '')}`
    const hint = others.length === 0 ? '' : ` There are skills in ${named}${more}: name one, such as ${where}`
    throw new EntiaError('invalid-skill', `${source.shown} has no ${file}.${hint}`, {
      source: source.shown,
      folders: others,
    })
  }
  const sizeBytes = wanted.reduce((sum, each) => sum + each.sizeBytes, 0)
  if (wanted.length > skillLimits.maxFiles) throw tooLarge(source.shown, `${wanted.length} files`)
  if (sizeBytes > skillLimits.maxBytes) throw tooLarge(source.shown, `${sizeBytes} bytes`)
}

/** Stops a fetch that brings more than a skill may have, before it fills the disk. */
async function watched(
  repository: string,
  source: GitSource,
  { signal }: CheckoutOptions,
  fetch: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const tooMuch = new AbortController()
  let isLooking = false
  const look = async (): Promise<void> => {
    const sizeBytes = await bytesIn(repository)
    isLooking = false
    if (sizeBytes > skillLimits.maxFetchedBytes)
      tooMuch.abort(tooLarge(source.shown, `more than ${sizeBytes} bytes to fetch`))
  }
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    void look()
  }, watchMs)
  try {
    await fetch(AbortSignal.any([signal, tooMuch.signal]))
  } finally {
    clearInterval(timer)
  }
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const sizes = await Promise.all(
    entries.map(async (entry) => (await stat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size ?? 0),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Settings that let a repository or its server run programs, switched off. */
const switches = Object.entries({
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.symlinks': 'true',
  'fetch.recurseSubmodules': 'false',
  'fetch.writeCommitGraph': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
}).flatMap(([name, value]) => ['-c', `${name}=${value}`])

async function run(args: readonly string[], source: GitSource, options: CheckoutOptions): Promise<string> {
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  let sizeBytes = 0
  try {
    const { exitCode, timedOut } = await runProcess({
      file: 'git',
      args: ['--no-pager', ...switches, ...args],
      cwd: options.into,
      env: gitEnvironment(source, options.env),
      timeoutMs: options.timeoutMs,
      signal: options.signal,
      output: (bytes, stream) => {
        chunks[stream].push(bytes)
        return (sizeBytes += bytes.length) <= maxOutputBytes
      },
    })
    if (timedOut) throw failed(source, `It took more than ${options.timeoutMs / 1_000} s.`)
    if (sizeBytes > maxOutputBytes) throw tooLarge(source.shown, `more than ${skillLimits.maxFiles} files`)
    if (exitCode !== 0) throw failed(source, problemIn(Buffer.concat(chunks.stderr).toString(), source))
    return Buffer.concat(chunks.stdout).toString()
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error
    throw failed(source, error.code === 'ENOENT' ? 'git is not installed.' : error.message)
  }
}

/** Without variables that lead git elsewhere or name programs; nothing is asked, and no other transport is used. */
function gitEnvironment({ transport }: GitSource, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GIT_CONFIG_GLOBAL, GIT_CONFIG_NOSYSTEM } = env
  const inherited = Object.entries(childEnvironment(env, [])).filter(([name]) => !/^(GIT_|SSH_ASKPASS)/.test(name))
  return {
    ...Object.fromEntries(inherited),
    ...(GIT_CONFIG_GLOBAL !== undefined && { GIT_CONFIG_GLOBAL }),
    ...(GIT_CONFIG_NOSYSTEM !== undefined && { GIT_CONFIG_NOSYSTEM }),
    GIT_ALLOW_PROTOCOL: transport,
    GIT_ASKPASS: '',
    GIT_TERMINAL_PROMPT: '0',
    GCM_INTERACTIVE: 'never',
    SSH_ASKPASS_REQUIRE: 'never',
    LC_ALL: 'C.UTF-8',
  }
}

/** What git and its helpers call the error, on one line. */
function problemIn(output: string, source: GitSource): string {
  const text = cleanText(output)
    .replaceAll(source.url, source.shown)
    .replaceAll(/\/\/[^/@\s]*@/g, '//…@')
  const lines = text.trim().split('\n')
  const errors = lines.filter((line) => /^(?:fatal|error|remote|ssh):/i.test(line))
  const told = errors.length > 0 ? errors : lines.slice(-3)
  return cutText(collapsed(told.slice(0, 3).join(' ')), 500, '…')
}

function failed({ shown }: GitSource, why: string): EntiaError {
  return new EntiaError('skill-fetch-failed', `The skill ${shown} cannot be fetched. ${why}`, { source: shown })
}
