import { oneOf, type Shape, table, text } from '../../base/option-shapes.ts'

/** A provider of models, as far as a choice among them needs it. */
export interface KnownProvider {
  /** Absent: a model must be named. */
  readonly defaultModel?: string | undefined
  /** The environment variable with its key. Absent: it needs none. */
  readonly keyVariable?: string | undefined
}

/** A provider that a configuration describes. */
export interface ProviderConfig {
  /** The API that its server speaks. */
  readonly api: 'openai-chat' | 'openai-responses' | 'anthropic'
  readonly baseUrl: string
  /** The environment variable with its key. Absent: no key is sent. */
  readonly apiKeyEnv?: string | undefined
  readonly defaultModel: string
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The providers that come with the package. Their default models were checked on 2026-11-23: in the SDKs' lists of models, and
 * of Moonshot and Ollama in the price list and the default of `localModels`.
 */
export const builtInProviderTable = {
  anthropic: { defaultModel: 'claude-sonnet-5-5', keyVariable: 'ANTHROPIC_API_KEY' },
  openai: { defaultModel: 'gpt-6.1-terra', keyVariable: 'OPENAI_API_KEY' },
  moonshot: { defaultModel: 'kimi-k3', keyVariable: 'MOONSHOT_API_KEY' },
  ollama: { defaultModel: 'gpt-oss:20b' },
} as const satisfies Readonly<Record<string, KnownProvider>>

/** The providers that come with the package, and those of a configuration, which count over them. */
export function knownProviders(
  configured: Readonly<Record<string, ProviderConfig>> = {},
): Readonly<Record<string, KnownProvider>> {
  const own = Object.entries(configured).map(([name, { defaultModel, apiKeyEnv }]) => {
    return [name, { defaultModel, keyVariable: apiKeyEnv }] as const
  })
  return { ...builtInProviderTable, ...Object.fromEntries(own) }
}

/** A key of the environment; blank ones count as unset. */
export function keyOf(env: Environment, variable: string): string | undefined {
  const key = (Object.hasOwn(env, variable) ? env[variable] : undefined) ?? ''
  return key.trim() === '' ? undefined : key
}

/** The `providers` of a configuration. */
export const configuredProviders: Shape = {
  wanted: 'an object of providers, each { api, baseUrl, defaultModel }',
  fits: (value) => table.fits(value) && Object.values(value as object).every(isConfigured),
}

function isConfigured(value: unknown): boolean {
  if (!table.fits(value)) return false
  const { api, apiKeyEnv, baseUrl, defaultModel } = value as Readonly<Record<keyof ProviderConfig, unknown>>
  const isNamed = text.fits(defaultModel) && (apiKeyEnv === undefined || text.fits(apiKeyEnv))
  return oneOf('openai-chat', 'openai-responses', 'anthropic').fits(api) && text.fits(baseUrl) && isNamed
}
