import { ConfigSchema } from '../../rules/config/config-schema.ts'
import { isPlain } from '../../rules/config/check-settings.ts'
import type { ConfigInput } from '../../rules/config/config.ts'

/** Is the project's value less strict than the user's? */
type IsLooser = (given: unknown, held: unknown) => boolean

const bounds: Readonly<Record<string, IsLooser>> = {
  approvalMode: behind('deny', 'ask', 'allow'),
  'ceilings.maxSessionCostUsd': above,
  'ceilings.maxTurnCostUsd': above,
  'ceilings.onUnpriced': behind('refuse', 'warn'),
  // A false price would bypass every ceiling.
  'context.prices': () => true,
  'context.smallTierParent': behind('refuse', 'warn', 'allow'),
  'context.watchdog': behind('enforce', 'feedback', 'warn', 'off'),
  'context.watchdogThreshold': above,
  trustedFolders: () => true,
}

/** Splits off the keys of a project's configuration that would loosen the user's. */
export function tightened(
  project: ConfigInput,
  own: ConfigInput,
): { readonly layer: ConfigInput; readonly ignored: readonly string[] } {
  const held = { approvalMode: 'ask', ...ConfigSchema().parse(own) }
  const ignored = Object.keys(bounds).filter((key) => {
    const given = valueAt(project, key.split('.'))
    return given !== undefined && bounds[key]?.(given, valueAt(held, key.split('.'))) === true
  })
  const layer = ignored.reduce<ConfigInput>((rest, key) => without(rest, key.split('.')), project)
  return { layer, ignored }
}

/** Any ceiling is stricter than none. */
function above(given: unknown, held: unknown): boolean {
  return typeof given === 'number' && typeof held === 'number' && given > held
}

/** @param words the strictest first */
function behind(...words: readonly string[]): IsLooser {
  return (given, held) => words.indexOf(String(given)) > words.indexOf(String(held))
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => (isPlain(inner) ? inner[key] : undefined), value)
}

function without<T extends object>(object: T, [key = '', ...rest]: readonly string[]): T {
  const entries = Object.entries(object).flatMap(([name, value]: [string, unknown]) => {
    if (name !== key) return [[name, value] as const]
    return rest.length === 0 || !isPlain(value) ? [] : [[name, without(value, rest)] as const]
  })
  return Object.fromEntries(entries) as T
}
