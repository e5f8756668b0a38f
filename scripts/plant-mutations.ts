import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { mutations } from './mutations/all.ts'
import type { Mutation } from './mutations/mutation.ts'
import { SourcesCopy } from './mutations/sources-copy.ts'
import type { SweepNews } from './mutations/sweep-stories.ts'
import { root } from './printed.ts'

/**
 * Plants known bugs in a copy of the sources, one after the other, and tells the stories of `test/stories` under seed after
 * seed until a law says that something is wrong. A bug that no seed shows is a hole in the laws or in the stories, and
 * makes the exit code 1.
 */
const usage = `Usage: npm run test:mutations -- [--only NAME]... [--story NAME] [--seeds N] [--json]

  --only NAME  plants this one; may be given several times
  --story NAME tells this story of test/stories/told alone
  --seeds N    most seeds of each story (default: 2000)
  --json       prints the table as JSON`

/** A bug may stop a process from getting anywhere at all. */
const maxSilenceMs = 120_000
const progressMs = 5_000

interface Row {
  readonly name: string
  readonly bug: string
  /** Absent: no seed has shown it. */
  readonly found?: {
    readonly story: string
    /** Absent: a test has. */
    readonly seed: number | undefined
    readonly law: string
    readonly message: string
  }
  readonly seconds: number
}

const { only, seeds, story, isJson } = options()
const copy = await SourcesCopy.of(root)
const rows: Row[] = []
try {
  for (const [index, mutation] of only.entries()) {
    const row = await tried(mutation, `${index + 1}/${only.length} ${mutation.name}`)
    rows.push(row)
    process.stderr.write(`${row.found === undefined ? '✗' : '✓'} ${line(row)}\n`)
  }
} finally {
  await copy.remove()
}
const missed = rows.filter(({ found }) => found === undefined)
if (isJson) console.log(JSON.stringify(rows, undefined, 2))
else console.log(table(rows))
if (missed.length > 0) process.exitCode = 1

async function tried(mutation: Mutation, label: string): Promise<Row> {
  const { bug, name, processes = 1 } = mutation
  const beganMs = performance.now()
  const takeOut = await copy.plant(mutation)
  if (mutation.test !== undefined) {
    const isFound = await fails(mutation.test)
    await takeOut()
    const seconds = (performance.now() - beganMs) / 1_000
    if (!isFound) return { name, bug, seconds }
    const found = { story: mutation.test, seed: undefined, law: 'a test fails', message: '' }
    return { name, bug, found, seconds }
  }
  const end = await swept([1, seeds, processes, ...(story === undefined ? [] : [story])], label)
  await takeOut()
  const seconds = (performance.now() - beganMs) / 1_000
  if (end.type !== 'broken') return { name, bug, seconds }
  const { law, message, seed } = end
  const without =
    end.story === '' ? { type: 'kept' } : await swept([seed, seed, processes, end.story], `${label}, taken out`)
  if (without.type === 'broken') {
    throw new Error(
      `Story ${end.story} breaks a law under seed ${seed} without any mutation: run npm run test:sim first.`,
    )
  }
  return { name, bug, found: { story: end.story, seed, law, message }, seconds }
}

/** Whether a file of tests fails in the copy, and not because it cannot be loaded. */
async function fails(test: string): Promise<boolean> {
  const report = join(copy.folder, 'report.json')
  await rm(report, { force: true })
  const words = ['run', '--reporter=json', `--outputFile=${report}`, test]
  const vitest = spawn(join(copy.folder, 'node_modules/.bin/vitest'), words, { cwd: copy.folder, stdio: 'ignore' })
  await once(vitest, 'close')
  const { numFailedTests, numTotalTests } = JSON.parse(await readFile(report, 'utf8')) as {
    readonly numFailedTests: number
    readonly numTotalTests: number
  }
  if (numTotalTests === 0) throw new Error(`${test}: there are no tests, or they cannot be loaded.`)
  return numFailedTests > 0
}

/** Sweeps the stories of the copy in a process of its own. One that dies or says nothing for long has shown the bug. */
async function swept(words: readonly (number | string)[], label: string): Promise<SweepNews> {
  const child = fork(join(copy.folder, 'scripts/mutations/sweep-stories.ts'), words.map(String), {
    cwd: copy.folder,
    execArgv: ['--conditions=entia-source'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let seed = 0
  let isLoaded = false
  let complaint = ''
  let newest: SweepNews | undefined
  let heardMs = performance.now()
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-2_000)))
  child.on('message', (news: SweepNews) => {
    heardMs = performance.now()
    newest = news
    if (news.type === 'loaded') isLoaded = true
    if (news.type === 'seed') seed = news.seed
  })
  const progress = setInterval(() => {
    process.stderr.write(`  ${label}: seed ${seed} of ${seeds}\n`)
    if (performance.now() - heardMs > maxSilenceMs) child.kill('SIGKILL')
  }, progressMs)
  const code = await new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (exit, signal) => resolve(exit ?? signal))
  })
  clearInterval(progress)
  if (newest?.type === 'broken' || newest?.type === 'kept') return newest
  if (!isLoaded) throw new Error(`${label}: the sources cannot be loaded.\n${complaint}`)
  const law = code === 'SIGKILL' ? 'the process hangs' : `the process ends with ${code}`
  return { type: 'broken', story: '', seed: seed + 1, law, message: complaint }
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        story: { type: 'string' },
        seeds: { type: 'string', default: '2000' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      console.log(usage)
      process.exit(0)
    }
    return { isJson: values.json, only: chosen(values.only), seeds: countOf(values.seeds), story: values.story }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    process.exit(2)
  }
}

function countOf(text: string): number {
  const count = Number(text)
  if (!(Number.isSafeInteger(count) && count >= 1)) {
    throw new Error(`--seeds must be a whole number of 1 or more, got '${text}'.`)
  }
  return count
}

function chosen(names: readonly string[] | undefined): readonly Mutation[] {
  if (names === undefined) return mutations
  return names.map((name) => {
    const found = mutations.find((mutation) => mutation.name === name)
    if (found !== undefined) return found
    throw new Error(
      `--only must be the name of a mutation, got '${name}'. There are: ${mutations.map((each) => each.name).join(', ')}.`,
    )
  })
}

function line({ bug, found, name, seconds }: Row): string {
  const time = `${seconds.toFixed(1)} s`
  if (found === undefined) return `${name} (${bug}): not found in ${seeds} seeds, ${time}`
  if (found.seed === undefined) return `${name}: ${found.story}, ${time}`
  return `${name}: seed ${found.seed} of ${found.story || 'any story'}, ${found.law}, ${time}: ${found.message}`
}

function table(all: readonly Row[]): string {
  const lines = all.map(({ bug, found, name, seconds }) => {
    const [by, seed, law] = found === undefined ? ['-', `> ${seeds}`, '-'] : [found.story, found.seed ?? '-', found.law]
    return `| ${name} | ${bug} | ${by} | ${law} | ${seed} | ${seconds.toFixed(1)} s |`
  })
  const head = ['| Mutation | Bug | Found by story | Law | Seeds | Time |', '|---|---|---|---|---|---|']
  return [...head, ...lines, '', `${all.length - missed.length} of ${all.length} found within ${seeds} seeds.`].join(
    '\n',
  )
}
