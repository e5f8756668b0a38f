import type { ModelsByTier, Tier } from '../../protocol/tier.ts'

const gemini = { frontier: 'gemini-3.5-pro', mid: 'gemini-2.5-pro', small: 'gemini-2.5-flash' }

/** Each tier's model, of the providers that have one, as of 2026-11-22. */
const builtInModels: ModelsByTier = {
  anthropic: { frontier: 'claude-opus-4-7', mid: 'claude-sonnet-4-6', small: 'claude-haiku-4-5' },
  gemini,
  openai: { small: 'gpt-6-luna' },
  vertex: gemini,
}

/** The built-in table with these entries in place of its own, each tier by itself. */
export function mergedModels(models: ModelsByTier = {}): ModelsByTier {
  const providers = [...new Set([...Object.keys(builtInModels), ...Object.keys(models)])]
  return Object.fromEntries(
    providers.map((provider) => [provider, { ...builtInModels[provider], ...models[provider] }]),
  )
}

/** A provider's model of a tier, by its name without the provider; `undefined`: there is none to suggest. */
export function modelOfTier(provider: string, tier: Tier, models: ModelsByTier = {}): string | undefined {
  return models[provider]?.[tier] ?? builtInModels[provider]?.[tier]
}
