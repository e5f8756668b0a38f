import { anthropic } from './anthropic.ts'
import { moonshot, ollama, openai } from './openai.ts'
import type { ModelProvider } from './port.ts'

/** The default providers by name. None loads an SDK or needs a key before it is called. */
export function builtInProviders(): Record<string, ModelProvider> {
  return { anthropic: anthropic(), openai: openai(), ollama: ollama(), moonshot: moonshot() }
}
