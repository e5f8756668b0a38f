import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { EntiaError } from '../base/entia-error.ts'
import { didYouMean } from '../base/near-names.ts'
import { interruption } from './interruption.ts'
import { UsageError } from './parsed-words.ts'
import { cleanTerminal } from './terminal/cleaned-output.ts'

const { argv, env: environment, stdout, stderr } = process
const isDumb = environment['TERM'] === 'dumb'

type Command = (words: readonly string[]) => Promise<number | undefined>

/** What may stand first on the command line; without one, `chat`, or `run` for a prompt behind `-p`. */
const commands: Readonly<Record<string, Command>> = {
  chat: chatCommand,
  run: runCommand,
  sessions: sessionsCommand,
  config: configCommand,
  skills: skillsCommand,
  mcp: mcpCommand,
  serve: serveCommand,
  matrix: matrixCommand,
  ask: askCommand,
  sim: simCommand,
  replay: replayCommand,
  worlds: worldsCommand,
  inspect: inspectCommand,
  worker: workerCommand,
  workers: workersCommand,
  queue: queueCommand,
}
/** Commands that draw on the terminal, and clean what they show. */
const drawing: ReadonlySet<Command> = new Set([chatCommand, askCommand, simCommand])
/** Commands that write in colours, and clean what they colour. */
const colouring: ReadonlySet<Command> = new Set([
  skillsCommand,
  worldsCommand,
  inspectCommand,
  workersCommand,
  queueCommand,
])
/** Errors of chats that another command line or configuration mends. */
const usageCodes: ReadonlySet<string> = new Set([
  'ambiguous-id',
  'conflicting-provider',
  'invalid-argument',
  'matrix-not-configured',
  'missing-api-key',
  'unknown-provider',
  'unknown-session',
])

/** Returns the exit code. Prints errors of the user; throws only defects. */
export async function main(): Promise<number | undefined> {
  // V8 takes 500 MB, once, to optimize the lexer of the shell grammar, which is as fast without.
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag)
  const { run, words, name } = chosenCommand(argv.slice(2))
  cleanTerminal(stderr)
  if (!drawing.has(run)) cleanTerminal(stdout, colouring.has(run))
  try {
    return await run(words)
  } catch (error) {
    if (error instanceof UsageError) {
      stderr.write(`entia: ${error.message} See ${['entia', name, '--help'].filter(Boolean).join(' ')}.\n`)
      return 2
    }
    if (!(error instanceof EntiaError)) throw error
    stderr.write(`entia: ${await errorText(error, run)}\n`)
    const isChat =
      run === chatCommand ||
      run === runCommand ||
      run === sessionsCommand ||
      run === configCommand ||
      run === skillsCommand ||
      run === mcpCommand ||
      run === serveCommand ||
      run === matrixCommand ||
      run === worldsCommand ||
      run === inspectCommand ||
      run === workerCommand ||
      run === workersCommand ||
      run === queueCommand
    return error.code === 'config-invalid' || (isChat && usageCodes.has(error.code)) ? 2 : 1
  }
}

async function errorText(error: EntiaError, run: Command): Promise<string> {
  if (error.code !== 'missing-api-key' || run === askCommand)
    return error.message.replace('listSessions() has all of them.', 'entia sessions list --all shows them.')
  const { modelAdvice } = await import('./chat/model-advice.ts')
  return modelAdvice(error)
}

interface Chosen {
  readonly run: Command
  readonly words: readonly string[]
  /** What its help is found by; empty for that of the program. */
  readonly name: string
}

function chosenCommand([first, ...words]: readonly string[]): Chosen {
  if (first === undefined) return { run: chatCommand, words, name: '' }
  const all = [first, ...words]
  if (first.startsWith('-')) {
    const isRun = all.some((word) => /^(-p|--print|--output)/.test(word))
    return isRun ? { run: runCommand, words: all, name: 'run' } : { run: chatCommand, words: all, name: '' }
  }
  const known = Object.hasOwn(commands, first) ? commands[first] : undefined
  if (known === undefined) return { run: () => Promise.reject(unknownCommand(first)), words, name: '' }
  return { run: known, words, name: first }
}

function unknownCommand(name: string): UsageError {
  const advice = didYouMean(name, Object.keys(commands)) || ` For a prompt: entia -p ${JSON.stringify(name)}.`
  return new UsageError(`There is no command '${name}'.${advice}`)
}

