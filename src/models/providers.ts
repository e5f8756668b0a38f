import { EntiaError } from '../world/entia-error.ts'
import { anthropic } from './anthropic.ts'
import { moonshot, ollama, openai } from './openai.ts'
import type { ModelProvider } from './port.ts'

/**
 * The providers that a world has without being given any, by the name before the slash. None of them loads an SDK or
 * asks for a key before it is called.
 */
export function builtInProviders(): Record<string, ModelProvider> {
  return { anthropic: anthropic(), openai: openai(), ollama: ollama(), moonshot: moonshot() }
}

/**
 * Splits a model's full name, `provider/model`, at its first slash. A name without one is both, as fits a provider that
 * stands for a single model.
 *
 * @throws `invalid-argument` when a part is missing
 */
export function parseModel(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf('/')
  const provider = slash < 0 ? name : name.slice(0, slash)
  const model = slash < 0 ? name : name.slice(slash + 1)
  if (provider === '' || model === '') {
    throw new EntiaError(
      'invalid-argument',
      `A model is named "provider/model", such as "anthropic/claude-sonnet-5"; got "${name}".`,
      { model: name },
    )
  }
  return { provider, model }
}
