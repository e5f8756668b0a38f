import type { z } from 'zod'
import { EntiaError } from '../../world/entia-error.ts'
import { checkSettings, type SettingProblem } from './check-settings.ts'
import { ConfigSchema } from './config-schema.ts'

/** A configuration as programs write it: what is left out has its default. */
export type ConfigInput = z.input<ReturnType<typeof ConfigSchema>>

/**
 * Checks what one place says of a configuration, and gives its keys in camelCase. Nothing is filled in.
 *
 * @throws `config-invalid` naming each key that is wrong as it was spelt, what was expected and what came
 */
export function checkedLayer(given: unknown): ConfigInput {
  const { value, problems } = checkSettings(ConfigSchema(), given)
  if (problems.length === 0) return value ?? {}
  const path = problems[0]?.path
  throw new EntiaError('config-invalid', `The configuration cannot be used.${inLines(problems)}`, { path, problems })
}

/** So many problems are told; the rest is counted. */
const maxTold = 20

function inLines(problems: readonly SettingProblem[]): string {
  const told = problems.slice(0, maxTold).map(({ path, expected, came }) => {
    return `${path === '' ? 'It' : path}: expected ${expected}, came ${came}.`
  })
  if (problems.length > maxTold) told.push(`And ${problems.length - maxTold} more.`)
  return told.length === 1 ? ` ${told.join('')}` : `\n${told.join('\n')}`
}