async function chatCommand(words: readonly string[]): Promise<number> {
  const { chatArguments, chatHelp } = await import('./chat/chat-arguments.ts')
  const args = chatArguments(words)
  if (args.help) return help(chatHelp)
  const { stdin } = process
  if (!stdin.isTTY || !stdout.isTTY) {
    const what = 'entia chat needs a terminal. Without one, give it a prompt: entia -p "What is this project?"'
    const resumed = ' To go on with a chat: entia -p PROMPT --resume KEY; entia sessions list shows the keys.'
    throw new UsageError(args.resume === undefined ? what : what + resumed)
  }
  quietenExperiments()
  const { chatCommand: chatted } = await import('./chat/chat-command.ts')
  const exitCode = await chatted(args, { environment, stdin, stdout, stderr })
  // What was cancelled and does not stop must not keep the program.
  return process.exit(exitCode)
}

async function runCommand(words: readonly string[]): Promise<number> {
  const { runArguments, runHelp } = await import('./chat/chat-arguments.ts')
  const args = runArguments(words)
  if (args.help) return help(runHelp)
  quietenExperiments()
  const { runCommand: ran } = await import('./chat/run-command.ts')
  return ran(args, { stdin: process.stdin, stdout, stderr, environment, interruption })
}

async function sessionsCommand(words: readonly string[]): Promise<number> {
  const { sessionsCommand: listed } = await import('./sessions-command.ts')
  const [{ SessionFolder }, { folders }] = await Promise.all([
    import('../runtime/chat/session-folder.ts'),
    import('../runtime/config/folders.ts'),
  ])
  const folder = new SessionFolder(join(folders(environment).data, 'sessions'))
  return listed(words, { folder, cwd: process.cwd(), stdout })
}

async function configCommand(words: readonly string[]): Promise<number> {
  const { configCommand: checked } = await import('./config-command.ts')
  return checked(words, { environment, cwd: process.cwd(), stdout, stderr })
}

async function skillsCommand(words: readonly string[]): Promise<number> {
  const { skillsCommand: kept } = await import('./skills-command.ts')
  return kept(words, { environment, cwd: process.cwd(), stdout, interruption })
}

async function mcpCommand(words: readonly string[]): Promise<number> {
  const { mcpCommand: managed } = await import('./mcp-command.ts')
  const stopped = new AbortController()
  process.once('SIGINT', () => stopped.abort(new EntiaError('turn-failed', 'Stopped.')))
  return managed(words, { environment, cwd: process.cwd(), stdout, stderr, signal: stopped.signal })
}

async function serveCommand(words: readonly string[]): Promise<number> {
  quietenExperiments()
  const { serveCommand: served } = await import('./serve-command.ts')
  const exitCode = await served(words, { environment, stdout, stderr, interruption })
  // What was called off and does not stop must not keep the program.
  return process.exit(exitCode)
}

async function matrixCommand(words: readonly string[]): Promise<number> {
  quietenExperiments()
  const { matrixCommand: answered } = await import('./matrix-command.ts')
  return answered(words, { environment, stdin: process.stdin, stdout, stderr, interruption })
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

async function worldsCommand(words: readonly string[]): Promise<number> {
  quietenExperiments()
  const { worldsCommand: looked } = await import('./worlds/worlds-command.ts')
  return looked(words, { environment, cwd: process.cwd(), stdout, stderr })
}

async function inspectCommand(words: readonly string[]): Promise<number> {
  quietenExperiments()
  const { inspectCommand: inspected } = await import('./inspect-command.ts')
  const exitCode = await inspected(words, { environment, cwd: process.cwd(), stdout, interruption })
  // What a copy began and does not stop must not keep the program.
  return process.exit(exitCode)
}

async function workerCommand(words: readonly string[]): Promise<number> {
  const { workerCommand: worked } = await import('./fleet/worker-command.ts')
  const exitCode = await worked(words, { environment, stdout, stderr, interruption })
  // What was called off and does not stop must not keep the program.
  return process.exit(exitCode)
}

async function workersCommand(words: readonly string[]): Promise<number> {
  const { workersCommand: listed } = await import('./fleet/workers-command.ts')
  return listed(words, { environment, stdout, stderr })
}

async function queueCommand(words: readonly string[]): Promise<number> {
  const { queueCommand: listed } = await import('./fleet/queue-command.ts')
  return listed(words, { environment, stdout, stderr })
}

/** Older Nodes call their SQLite an experiment, to a user who cannot do anything about it. */
function quietenExperiments(): void {
  process.removeAllListeners('warning')
  process.on('warning', ({ message, name }) => {
    if (name !== 'ExperimentalWarning') stderr.write(`entia: ${name}: ${message}\n`)
  })
}

function help(text: string): number {
  stdout.write(text)
  return 0
}
