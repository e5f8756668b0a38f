import { isMissing } from '../../base/unless-missing.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { readFile, stat } from 'node:fs/promises'
import { checkSettings, snakeCase } from '../../rules/config/check-settings.ts'
import { cleanName } from '../../tools/files/clean-text.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { readConfigText, type TextPlace, type TextProblem } from './config-text.ts'
import { type RuntimeConfig, RuntimeConfigSchema } from './runtime-config.ts'

/** A configuration file as it was read. */
export interface ConfigFile {
  readonly path: string
  /** Keys in camelCase, without those that are wrong. */
  readonly layer: RuntimeConfig
  /** What is wrong with it; empty: nothing. */
  readonly problems: readonly TextProblem[]
  /** The place of a key and its spelling there, by its path in either spelling. */
  readonly find: (key: string) => (TextPlace & { readonly spelt: string }) | undefined
}

const maxFileBytes = 1 << 20
/** At most this many problems are listed; the rest are counted. */
const maxListed = 20

/**
 * Reads JSON with comments and commas at the end. Returns `undefined` if there is no file.
 *
 * @throws `config-invalid` for one that cannot be opened
 */
export async function readConfigFile(path: string): Promise<ConfigFile | undefined> {
  const text = await textOf(path)
  if (text === undefined) return undefined
  const { value, places, problems: textProblems } = readConfigText(text)
  if (textProblems.length > 0) return { path, layer: {}, problems: textProblems, find: () => undefined }
  const checked = checkSettings(RuntimeConfigSchema(), value)
  const problems = checked.problems.map((problem) => {
    const { line, column } = places.get(problem.path) ?? { line: 1, column: 1 }
    return { ...problem, line, column }
  })
  const byKey = new Map([...places].map(([spelt, place]) => [snakeCase(spelt), { ...place, spelt }]))
  return { path, layer: checked.value ?? {}, problems, find: (key) => byKey.get(snakeCase(key)) }
}

/** @throws `config-invalid` that names all problems of the files: file, line, column, key, expected and given value */
export function refuseProblems(files: readonly ConfigFile[]): void {
  const found = files.flatMap(({ path: file, problems }) => problems.map((problem) => ({ ...problem, file })))
  const [first] = found
  if (first === undefined) return
  const messages = found.slice(0, maxListed).map(({ file, path, line, column, expected, got, advice = '' }) => {
    return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}expected ${expected}, got ${got}.${advice}`
  })
  if (found.length > maxListed) messages.push(`And ${found.length - maxListed} more.`)
  const { file, path, line, column } = first
  // A key may be a line break and words after it.
  throw new EntiaError('config-invalid', messages.map(cleanName).join('\n'), {
    file,
    path,
    line,
    column,
    problems: found,
  })
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path)
    if (!stats.isFile()) throw unusable(path, 'It is not a file.')
    if (stats.size > maxFileBytes)
      throw unusable(path, `It must have at most ${maxFileBytes} bytes, got ${stats.size}.`)
    const text = await readFile(path, 'utf8')
    return text.startsWith('\uFEFF') ? text.slice(1) : text
  } catch (error) {
    if (error instanceof EntiaError) throw error
    if (isMissing(error)) return undefined
    throw unusable(path, thrownMessage(error))
  }
}

function unusable(file: string, why: string): EntiaError {
  return new EntiaError('config-invalid', `The configuration file ${file} cannot be read. ${why}`, { file })
}
