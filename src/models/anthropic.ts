import type { JsonObject } from '../base/json.ts'
import type { AnthropicOptions } from './anthropic/client.ts'
import {
  address,
  callback,
  checkOptions,
  count,
  filledText,
  type ShapesOf,
  tableOf,
  text,
} from '../base/option-shapes.ts'
import { providerOnDemand } from './provider-on-demand.ts'
import type { ModelProvider } from './port.ts'

export type { AnthropicOptions } from './anthropic/client.ts'

const optionShapes: ShapesOf<AnthropicOptions> = {
  apiKey: text,
  apiKeyEnv: filledText,
  baseURL: address,
  headers: tableOf(text),
  fetch: callback,
  maxReplyBytes: count,
}

/**
 * Claude, by the Messages API. The SDK is loaded at the first call.
 *
 * `options.thinking` as a number is a token budget, for models that think on a budget; as a name it is an effort with
 * adaptive thinking, for all newer ones. The API takes budgets of 1,024 tokens or more and below `maxOutputTokens`: a smaller
 * one is raised, and one that leaves no room for an answer becomes half of `maxOutputTokens`.
 *
 * @throws `invalid-argument`
 */
export function anthropic(options: AnthropicOptions = {}): ModelProvider {
  checkOptions('anthropic()', options, optionShapes)
  return providerOnDemand(async () => (await import('./anthropic/provider.ts')).messagesProvider(options), {
    settings: settingsOf(options),
    maxReplyBytes: options.maxReplyBytes,
  })
}

/** Headers such as `anthropic-beta` change the meaning of a request. */
function settingsOf({ headers = {} }: AnthropicOptions): JsonObject | undefined {
  const own = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => name.startsWith('anthropic-'))
  return own.length === 0 ? undefined : Object.fromEntries(own)
}
