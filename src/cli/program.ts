import { basename, relative } from 'node:path'
import { EntiaError } from '../world/entia-error.ts'
import type { View } from './ask-event.ts'
import { interruption } from './interruption.ts'
import { UsageError } from './parsed-words.ts'

const { argv, env: environment, stdout, stderr } = process
const isDumb = environment['TERM'] === 'dumb'

/** Returns the exit code. Prints errors of the user; throws only defects. */
export async function main(): Promise<number | undefined> {
  try {
    return await command(argv.slice(2))
  } catch (error) {
    if (error instanceof UsageError) {
      stderr.write(`entia: ${error.message} See --help.\n`)
      return 2
    }
    if (!(error instanceof EntiaError)) throw error
    stderr.write(`entia: ${error.message}\n`)
    return error.code === 'config-invalid' ? 2 : 1
  }
}

async function command([first, ...words]: readonly string[]): Promise<number | undefined> {
  if (first === 'sim') return simCommand(words)
  if (first === 'replay') return replayCommand(words)
  return askCommand(first === undefined ? [] : [first, ...words])
}

async function simCommand(words: readonly string[]): Promise<number | undefined> {
  const [first, file] = words
  if (first === '--job' && file !== undefined && process.send !== undefined) {
    const { serveAsJob } = await import('./sim/job.ts')
    await serveAsJob(file)
    return undefined
  }
  const { simArguments, simHelp } = await import('./sim/sim-arguments.ts')
  const args = simArguments(words)
  if (args === undefined) return help(simHelp)
  // Reports a wrong file before loading the simulator.
  const { chosenStories, loadStories } = await import('./sim/load-stories.ts')
  const stories = chosenStories(await loadStories(args.file), args)
  const { sim } = await import('./sim/sim.ts')
  return sim(stories, args, { out: stdout, isDumb, interruption, job: [argv[1] ?? '', 'sim', '--job'] })
}

async function replayCommand(words: readonly string[]): Promise<number> {
  const { replayArguments, replayHelp } = await import('./replay/replay-arguments.ts')
  const args = replayArguments(words)
  if (args === undefined) return help(replayHelp)
  const { replayFile } = await import('./replay/replay-file.ts')
  return replayFile(args, stdout)
}

async function askCommand(words: readonly string[]): Promise<number> {
  const { askArguments, askHelp, defaultData } = await import('./ask-arguments.ts')
  const args = askArguments(words)
  if (args.help) return help(askHelp)
  const { readSettings } = await import('./config/settings.ts')
  const { config, notices } = await readSettings({ flags: args.flags, environment, cwd: process.cwd() })
  for (const notice of notices) stderr.write(`entia: ${notice}\n`)
  const [{ ask }, { textView }] = await Promise.all([import('./ask.ts'), import('./terminal/terminal-view.ts')])
  const { signal, exitCode } = interruption()
  const resumeBy = commandLine('--resume', ...(args.data === defaultData ? [] : ['--data', args.data]))
  const view = args.json ? jsonView(stdout) : textView(stdout, { isDumb })
  try {
    const end = await ask(
      { ...args, config, environment, signal, resumeBy, isInteractive: stdout.isTTY, notices: stderr },
      view,
    )
    if (end.how === 'refused') return 2
    if (end.how !== 'failed') return end.how === 'answered' ? 0 : exitCode()
    stderr.write(`entia: ${end.message}\n`)
    return 1
  } finally {
    view.close()
  }
}

function jsonView(out: { write(text: string): unknown }): View {
  return {
    tell: (event) => void out.write(`${JSON.stringify(event)}\n`),
    close: () => undefined,
  }
}

function help(text: string): number {
  stdout.write(text)
  return 0
}

/** The command line that the user typed, with other arguments. */
function commandLine(...words: readonly string[]): string {
  const script = argv[1] ?? ''
  const isByName = basename(script) === 'entia'
  const byPath = isByName ? 'entia' : `node ${relative('', script)}`
  const program = environment['npm_lifecycle_event'] === 'start' ? 'npm start --' : byPath
  return [program, ...words.map((word) => (/^[\w./-]+$/.test(word) ? word : JSON.stringify(word)))].join(' ')
}
