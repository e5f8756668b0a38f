import { basename, relative } from 'node:path'
import { ask } from './ask.ts'
import { askArguments, askHelp, defaultData } from './ask-arguments.ts'
import type { View } from './ask-event.ts'
import { readSettings } from './config/settings.ts'
import { interruption } from './interruption.ts'
import { textView } from './terminal/terminal-view.ts'

export interface AskPlace {
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly isDumb: boolean
}

/** `entia ask`: returns the exit code. It never asks the user anything. */
export async function askCommand(words: readonly string[], place: AskPlace): Promise<number> {
  const { environment, stdout, stderr, isDumb } = place
  const args = askArguments(words)
  if (args.help) {
    stdout.write(askHelp)
    return 0
  }
  const { config, notices } = await readSettings({ flags: args.flags, environment, cwd: process.cwd() })
  for (const notice of notices) stderr.write(`entia: ${notice}\n`)
  const { signal, exitCode } = interruption()
  const resumeBy = commandLine(place, '--resume', ...(args.data === defaultData ? [] : ['--data', args.data]))
  const view = args.json ? jsonView(stdout) : textView(stdout, { isDumb })
  try {
    const end = await ask(
      { ...args, config, environment, signal, resumeBy, isInteractive: stdout.isTTY, notices: stderr },
      view,
    )
    if (end.how === 'refused') return 2
    if (end.how === 'stopped') return exitCode()
    if (end.how === 'failed') stderr.write(`entia: ${end.message}\n`)
    else if (!args.json) stdout.write('\nTo talk to an agent that works in your project: entia chat\n')
    return end.how === 'failed' ? 1 : 0
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

/** The command line that the user typed, with other arguments. */
function commandLine({ argv, environment }: AskPlace, ...words: readonly string[]): string {
  const script = argv[1] ?? ''
  const isByName = basename(script) === 'entia'
  const byPath = isByName ? 'entia ask' : `node ${relative('', script)} ask`
  const program = environment['npm_lifecycle_event'] === 'start' ? 'npm start --' : byPath
  return [program, ...words.map((word) => (/^[\w./-]+$/.test(word) ? word : JSON.stringify(word)))].join(' ')
}
