import { constants } from 'node:os'
import { relative } from 'node:path'
import { EntiaError } from '../index.ts'
import { ask } from './ask.ts'
import { askArguments, askHelp, defaultData } from './ask-arguments.ts'
import { jsonView } from './json-view.ts'
import { textView } from './terminal/text-view.ts'
import { UsageError } from './usage-error.ts'

const { argv, env: environment, stdout, stderr } = process

process.exitCode = await main(argv.slice(2))

/** From a command line to an exit code. What is thrown here is a defect; all else is a sentence for the person. */
async function main(words: readonly string[]): Promise<number> {
  try {
    return await command(words)
  } catch (error) {
    if (error instanceof UsageError) {
      stderr.write(`entia: ${error.message} --help tells what there is.\n`)
      return 2
    }
    if (!(error instanceof EntiaError)) throw error
    stderr.write(`entia: ${error.message}\n`)
    return 1
  }
}

async function command(words: readonly string[]): Promise<number> {
  const args = askArguments(words)
  if (args.help) {
    stdout.write(askHelp)
    return 0
  }
  const { signal, exitCode } = interruption()
  const resumeBy = commandLine('--resume', ...(args.data === defaultData ? [] : ['--data', args.data]))
  const view = args.json ? jsonView(stdout) : textView(stdout, { isDumb: environment['TERM'] === 'dumb' })
  try {
    const end = await ask({ ...args, environment, signal, resumeBy }, view)
    if (end.how !== 'failed') return end.how === 'answered' ? 0 : exitCode()
    stderr.write(`entia: ${end.message}\n`)
    return 1
  } finally {
    view.close()
  }
}

/** Aborts when the process is asked to end, or nobody reads its output any more. Asked twice, it ends at once. */
function interruption(): { readonly signal: AbortSignal; readonly exitCode: () => number } {
  const controller = new AbortController()
  let exitCode = 0
  const stop = (name: NodeJS.Signals): void => {
    if (exitCode === 0) exitCode = 128 + constants.signals[name]
    controller.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop)
  stdout.on('error', () => stop('SIGPIPE'))
  return { signal: controller.signal, exitCode: () => exitCode }
}

/** The program as the person called it, with other arguments. */
function commandLine(...words: readonly string[]): string {
  const program =
    environment['npm_lifecycle_event'] === 'start' ? 'npm start --' : `node ${relative('', argv[1] ?? '')}`
  return [program, ...words.map((word) => (/^[\w./-]+$/.test(word) ? word : JSON.stringify(word)))].join(' ')
}
