import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ConfigInput } from '../rules/config/checked-layer.ts'
import { contextFlags, contextFlagsHelp, flagLayer, givenFlags } from './config/context-flags.ts'
import { parsedWords } from './parsed-words.ts'
import type { Question } from './question-prompt.ts'
import { UsageError } from './usage-error.ts'

/** What a command line asks for. */
export interface AskArguments {
  /** Absent: the package's own folder. */
  readonly folder: string | undefined
  readonly question: string | undefined
  readonly model: string | undefined
  readonly resume: boolean
  /** Where runs are kept. */
  readonly data: string
  readonly fast: boolean
  readonly json: boolean
  readonly help: boolean
  /** What it says of the configuration. */
  readonly flags: ConfigInput
}

export const defaultData = '.entia'

export const askHelp = `Asks about the files of a folder: a lead splits it among researchers, sleeps
until they are done, and reports what they found.

  entia                               about this project's docs and examples
  entia FOLDER --question "..."       about another folder
  entia --resume                      go on with what was interrupted
  entia sim FILE                      simulate a story under many seeds
  entia replay FILE                   run a recording again

In the project itself, npm start -- stands for entia. A folder called sim or
replay is ./sim, ./replay; entia sim --help and entia replay --help tell more.

  FOLDER              the folder to read; nothing outside it can be seen
  --question TEXT     what to ask
  --model NAME        PROVIDER/NAME, or a provider alone for its usual model:
                      anthropic, openai, moonshot, ollama, scripted.
                      Without it ANTHROPIC_API_KEY or OPENAI_API_KEY decide, or
                      else they are scripts that read, but do not think
  --resume            go on with the newest run that has not ended
  --data FOLDER       where runs are kept (${defaultData})
  --fast              scripts do not pause between their steps
  --json              one JSON object a line instead of text; what sessions do
                      has a path of their ids
  --help              this

What keeps a long run alive, and within bounds. Each option beats its key in
.entia/config.json here, and that beats config.json in your own folder for it
(ENTIA_CONFIG_DIR, or where the system keeps such files):

${contextFlagsHelp}

Ctrl-C stops, and so does kill -9: --resume continues where it was.
It exits with 0 for an answer, 1 for a failure, 2 for wrong arguments.
`

/** @throws UsageError, and `config-invalid` for an option of the configuration with a value that it cannot have */
export function askArguments(argv: readonly string[]): AskArguments {
  const { values, positionals } = parsedWords(argv, {
    question: { type: 'string' },
    model: { type: 'string' },
    resume: { type: 'boolean' },
    data: { type: 'string' },
    fast: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
    ...contextFlags,
  })
  const [folder, ...rest] = positionals
  if (rest.length > 0) {
    throw new UsageError(
      `One folder can be asked about; ${positionals.length} came: ${positionals.join(', ')}. Put a question behind --question.`,
    )
  }
  const { question, model, data = defaultData, resume = false, fast = false, json = false, help = false } = values
  for (const [name, value] of Object.entries({ folder, question, model, data })) {
    if (value?.trim() === '') throw new UsageError(`${name === 'folder' ? 'The folder' : `--${name}`} is empty.`)
  }
  const fixed = Object.entries({ 'a folder': folder, '--question': question, '--model': model })
  const given = [...fixed.flatMap(([name, value]) => (value === undefined ? [] : [name])), ...givenFlags(values)]
  if (resume && given.length > 0) {
    throw new UsageError(`--resume goes on with what was asked before: leave out ${given.join(' and ')}.`)
  }
  return { folder, question, model, resume, data, fast, json, help, flags: flagLayer(values) }
}

/** The folder and the question of a new run. */
export function questionOf({ folder, question }: Pick<AskArguments, 'folder' | 'question'>): Question & {
  readonly folder: string
} {
  if (folder !== undefined) return { folder, text: question ?? 'What is this folder about?', places: [] }
  const own = packageFolder()
  const places = ['docs', 'examples', 'README.md'].filter((place) => existsSync(join(own, place)))
  return { folder: own, text: question ?? 'What happens to a tool call when the process is killed?', places }
}

/** The folder with the manifest, above the sources as well as above what is built of them. */
function packageFolder(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}
