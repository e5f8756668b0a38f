import { parseModel } from '../../protocol/model-name.ts'
import { EntiaError } from '../../world/entia-error.ts'

/** The model of a provider if none is named; from the SDKs' lists of models, as of 2026-11-21. */
const defaultModels: Readonly<Record<string, string>> = {
  anthropic: 'claude-sonnet-5-5',
  openai: 'gpt-6.1-terra',
}

/**
 * The whole name of a model, `provider/model`. A model that begins with the name of a known provider names both.
 *
 * @throws `conflicting-provider`, `unknown-provider`; `invalid-argument` for a provider without a default model
 */
export function chatModel(
  { provider, model }: { readonly provider?: string | undefined; readonly model?: string | undefined },
  providers: readonly string[],
  defaultProvider: string,
): string {
  const named = model?.includes('/') === true ? parseModel(model).provider : undefined
  const isWhole = named !== undefined && providers.includes(named)
  if (isWhole && provider !== undefined && provider !== named) {
    const what = `The model '${model}' is one of ${named}, and the provider is '${provider}'.`
    throw new EntiaError('conflicting-provider', `${what} Name one of the two only.`, { provider, model })
  }
  const chosen = isWhole ? named : (provider ?? defaultProvider)
  if (!providers.includes(chosen)) {
    const known = `Known: ${providers.join(', ')}.`
    throw new EntiaError('unknown-provider', `There is no model provider '${chosen}'. ${known}`, { provider: chosen })
  }
  if (isWhole) return model as string
  const name = model ?? (Object.hasOwn(defaultModels, chosen) ? defaultModels[chosen] : undefined)
  if (name !== undefined) return `${chosen}/${name}`
  throw new EntiaError('invalid-argument', `The provider '${chosen}' has no default model. Pass the option 'model'.`, {
    option: 'model',
  })
}
