import { parsedWords, UsageError, wholeNumber } from '../parsed-words.ts'

export interface SimArguments {
  readonly file: string
  /** Absent: all stories of the file. */
  readonly story: string | undefined
  readonly seeds: number
  readonly from: number
  readonly seed: number | undefined
  readonly jobs: number
  readonly keepGoing: boolean
  readonly html: string | undefined
  readonly save: string | undefined
  readonly mermaid: boolean
  readonly trace: boolean
  readonly json: boolean
}

const simDefaults = { seeds: 1_000, from: 1, jobs: 1 } as const

export const simHelp = `Run a story under many seeds, with faults, and check laws after every tick.

  entia sim FILE                        1,000 seeds
  entia sim FILE --seeds 20000 --jobs 2
  entia sim FILE --seed 46 --html run.html

  FILE              a TypeScript or JavaScript module whose default export is
                    the options of simulate() without a seed, or an object
                    with several of these by name
  --story NAME      run only this story
  --seeds N         number of seeds (default: ${simDefaults.seeds})
  --from S          first seed (default: ${simDefaults.from})
  --jobs J          parallel processes, at most one per core (default: ${simDefaults.jobs})
  --keep-going      continue with the next seeds after a broken law
  --seed S          run only this seed

  For the failing seed, or else the first one:
  --save FILE       write the run, for entia inspect FILE and entia replay FILE
  --html FILE       write a page that shows the run and opens from the disk
  --mermaid         print a sequence diagram for Mermaid
  --trace           print one line per event

  --json            print one JSON object instead of text
  --help            show this help

Exit codes: 0 all laws held, 1 a law was broken, 2 wrong arguments, 130 Ctrl-C.
Output of FILE itself is shown only with --seed.
`

/** `undefined`: show the help. @throws UsageError */
export function simArguments(words: readonly string[]): SimArguments | undefined {
  const { values, positionals } = parsedWords(words, {
    story: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string' },
    jobs: { type: 'string' },
    'keep-going': { type: 'boolean' },
    seed: { type: 'string' },
    html: { type: 'string' },
    save: { type: 'string' },
    mermaid: { type: 'boolean' },
    trace: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values.help === true) return undefined
  const [file, ...rest] = positionals
  if (file === undefined || file.trim() === '') {
    throw new UsageError('sim needs a file: entia sim story.ts, with the options of simulate() as its default export.')
  }
  if (rest.length > 0) throw new UsageError(`sim runs one file, got ${positionals.length}: ${positionals.join(', ')}.`)
  const alone = (['seeds', 'from', 'jobs', 'keep-going'] as const).filter((name) => values[name] !== undefined)
  if (values.seed !== undefined && alone.length > 0) {
    throw new UsageError(`--seed runs one seed: leave out ${alone.map((name) => `--${name}`).join(' and ')}.`)
  }
  if (values.html?.trim() === '') throw new UsageError('--html must name the file to write.')
  if (values.save?.trim() === '') throw new UsageError('--save must name the file to write.')
  const { story, html, save, mermaid = false, trace = false, json = false } = values
  return {
    file,
    story,
    seeds: wholeNumber('--seeds', values.seeds, 1) ?? simDefaults.seeds,
    from: wholeNumber('--from', values.from, 0) ?? simDefaults.from,
    seed: wholeNumber('--seed', values.seed, 0),
    jobs: wholeNumber('--jobs', values.jobs, 1) ?? simDefaults.jobs,
    keepGoing: values['keep-going'] === true,
    html,
    save,
    mermaid,
    trace,
    json,
  }
}
