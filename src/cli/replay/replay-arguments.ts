import { parsedWords } from '../parsed-words.ts'
import { UsageError } from '../usage-error.ts'

/** What `entia replay` is asked for. */
export interface ReplayArguments {
  readonly file: string
  /** A module whose story is run against the recording. Absent: the recording is replayed as it is. */
  readonly story: string | undefined
  readonly onMiss: 'fail' | 'script'
  readonly json: boolean
}

export const replayHelp = `Runs a recording again: no model is called and no tool run.

  entia replay FILE                 every tick of every world, through today's
                                    systems
  entia replay FILE --with MODULE   MODULE's story, with what the recording says
                                    as the answers of models, tools and people

  FILE              a recording, as saveRecording() writes it
  --with MODULE     a module whose default export is what simulate() takes; its
                    faults and people are left out
  --on-miss HOW     what to do where the recording has no answer: fail, or go on
                    with the scripts of MODULE: script (fail)
  --json            prints one JSON object instead of text
  --help            this

It exits with 0 if all went the same way, 1 if not, 2 for wrong arguments.
`

/** `undefined`: help was asked for. @throws UsageError */
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
    throw new UsageError(`replay runs one file; ${positionals.length} came: ${positionals.join(', ')}.`)
  const { with: story, 'on-miss': onMiss = 'fail', json = false } = values
  if (onMiss !== 'fail' && onMiss !== 'script') {
    throw new UsageError(`--on-miss is fail or script; ${JSON.stringify(onMiss)} came.`)
  }
  if (values['on-miss'] !== undefined && story === undefined) {
    throw new UsageError('--on-miss goes with --with: a recording that is replayed as it is misses nothing.')
  }
  return { file, story, onMiss, json }
}
