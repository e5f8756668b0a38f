import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { cleanText } from '../../tools/files/clean-text.ts'
import { refusable, Refusal } from '../../tools/files/refusal.ts'
import type { ToolContext, ToolOutput } from '../../tools/port.ts'
import { NotStarted, runProcess } from './process-tree.ts'
import type { ToolSettings } from './settings.ts'
import { repositoryOf, WholeDisk } from './whole-disk.ts'

const timeoutMs = 60_000

/** Most of an output that is read, in bytes. */
const maxOutputBytes = 10_000_000

/** Settings that let a repository run programs, or ask somebody, switched off. */
const switches = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'color.ui': 'never',
  'diff.external': '',
  'log.showSignature': 'false',
  'status.submoduleSummary': 'false',
  'submodule.recurse': 'false',
  'protocol.allow': 'never',
}

const fixed = [
  '--no-pager',
  '--no-optional-locks',
  '--literal-pathspecs',
  ...Object.entries(switches).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
]

/** What a tool wants of git. */
export interface GitRequest {
  readonly args: readonly string[]
  /** A model's name of a revision. */
  readonly ref?: string | undefined
  /** Only what concerns this file or folder; never a pattern. */
  readonly path?: string | undefined
}

/** Runs git for a tool, with arguments that run no other program, and gives its output or its error. */
export function gitText(
  { args, ref, path }: GitRequest,
  settings: ToolSettings,
  context: ToolContext,
): Promise<string | ToolOutput> {
  return refusable(path ?? settings.cwd, async () => {
    if (ref?.startsWith('-') === true || ref?.includes('\0') === true)
      throw new Refusal("A ref must not start with '-' or hold a NUL character.")
    const { cwd, paths } = await placeOf(path, settings)
    const revision = ref === undefined ? [] : [ref]
    const { exitCode, output, problem, isCut } = await git(
      cwd,
      [...args, ...revision, '--', ...paths],
      settings,
      context,
    )
    if (exitCode !== 0 && !isCut) throw new Refusal(`git: ${cleanText(problem).trim() || `exit ${exitCode}`}`)
    const note = isCut ? `\n[stopped after ${maxOutputBytes / 1e6} MB]` : ''
    return cleanText(output).trimEnd() + note
  })
}

/**
 * Whether a repository's own configuration names programs that `git_status` and `git_diff` would run: filters of files.
 * Such a call counts as `exec`.
 */
export async function runsFilters(
  settings: Pick<ToolSettings, 'cwd' | 'environment'>,
  context: Pick<ToolContext, 'signal'>,
): Promise<boolean> {
  const { cwd } = settings
  const args = ['config', '--includes', '--show-scope', '--name-only', '--get-regexp', '^filter\\.']
  const { output } = await git(cwd, args, settings, context)
  return /^(local|worktree)\s/m.test(output)
}

/** Where git runs: in the working folder, or in another repository that a path leads to. */
async function placeOf(path: string | undefined, settings: ToolSettings) {
  const { cwd } = settings
  if (path === undefined) return { cwd, paths: [] }
  const disk = new WholeDisk(settings)
  const { realPath } = await disk.locate(path)
  let folder = realPath
  while (!(await isFolder(folder)) && dirname(folder) !== folder) folder = dirname(folder)
  const isElsewhere = (await repositoryOf(folder)) !== (await repositoryOf((await disk.locate('.')).realPath))
  return { cwd: isElsewhere ? folder : cwd, paths: [realPath] }
}

async function isFolder(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() ?? false
}

interface GitOutput {
  readonly exitCode: number | undefined
  readonly output: string
  readonly problem: string
  /** It printed more than is read. */
  readonly isCut: boolean
}

/** @throws Refusal when git cannot run, or takes too long */
async function git(
  cwd: string,
  args: readonly string[],
  settings: Pick<ToolSettings, 'environment'>,
  { signal }: Pick<ToolContext, 'signal'>,
): Promise<GitOutput> {
  const chunks = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
  let sizeBytes = 0
  try {
    const { exitCode, timedOut } = await runProcess({
      file: 'git',
      args: [...fixed, ...args],
      cwd,
      env: gitEnvironment(settings),
      timeoutMs,
      signal,
      output: (bytes, stream) => {
        if (sizeBytes <= maxOutputBytes) chunks[stream].push(bytes)
        sizeBytes += bytes.length
        return sizeBytes <= maxOutputBytes
      },
    })
    if (timedOut) throw new Refusal(`git takes more than ${timeoutMs / 1_000} s.`)
    const [output, problem] = [chunks.stdout, chunks.stderr].map((all) => Buffer.concat(all).toString())
    return { exitCode, output: output ?? '', problem: problem ?? '', isCut: sizeBytes > maxOutputBytes }
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error
    throw new Refusal(error.code === 'ENOENT' ? 'git is not installed, or the folder does not exist.' : error.message)
  }
}

/** Without variables that lead git elsewhere or name programs; nothing is fetched, and nothing is asked. */
function gitEnvironment(settings: Pick<ToolSettings, 'environment'>): NodeJS.ProcessEnv {
  const inherited = Object.entries(settings.environment()).filter(([name]) => !name.startsWith('GIT_'))
  return { ...Object.fromEntries(inherited), GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', LC_ALL: 'C.UTF-8' }
}
