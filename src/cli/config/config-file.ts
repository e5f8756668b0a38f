import { readFile, stat } from 'node:fs/promises'
import { checkSettings, snakeCase } from '../../rules/config/check-settings.ts'
import { ConfigSchema } from '../../rules/config/config-schema.ts'
import type { ConfigInput } from '../../rules/config/config.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { readConfigText, type TextPlace, type TextProblem } from './config-text.ts'

export interface ConfigFile {
  readonly path: string
  /** Keys in camelCase. */
  readonly layer: ConfigInput
  /** The place of a key and its spelling there, by its path in either spelling. */
  readonly find: (key: string) => (TextPlace & { readonly spelt: string }) | undefined
}

const maxFileBytes = 1 << 20
/** At most this many problems are listed; the rest are counted. */
const maxListed = 20

/**
 * Returns `undefined` if there is no file.
 *
 * @throws `config-invalid` with file, line, column, key, expected and given value
 */
export async function readConfigFile(path: string): Promise<ConfigFile | undefined> {
  const text = await textOf(path)
  if (text === undefined) return undefined
  const { value, places, problems: textProblems } = readConfigText(text)
  if (textProblems.length > 0) throw refusal(path, textProblems)
  const checked = checkSettings(ConfigSchema(), value)
  const problems = checked.problems.map((problem) => {
    const { line, column } = places.get(problem.path) ?? { line: 1, column: 1 }
    return { ...problem, line, column }
  })
  if (problems.length > 0) throw refusal(path, problems)
  const byKey = new Map([...places].map(([spelt, place]) => [snakeCase(spelt), { ...place, spelt }]))
  return { path, layer: checked.value as ConfigInput, find: (key) => byKey.get(snakeCase(key)) }
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
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw unusable(path, error instanceof Error ? error.message : String(error))
  }
}

function unusable(file: string, why: string): EntiaError {
  return new EntiaError('config-invalid', `The configuration file ${file} cannot be read. ${why}`, { file })
}

function refusal(file: string, problems: readonly TextProblem[]): EntiaError {
  const messages = problems.slice(0, maxListed).map(({ path, line, column, expected, got }) => {
    return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}expected ${expected}, got ${got}.`
  })
  if (problems.length > maxListed) messages.push(`And ${problems.length - maxListed} more.`)
  const { path, line, column } = problems[0] as TextProblem
  return new EntiaError('config-invalid', messages.join('\n'), { file, path, line, column, problems })
}
