/** Model providers, what they are sent, and what their models cost. */

// Providers, for those that need a key, an address or other options from the program.
export { anthropic, type AnthropicOptions } from '../models/anthropic.ts'
export {
  type CompatibleOptions,
  moonshot,
  ollama,
  openai,
  openaiCompatible,
  type OpenAIOptions,
} from '../models/openai.ts'
export { providerDefaults, type ReplyBound } from '../models/reply-bound.ts'
export {
  fail,
  scripted,
  type ScriptedBehaviour,
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedReply,
} from '../models/scripted.ts'

// A provider of your own: the port, and when a failed call is tried again.
export { type Failure, type FailureKind, type RetryPolicy, standardRetry } from '../protocol/failure.ts'
export type { TokenUsage } from '../protocol/usage.ts'
export { parseModel } from '../protocol/model-name.ts'
export type {
  ModelContext,
  ModelDelta,
  ModelOptions,
  ModelOutcome,
  ModelProvider,
  ModelReply,
  ModelRequest,
} from '../models/port.ts'
export { project } from '../rules/projection/project.ts'
export { textOf } from '../rules/projection/text-of.ts'

// Prices and context windows.
export type { DearestRates } from '../rules/money/call-cost.ts'
export type { Price } from '../rules/money/price-overrides.ts'
export { contextWindowOf, priced, type PricedCall, type PriceLookup, ratesOf } from '../models/prices.ts'
