import { z } from 'zod'
import { valuePath } from '../text/schema-issues.ts'
import { didYouMean } from '../../base/near-names.ts'
import { cutText } from '../../base/cut-text.ts'

export interface SettingProblem {
  /** The key as it was spelt. */
  readonly path: string
  readonly expected: string
  /** What was given instead, cut if it is long. */
  readonly got: string
  /** Of a key that is not known: those it may have been meant for, as a sentence behind a blank. */
  readonly advice?: string
}

/** Settings with keys in camelCase, without those that are wrong, and the problems. */
export interface CheckedSettings {
  readonly value: unknown
  readonly problems: readonly SettingProblem[]
}

/** Checks a value against a schema of sections, tables and values. `undefined` counts as absent. */
export function checkSettings(schema: z.core.$ZodType, given: unknown): CheckedSettings {
  const problems: SettingProblem[] = []
  return { value: checked(schema, given, [], problems), problems }
}

function checked(
  schema: z.core.$ZodType,
  given: unknown,
  path: readonly PropertyKey[],
  problems: SettingProblem[],
): unknown {
  if (given === undefined) return undefined
  const setting = settingKind(schema)
  if (setting.kind === 'value') {
    const { error } = z.safeParse(schema, given)
    if (error === undefined) return given
    problems.push(problem(path, setting.expected, wrongEntry(given, error) ?? inWords(given)))
    return undefined
  }
  if (setting.kind === 'either') {
    return checked(typeof given === 'object' ? setting.section : setting.value, given, path, problems)
  }
  if (setting.kind === 'list') {
    if (Array.isArray(given))
      return given.map((one, at) => checked(setting.items, one ?? null, [...path, at], problems))
    problems.push(problem(path, 'a list', inWords(given)))
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
  path: readonly PropertyKey[],
  problems: SettingProblem[],
): unknown {
  const names = Object.keys(settings)
  const seen = new Map<string, string>()
  const values: [string, unknown][] = []
  for (const [key, value] of entries) {
    const name = names.find((known) => key === known || key === snakeCase(known))
    const schema = name === undefined ? undefined : settings[name]
    if (name === undefined || schema === undefined) {
      const known = /[A-Z]/.test(key) ? names : names.map(snakeCase)
      const unknown = problem([...path, key], `one of ${known.join(', ')}`, 'a key that is not known')
      problems.push({ ...unknown, advice: didYouMean(key, known) })
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
  for (const name of names.filter((each) => !seen.has(each) && !isOptional(settings[each]))) {
    const expected = `the key ${snakeCase(name)} in it`
    problems.push(problem(path, expected, 'an object without'))
  }
  return Object.fromEntries(values)
}

function checkedTable(
  { keys, values }: { readonly keys: z.core.$ZodType; readonly values: z.core.$ZodType },
  entries: readonly (readonly [key: string, value: unknown])[],
  path: readonly PropertyKey[],
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

function isOptional(schema: z.core.$ZodType | undefined): boolean {
  return schema !== undefined && z.safeParse(schema, undefined).success
}

function problem(path: readonly PropertyKey[], expected: string, got: string): SettingProblem {
  return { path: valuePath(path), expected, got }
}

/** The first entry of a list that is wrong; `undefined` if it is not one of them. */
function wrongEntry(given: unknown, { issues }: z.ZodError): string | undefined {
  const index = issues.map(({ path }) => path[0]).find((at) => typeof at === 'number')
  if (!Array.isArray(given) || index === undefined) return undefined
  return `a list whose entry ${index + 1} is ${inWords(given[index])}`
}

const maxQuoted = 60

function inWords(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(cutText(value, maxQuoted, '...'))
  }
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return isPlain(value) ? 'an object' : 'no plain object'
  return typeof value === 'function' ? 'a function' : String(value)
}

/** A section has keys of its own; a table's keys are data. A list is one of sections; `either` is a value or a section. */
export type SettingKind =
  | { readonly kind: 'section'; readonly settings: Readonly<Record<string, z.core.$ZodType>> }
  | { readonly kind: 'table'; readonly keys: z.core.$ZodType; readonly values: z.core.$ZodType }
  | { readonly kind: 'list'; readonly items: z.core.$ZodType }
  | { readonly kind: 'either'; readonly value: z.core.$ZodType; readonly section: z.core.$ZodType }
  | { readonly kind: 'value'; readonly expected: string }

/** Looks through optional, default and nullable wrappers. */
export function settingKind(schema: z.core.$ZodType): SettingKind {
  const { def } = (schema as z.core.$ZodTypes)['_zod']
  switch (def.type) {
    case 'default':
    case 'prefault':
    case 'optional':
      return settingKind(def.innerType)
    case 'nullable': {
      const inner = settingKind(def.innerType)
      return inner.kind === 'value' ? { kind: 'value', expected: `${inner.expected}, or null` } : inner
    }
    case 'object':
      return { kind: 'section', settings: def.shape }
    case 'record':
      return { kind: 'table', keys: def.keyType, values: def.valueType }
    case 'array': {
      const isOfSections = settingKind(def.element).kind === 'section'
      return isOfSections ? { kind: 'list', items: def.element } : { kind: 'value', expected: expectedBy(schema) }
    }
    case 'union': {
      const [value, section, more] = def.options
      const isEither = value !== undefined && section !== undefined && more === undefined
      if (!isEither || settingKind(section).kind !== 'section') return { kind: 'value', expected: expectedBy(schema) }
      return { kind: 'either', value, section }
    }
    default:
      return { kind: 'value', expected: expectedBy(schema) }
  }
}

function expectedBy(schema: z.core.$ZodType): string {
  return z.globalRegistry.get(schema)?.description ?? 'another value'
}

/** Is it a plain object, as JSON has them? */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A camelCase name as in a configuration file: `cacheWrite1h` becomes `cache_write_1h`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`)
}
