import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Root of the project. */
export const root = join(import.meta.dirname, '..')

const timeoutMs = 60_000
/** What was compiled for one program serves all that come after it. */
const cache = join(root, 'node_modules/.cache/programs')

export interface Ending {
  readonly kind?: string
  readonly said?: string
  /** What it is started with. */
  readonly options: readonly string[]
}

/** What the comment at the end of an example says: what it prints, or why it is not run. */
export async function endingOf(path: string): Promise<Ending> {
  const source = await readFile(join(root, path), 'utf8')
  const ending = /\/\*\s*(Prints|Not run)(?: with ([^:\n]*))?:\s*((?:(?!\*\/).)*?)\s*\*\/\s*$/s
  const [, kind, options = '', said] = ending.exec(source) ?? []
  const words = options.split(' ').filter((word) => word !== '')
  return { options: words, ...(kind !== undefined && { kind }), ...(said !== undefined && { said }) }
}

/**
 * Runs a program from its sources, with no key of a model provider at hand, and compares what it prints
 * with what it is said to print, where `…` stands for anything within a line. Gives what is wrong, or nothing.
 *
 * @param options `cwd`: where it runs. @default the project, with its packages' sources; `options`: of its command line. @default none
 */
export async function wrongAbout(
  path: string,
  expected: string | undefined,
  { cwd, options = [] }: { readonly cwd?: string; readonly options?: readonly string[] } = {},
): Promise<string | undefined> {
  const environment = Object.entries(process.env).filter(([name]) => !/(API|AUTH)_(KEY|TOKEN)$/.test(name))
  const child = spawn(
    process.execPath,
    [...(cwd === undefined ? ['--conditions=entia-source'] : []), path, ...options],
    {
      cwd: cwd ?? root,
      env: { ...Object.fromEntries(environment), NO_COLOR: '1', NODE_COMPILE_CACHE: cache },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    },
  )
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? `${signal} (it has ${timeoutMs / 1000} s)`))
  })
  const [printed, complaint, end] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (end !== 0) return `It ended with ${end}.\n${complaint}`
  if (complaint !== '') return `It wrote to stderr:\n${complaint}`
  if (expected === undefined || patternOf(expected).test(printed.trim())) return undefined
  return `It was to print:\n${indent(expected)}\nIt printed:\n${indent(printed.trim())}`
}

/** Prints how each check came out and sets the exit code of the process. Nothing to check is a failure, too. */
export function report(what: string, results: ReadonlyMap<string, string | undefined>): void {
  for (const [name, wrong] of results) {
    if (wrong === undefined) console.log(`✓ ${name}`)
    else console.error(`✗ ${name}\n${indent(wrong)}`)
  }
  const wrongCount = [...results.values()].filter((wrong) => wrong !== undefined).length
  if (results.size === 0) console.error(`There are no ${what}.`)
  else console.log(`${results.size - wrongCount} of ${results.size} ${what} print what they say.`)
  if (wrongCount > 0 || results.size === 0) process.exitCode = 1
}

function patternOf(expected: string): RegExp {
  const literal = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${literal.join('.*')}$`)
}

function indent(lines: string): string {
  return lines.replace(/^/gm, '  ')
}
