import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ConfigInput } from '../rules/config/config.ts'
import { contextFlags, contextFlagsHelp, flagLayer, givenFlags } from './config/context-flags.ts'
import { parsedWords, UsageError } from './parsed-words.ts'
import type { Question } from '../../examples/reader/reader.ts'

export interface AskArguments {
  /** Absent: the package's own folder. */
  readonly folder: string | undefined
  readonly question: string | undefined
  readonly model: string | undefined
  readonly resume: boolean
  readonly data: string
  readonly fast: boolean
  /** Serves the inspector of the run. */
  readonly inspect: boolean
  readonly json: boolean
  readonly help: boolean
  /** What the options set of the configuration. */
  readonly flags: ConfigInput
}

export const defaultData = '.entia'

export const askHelp = `Ask a question about the files of a folder. A lead gives each part of it to a
researcher, sleeps until they are done, and reports what they found.

  entia ask                           ask about this project's docs and examples
  entia ask FOLDER --question "..."   ask about another folder
  entia ask --resume                  continue an interrupted run

In the repository of entia, use npm start -- instead of entia ask.

  FOLDER              folder to read; files outside it cannot be read
  --question TEXT     question to ask
  --model NAME        PROVIDER/NAME, or PROVIDER for its default model:
                      anthropic, openai, moonshot, ollama, scripted.
                      Default: chosen by ANTHROPIC_API_KEY or OPENAI_API_KEY;
                      without a key, a script that searches and quotes
  --resume            continue the newest unfinished run
  --data FOLDER       where runs are stored (default: ${defaultData})
  --fast              no pauses between the steps of the script
  --inspect           serve a page that shows the run, and print its link; all
                      ticks of the run are kept
  --json              print one JSON object per line; events of sessions have
                      a path of session ids
  --help              show this help
  --version           print the version

Context and limits. An option overrides its key in .entia/config.json of this
folder, which overrides config.json in your configuration folder
(ENTIA_CONFIG_DIR, or the system's default):

${contextFlagsHelp}

Ctrl-C stops the run; --resume continues it, after kill -9 too.
Exit codes: 0 answered, 1 failed, 2 wrong arguments.
`

/** @throws UsageError, and `config-invalid` for an invalid value of a configuration option */
export function askArguments(argv: readonly string[]): AskArguments {
  const { values, positionals } = parsedWords(argv, {
    question: { type: 'string' },
    model: { type: 'string' },
    resume: { type: 'boolean' },
    data: { type: 'string' },
    fast: { type: 'boolean' },
    inspect: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
    ...contextFlags,
  })
  const [folder, ...rest] = positionals
  if (rest.length > 0) {
    throw new UsageError(
      `Name one folder, got ${positionals.length}: ${positionals.join(', ')}. Write a question after --question.`,
    )
  }
  const {
    question,
    model,
    data = defaultData,
    resume = false,
    fast = false,
    inspect = false,
    json = false,
    help = false,
  } = values
  for (const [name, value] of Object.entries({ folder, question, model, data })) {
    if (value?.trim() === '')
      throw new UsageError(`${name === 'folder' ? 'The folder' : `--${name}`} must not be empty.`)
  }
  const fixed = Object.entries({ 'a folder': folder, '--question': question, '--model': model })
  const given = [...fixed.flatMap(([name, value]) => (value === undefined ? [] : [name])), ...givenFlags(values)]
  if (resume && given.length > 0) {
    throw new UsageError(`--resume continues an earlier run: leave out ${given.join(' and ')}.`)
  }
  return { folder, question, model, resume, data, fast, inspect, json, help, flags: flagLayer(values) }
}

export function questionOf({ folder, question }: Pick<AskArguments, 'folder' | 'question'>): Question & {
  readonly folder: string
} {
  if (folder !== undefined) return { folder, text: question ?? 'What is this folder about?', places: [] }
  const own = packageFolder()
  const places = ['docs', 'examples', 'README.md'].filter((place) => existsSync(join(own, place)))
  return { folder: own, text: question ?? 'What happens to a tool call when the process is killed?', places }
}

/** The folder of package.json: it lies above the sources and above the build. */
function packageFolder(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}
