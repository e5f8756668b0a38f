import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { cleanName, plainText } from '../../tools/files/clean-text.ts'
import { EntiaError } from '../../base/entia-error.ts'
import {
  checkOptions,
  count,
  environment,
  filledText,
  flag,
  listOf,
  objectWith,
  refuseMisfit,
  type ShapesOf,
  text,
} from '../../base/option-shapes.ts'
import { childEnvironment } from '../tools/child-environment.ts'
import { runProcess } from '../tools/process-tree.ts'
import { treeOf } from './skill-tree.ts'

/** How the tests of a skill ended. */
export interface SkillTestResult {
  readonly passed: number
  readonly failed: number
  /** Files that could not be run to their end. */
  readonly errors: number
}

/** Options of `testSkill`. */
export interface TestSkillOptions {
  /** Prints what the tests print, and each result, on stderr as they come. @default false */
  readonly verbose?: boolean | undefined
  /** Longest that all tests may take, in milliseconds of real time. @default 60000 */
  readonly timeoutMs?: number | undefined
  /** Environment of the child process, before secrets are taken out. @default that of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Variables that the child process gets although their names look like secrets. @default [] */
  readonly passEnv?: readonly string[] | undefined
  /** Ends the tests; the promise rejects with its reason. @default none */
  readonly signal?: AbortSignal | undefined
}

const testShapes: ShapesOf<TestSkillOptions> = {
  verbose: flag,
  timeoutMs: count,
  env: environment,
  passEnv: listOf(text),
  signal: objectWith('an AbortSignal', 'throwIfAborted'),
}

const maxEntries = 10_000
const maxOutputBytes = 4_000_000

/** A module that writes each result on a line: what tests print by themselves does not pass for a result. */
const reporter = `data:text/javascript,${encodeURIComponent(`export default async function* (events) {
  for await (const { type, data } of events)
    if (type === 'test:pass' || type === 'test:fail')
      yield JSON.stringify({
        type, name: data.name, file: data.file, kind: data.details?.type, isLeftOut: Boolean(data.skip || data.todo),
        problem: data.details?.error?.cause?.message ?? data.details?.error?.message,
      }) + '\\n'
    else if (type === 'test:stdout' || type === 'test:stderr') yield JSON.stringify({ type, text: data.message }) + '\\n'
}`)}`

const resultSchema = z.object({
  type: z.enum(['test:pass', 'test:fail']),
  name: z.string(),
  file: z.string().optional(),
  kind: z.string().optional(),
  isLeftOut: z.boolean(),
})
type TestResult = z.infer<typeof resultSchema>

/**
 * Runs the tests of a skill: its files named `*.test.js`, `*.test.mjs`, and `*.test.ts` where Node runs TypeScript, with Node's
 * test runner in a child process, in the skill's folder. They can do what this process can: test what you trust.
 *
 * @param path the skill's folder
 * @throws by its promise: `skill-not-found` where there is no folder, `invalid-argument`, the signal's reason
 */
export async function testSkill(path: string, options: TestSkillOptions = {}): Promise<SkillTestResult> {
  checkOptions('testSkill', options, testShapes)
  refuseMisfit('testSkill', 'path', path, filledText)
  const stats = await stat(path).catch(() => undefined)
  if (stats?.isDirectory() !== true)
    throw new EntiaError('skill-not-found', `There is no folder ${cleanName(resolve(path))}.`, { path: resolve(path) })
  const folder = await realpath(path)
  const files = await testFiles(folder)
  if (files.length === 0) return { passed: 0, failed: 0, errors: 0 }
  return counted(await resultsOf(folder, files, options), folder, files)
}

async function testFiles(folder: string): Promise<readonly string[]> {
  const name = process.features.typescript === false ? /\.test\.m?js$/ : /\.test\.(?:m?js|ts)$/
  const files: string[] = []
  for await (const { kind, path } of treeOf(folder, maxEntries)) {
    if (kind === 'file' && name.test(path) && !path.split('/').includes('node_modules')) files.push(path)
  }
  return files
}

async function resultsOf(
  cwd: string,
  files: readonly string[],
  {
    env = process.env,
    passEnv = [],
    signal = new AbortController().signal,
    timeoutMs = 60_000,
    verbose = false,
  }: TestSkillOptions,
): Promise<readonly TestResult[]> {
  const chunks: Buffer[] = []
  const told = verbose ? new ToldTests() : undefined
  let sizeBytes = 0
  // Set by a runner of Node, it would make the child a part of that one.
  const { NODE_TEST_CONTEXT: _, ...own } = childEnvironment(env, passEnv)
  await runProcess({
    file: process.execPath,
    args: ['--test', `--test-reporter=${reporter}`, ...files.map((file) => `./${file}`)],
    cwd,
    env: own,
    timeoutMs,
    signal,
    output: (bytes, stream) => {
      if (stream === 'stdout') chunks.push(bytes)
      told?.add(bytes, stream)
      return (sizeBytes += bytes.length) <= maxOutputBytes
    },
  })
  return Buffer.concat(chunks).toString().split('\n').flatMap(resultIn)
}

/** Shows on stderr what comes of tests. */
class ToldTests {
  readonly #decoder = new TextDecoder()
  #open = ''

  add(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void {
    if (stream === 'stderr') return void process.stderr.write(plainText(Buffer.from(bytes).toString()))
    const lines = (this.#open + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#open = lines.pop() ?? ''
    for (const line of lines) process.stderr.write(plainText(shownLine(line)))
  }
}

function shownLine(line: string): string {
  const { name, problem = '', text: printed = '', type } = JSON.parse(line) as Partial<Record<string, string>>
  if (type === 'test:pass') return `✓ ${name}\n`
  return type === 'test:fail' ? `✗ ${name}${problem === '' ? '' : `: ${problem}`}\n` : printed
}

/** The last line may be torn. */
function resultIn(line: string): TestResult[] {
  try {
    const checked = resultSchema.safeParse(JSON.parse(line))
    return checked.success ? [checked.data] : []
  } catch {
    return []
  }
}

function counted(results: readonly TestResult[], folder: string, files: readonly string[]): SkillTestResult {
  const tests = results.filter(({ isLeftOut, kind }) => kind !== 'suite' && !isLeftOut)
  const broken = new Set(
    results.filter((result) => result.type === 'test:fail' && isFile(result)).map(({ file }) => file),
  )
  const reported = new Set(results.map(({ file }) => file))
  const silent = files.filter((file) => !reported.has(join(folder, file)))
  return {
    passed: tests.filter(({ type }) => type === 'test:pass').length,
    failed: tests.filter((test) => test.type === 'test:fail' && !isFile(test)).length,
    errors: broken.size + silent.length,
  }
}

/** Of a file that broke off, Node says that it failed as a test of its name. */
function isFile({ file, name }: TestResult): boolean {
  return file !== undefined && file.endsWith(name.replace(/^\.\//, '')) && /\.test\.(?:m?js|ts)$/.test(name)
}
