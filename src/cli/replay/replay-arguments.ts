import { parsedWords, UsageError } from '../parsed-words.ts'

export interface ReplayArguments {
  readonly file: string
  /** A module whose story runs against the recording. Absent: replay the recording. */
  readonly story: string | undefined
  readonly onMiss: 'fail' | 'script'
  readonly json: boolean
}

export const replayHelp = `Replay a recording without calling a model or running a tool.

  entia replay FILE                 replay every tick with the current systems
  entia replay FILE --with MODULE   run MODULE's story; models, tools and users
                                    answer as recorded

  FILE              a recording that saveRecording() wrote
  --with MODULE     a module whose default export is the options of simulate();
                    its faults and users are ignored
  --on-miss HOW     if the recording has no answer: fail, or script: use the
                    scripts of MODULE (default: fail)
  --json            print one JSON object instead of text
  --help            show this help

Exit codes: 0 no difference, 1 a difference, 2 wrong arguments.
`

/** `undefined`: show the help. @throws UsageError */
export function replayArguments(words: readonly string[]): ReplayArguments | undefined {
  const { values, positionals } = parsedWords(words, {
    with: { type: 'string' },
    'on-miss': { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) return undefined
  const [file, ...rest] = positionals
  if (file === undefined || file.trim() === '') {
    throw new UsageError('replay needs a recording: entia replay run.jsonl, as saveRecording() writes it.')
  }
  if (rest.length > 0)
    throw new UsageError(`replay takes one file, got ${positionals.length}: ${positionals.join(', ')}.`)
  const { with: story, 'on-miss': onMiss = 'fail', json = false } = values
  if (onMiss !== 'fail' && onMiss !== 'script') {
    throw new UsageError(`--on-miss must be fail or script, got ${onMiss}.`)
  }
  if (values['on-miss'] !== undefined && story === undefined) {
    throw new UsageError('--on-miss needs --with MODULE.')
  }
  return { file, story, onMiss, json }
}
