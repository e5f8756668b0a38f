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
