import type { Expanded } from './parameter-expansion.ts'
import type { WordReading } from './shell-word.ts'

/** What a command leaves to run later, where the shell that is read has long ended. */
export interface ScheduledProgram {
  /** How its text is written. */
  readonly form: 'crontab' | 'shell'
  /** Its file, by the place among the words; otherwise the text is what the command reads. */
  readonly fileAt?: number
}

const schedulers = new Set(['at', 'batch', 'crontab'])

/**
 * What `crontab`, `at` or `batch` takes down; `undefined`: nothing, as when it lists or removes.
 *
 * @param names of the command at a place @param operands the words behind it
 */
export function scheduledProgram(
  names: readonly string[],
  operands: readonly WordReading[],
  at: number,
): ScheduledProgram | undefined {
  const name = names.find((one) => schedulers.has(one))
  if (name === undefined) return undefined
  const has = (option: RegExp, index: number): boolean =>
    operands[index]?.values.some((value) => option.test(value)) === true
  const places = [...operands.keys()]
  if (name !== 'crontab') {
    if (places.some((index) => has(/^-\w*[lrdcV]/, index))) return undefined
    const option = places.find((index) => has(/^-\w*f/, index))
    if (option === undefined) return { form: 'shell' }
    return { form: 'shell', fileAt: at + 1 + (has(/^-\w*f$/, option) ? option + 1 : option) }
  }
  if (places.some((index) => has(/^-\w*[lrV]/, index))) return undefined
  // What an editor makes of the table is as little known as a file.
  const file = places.find((index) => (!has(/^-./, index) && !has(/^-\w*u$/, index - 1)) || has(/^-\w*e/, index))
  return file === undefined || has(/^-$/, file) ? { form: 'crontab' } : { form: 'crontab', fileAt: at + 1 + file }
}

/** The commands of a table of `cron` as lines of a shell, in the home folder, where they run. */
export function crontabLines({ hasUnknown, values }: Expanded): Expanded {
  return { values: values.map((table) => ['cd ~', ...table.split('\n').map(lineOf)].join('\n')), hasUnknown }
}

function lineOf(line: string): string {
  const [, variable, value = ''] = /^\s*["']?(\w+)["']?\s*=\s*(.*?)\s*$/.exec(line) ?? []
  if (variable !== undefined) return `${variable}='${value.replace(/^(["'])(.*)\1$/, '$2').replaceAll("'", `'\\''`)}'`
  const [, command = ''] = /^\s*(?:@\w+|(?:[^\s#]\S*\s+){4}[^\s#]\S*)\s+(.*)$/.exec(line) ?? []
  // Behind the first `%` stands what the command reads.
  const [, run = command, read] = /^((?:[^\\%]|\\.)*)%(.*)$/.exec(command) ?? []
  const plain = run.replaceAll('\\%', '%')
  if (read === undefined) return plain
  return `{ ${plain}\n} <<'CRON'\n${read.replaceAll(/(?<!\\)%/g, '\n').replaceAll('\\%', '%')}\nCRON`
}
