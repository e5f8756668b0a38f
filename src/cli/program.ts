import { EntiaError } from '../world/entia-error.ts'
import { didYouMean } from '../world/near-names.ts'
import { interruption } from './interruption.ts'
import { UsageError } from './parsed-words.ts'

const { argv, env: environment, stdout, stderr } = process
const isDumb = environment['TERM'] === 'dumb'

type Command = (words: readonly string[]) => Promise<number | undefined>

/** What may stand first on the command line; without one, `chat`. */
const commands: Readonly<Record<string, Command>> = {
  ask: askCommand,
  sim: simCommand,
  replay: replayCommand,
}

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
  if (first === undefined || first.startsWith('-')) return askCommand(first === undefined ? [] : [first, ...words])
  const known = Object.hasOwn(commands, first) ? commands[first] : undefined
  if (known !== undefined) return known(words)
  throw new UsageError(`There is no command '${first}'.${didYouMean(first, Object.keys(commands))}`)
}

async function askCommand(words: readonly string[]): Promise<number> {
  const { askCommand: asked } = await import('./ask-command.ts')
  return asked(words, { argv, environment, stdout, stderr, isDumb })
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

function help(text: string): number {
  stdout.write(text)
  return 0
}
