import { z } from 'zod'
import { valuePath } from '../text/value-path.ts'
import { nameOfKey, snakeCase } from './key-spelling.ts'
import { expectedBy, isPlain, settingKind } from './setting-kind.ts'
import { cutText } from '../text/cut-text.ts'

/** What is wrong with one key. */
export interface SettingProblem {
  /** The key, spelt as it was given. */
  readonly path: string
  readonly expected: string
  /** What stands there instead, cut if it is long. */
  readonly came: string
}

/** Settings with their keys in camelCase, and all that is wrong with them. What is wrong is left out of the value. */
export interface CheckedSettings {
  readonly value: unknown
  readonly problems: readonly SettingProblem[]
}

/** Checks what was given for a schema of sections, tables and values. `undefined` counts as not given. */
export function checkSettings(schema: z.core.$ZodType, given: unknown): CheckedSettings {
  const problems: SettingProblem[] = []
  return { value: checked(schema, given, [], problems), problems }
}

function checked(
  schema: z.core.$ZodType,
  given: unknown,
  path: readonly string[],
  problems: SettingProblem[],
): unknown {
  if (given === undefined) return undefined
  const setting = settingKind(schema)
  if (setting.kind === 'value') {
    if (z.safeParse(schema, given).success) return given
    problems.push(problem(path, setting.expected, inWords(given)))
    return undefined
  }
  if (!isPlain(given)) {
    problems.push(problem(path, 'an object', inWords(given)))
    return undefined
  }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return setting.kind === 'section'
    ? checkedSection(setting.settings, entries, path, problems)
    : checkedTable(setting, entries, path, problems)
}

function checkedSection(
  settings: Readonly<Record<string, z.core.$ZodType>>,
  entries: readonly (readonly [key: string, value: unknown])[],
  path: readonly string[],
  problems: SettingProblem[],
): unknown {
  const names = Object.keys(settings)
  const seen = new Map<string, string>()
  const values: [string, unknown][] = []
  for (const [key, value] of entries) {
    const name = nameOfKey(key, names)
    const schema = name === undefined ? undefined : settings[name]
    if (name === undefined || schema === undefined) {
      problems.push(problem([...path, key], `one of ${names.map(snakeCase).join(', ')}`, 'a key that is not known'))
      continue
    }
    const first = seen.get(name)
    if (first !== undefined) {
      const again = `the same key as ${valuePath([...path, first])}`
      problems.push(problem([...path, key], 'one spelling of a key', again))
      continue
    }
    seen.set(name, key)
    values.push([name, checked(schema, value, [...path, key], problems)])
  }
  return Object.fromEntries(values)
}

function checkedTable(
  { keys, values }: { readonly keys: z.core.$ZodType; readonly values: z.core.$ZodType },
  entries: readonly (readonly [key: string, value: unknown])[],
  path: readonly string[],
  problems: SettingProblem[],
): unknown {
  const checkedEntries = entries.map(([key, value]) => {
    // A schema leaves out a key of that name, and says nothing.
    const isKey = key !== '__proto__' && z.safeParse(keys, key).success
    if (!isKey) problems.push(problem([...path, key], `${expectedBy(keys)} as the key`, inWords(key)))
    return [key, checked(values, value, [...path, key], problems)]
  })
  return Object.fromEntries(checkedEntries)
}

function problem(path: readonly string[], expected: string, came: string): SettingProblem {
  return { path: valuePath(path), expected, came }
}

/** Longest text that is quoted whole. */
const maxQuoted = 60

function inWords(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(cutText(value, maxQuoted, '...'))
  }
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return isPlain(value) ? 'an object' : 'no plain object'
  return typeof value === 'function' ? 'a function' : String(value)
}
