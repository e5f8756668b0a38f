import { cleanText } from '../../tools/files/clean-text.ts'
import { Refusal } from '../../tools/files/refusal.ts'
import type { ToolContext } from '../../tools/port.ts'
import { NotStarted, runProcess } from './process-tree.ts'
import type { ToolSettings } from './settings.ts'

const timeoutMs = 60_000

/** Most of an output that is read, in bytes. */
export const maxOutputBytes = 10_000_000

/** Settings of a repository that run programs, ask somebody, or show something else than was asked for, switched off. */
const switches = {
  'color.ui': 'never',
  'color.diff': 'never',
  'color.status': 'never',
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'diff.external': '',
  'diff.orderFile': '/dev/null',
  'diff.relative': 'false',
  'log.follow': 'false',
  'log.showSignature': 'false',
  'protocol.allow': 'never',
  'status.submoduleSummary': 'false',
  'submodule.recurse': 'false',
}

const fixed = [
  '--no-pager',
  '--no-optional-locks',
  ...Object.entries(switches).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
]

export interface GitOutput {
  readonly exitCode: number | undefined
  readonly output: Buffer
  readonly problem: string
  /** It printed more than is read. */
  readonly isCut: boolean
}

/**
 * Runs git with arguments that run no other program.
 *
 * @throws Refusal when git cannot run, or takes too long
 */
export async function git(
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
    const problem = Buffer.concat(chunks.stderr).toString()
    return { exitCode, output: Buffer.concat(chunks.stdout), problem, isCut: sizeBytes > maxOutputBytes }
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error
    throw new Refusal(error.code === 'ENOENT' ? 'git is not installed, or the folder does not exist.' : error.message)
  }
}

/** What git says is wrong. */
export function gitRefusal({ exitCode, problem }: GitOutput): Refusal {
  return new Refusal(`git: ${cleanText(problem).trim() || `exit ${exitCode}`}`)
}

/** Without variables that lead git elsewhere or name programs; nothing is fetched, and nothing is asked. */
function gitEnvironment(settings: Pick<ToolSettings, 'environment'>): NodeJS.ProcessEnv {
  const inherited = Object.entries(settings.environment()).filter(([name]) => !name.startsWith('GIT_'))
  return { ...Object.fromEntries(inherited), GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', LC_ALL: 'C.UTF-8' }
}
