import { Archival } from '../../../components/context/archival.ts'
import { Ceilings } from '../../../components/money/ceilings.ts'
import { Context } from '../../../components/context/context.ts'
import type { DataOf, Initial } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { ConfigSchema } from './config-schema.ts'
import { mergedModels } from './model-tiers.ts'
import type { z } from 'zod'
import { checkSettings, isPlain, type SettingProblem } from './check-settings.ts'

/** A configuration that was checked, nothing left out that has a default. It is a configuration itself. */
export type Config = DataOf<typeof ConfigSchema>

/** What `readConfig` has given: it is not read again. */
const readBefore = new WeakSet<object>()

/**
 * Reads a configuration: keys in snake_case or camelCase, one spelling each. `undefined` is an empty one.
 *
 * @throws `config-invalid` naming each key that is wrong as it was spelt, what was expected and what came
 */
export function readConfig(given: unknown): Config {
  if (typeof given === 'object' && given !== null && readBefore.has(given)) return given as Config
  const filled = ConfigSchema().parse(checkedLayer(given))
  if (filled.archival.enabled && !filled.subagents.enabled) {
    const message =
      'archival.enabled requires subagents.enabled. Set subagents.enabled: true or archival.enabled: false.'
    throw new EntiaError('config-invalid', message, { path: 'archival.enabled' })
  }
  const modelsByTier = mergedModels(filled.context.modelsByTier)
  const config = frozen({ ...filled, context: { ...filled.context, modelsByTier } })
  readBefore.add(config)
  return config
}

/**
 * The components that an agent of a configuration is spawned with: `Context`, `Ceilings` if it names a ceiling, and
 * `Archival` if that is switched on. Prices are none of an agent's: they go to the Host.
 *
 * @throws `config-invalid` for what `readConfig` would not give
 */
export function configured(config: Config): Initial[] {
  const { archival, ceilings, context } = readConfig(config)
  const { agentic, checkpoint, modelsByTier, taskClass, tiers, watchdog, watchdogThreshold } = context
  const { timeoutSeconds, ...compaction } = context.compaction
  const parts = [
    Context({
      agentic,
      checkpoint,
      compaction: { ...compaction, timeoutMs: toMs(timeoutSeconds) },
      modelsByTier,
      taskClass,
      tiers,
      watchdog: { mode: watchdog, threshold: watchdogThreshold },
    }),
  ]
  if (ceilings.maxSessionCostUsd !== undefined || ceilings.maxTurnCostUsd !== undefined) parts.push(Ceilings(ceilings))
  if (archival.enabled) {
    const { timeoutSeconds: summarySeconds, ...summary } = archival.summary
    parts.push(Archival({ ...archival, summary: { ...summary, timeoutMs: toMs(summarySeconds) } }))
  }
  return parts
}

/** In whole milliseconds, at least one. */
function toMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1_000))
}

function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part as object)
  return Object.freeze(value)
}

/** A configuration as programs write it: what is left out has its default. */
export type ConfigInput = z.input<ReturnType<typeof ConfigSchema>>

/**
 * Checks what one place says of a configuration, and gives its keys in camelCase. Nothing is filled in.
 *
 * @throws `config-invalid` naming each key that is wrong as it was spelt, what was expected and what came
 */
function checkedLayer(given: unknown): ConfigInput {
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

/**
 * One configuration out of several, later ones before earlier ones: objects merge, all else is replaced. A key is the same
 * in either spelling; it comes out in camelCase. A layer that is `undefined` says nothing. Nothing is filled in, and what
 * keys ask of each other is left to `readConfig`.
 *
 * @throws `config-invalid` for what is wrong in any layer, though a later one may replace it
 */
export function mergeConfig(...layers: readonly unknown[]): ConfigInput {
  return layers.map(checkedLayer).reduce<ConfigInput>((below, above) => merged(below, above), {})
}

function merged<T extends object>(below: T, above: T): T {
  const both = new Map<string, unknown>(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const before = both.get(key)
    both.set(key, isPlain(before) && isPlain(value) ? merged(before, value) : value)
  }
  return Object.fromEntries(both) as T
}
