import { Archival } from '../../../components/context/archival.ts'
import { Ceilings } from '../../../components/money/ceilings.ts'
import { Context } from '../../../components/context/context.ts'
import type { DataOf, Initial } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { ConfigSchema } from './config-schema.ts'
import { mergedModels } from './model-tiers.ts'
import type { z } from 'zod'
import { checkSettings, isPlain, type SettingProblem } from './check-settings.ts'

/** A checked configuration with all defaults. It is valid input itself. */
export type Config = DataOf<typeof ConfigSchema>

/** Results of `readConfig`, which are not checked again. */
const readBefore = new WeakSet<object>()

/**
 * Reads a configuration: keys in snake_case or camelCase, one spelling each. `undefined` is an empty one.
 * @throws `config-invalid` naming each wrong key as spelt, what was expected and what was given
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
 * The components of an agent with a configuration: `Context`, `Ceilings` if it has a ceiling, and `Archival` if
 * enabled. Prices are the Host's.
 * @throws `config-invalid` for an invalid configuration
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

function toMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1_000))
}

function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) frozen(part as object)
  return Object.freeze(value)
}

/** A configuration as programs write it: absent keys have their defaults. */
export type ConfigInput = z.input<ReturnType<typeof ConfigSchema>>

/**
 * Checks one layer and converts its keys to camelCase, without defaults.
 * @throws `config-invalid`, as `readConfig` does
 */
function checkedLayer(given: unknown): ConfigInput {
  const { value, problems } = checkSettings(ConfigSchema(), given)
  if (problems.length === 0) return value ?? {}
  const path = problems[0]?.path
  throw new EntiaError('config-invalid', `The configuration cannot be used.${inLines(problems)}`, { path, problems })
}

const maxListed = 20

function inLines(problems: readonly SettingProblem[]): string {
  const listed = problems.slice(0, maxListed).map(({ path, expected, got, advice = '' }) => {
    return `${path === '' ? 'It' : path}: expected ${expected}, got ${got}.${advice}`
  })
  if (problems.length > maxListed) listed.push(`And ${problems.length - maxListed} more.`)
  return listed.length === 1 ? ` ${listed.join('')}` : `\n${listed.join('\n')}`
}

/**
 * Merges configurations, later ones over earlier ones: objects merge, anything else is replaced. Keys match in either
 * spelling and come out in camelCase. `undefined` layers are skipped. Defaults are not filled in, and dependencies
 * between keys are left to `readConfig`.
 * @throws `config-invalid` for an invalid layer, even if a later one replaces the key
 */
export function mergeConfig(...layers: readonly unknown[]): ConfigInput {
  return layers.map(checkedLayer).reduce<ConfigInput>((below, above) => mergeLayers(below, above), {})
}

/** Lays one checked layer over another: objects merge, anything else is replaced. */
export function mergeLayers<T extends object>(below: T, above: T): T {
  const both = new Map<string, unknown>(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const before = both.get(key)
    both.set(key, isPlain(before) && isPlain(value) ? mergeLayers(before, value) : value)
  }
  return Object.fromEntries(both) as T
}
