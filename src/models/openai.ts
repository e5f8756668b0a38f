import type { JsonObject } from '../base/json.ts'
import type { ThinkingField } from './openai/chat-request.ts'
import type { ServerOptions } from './openai/client.ts'
import { EntiaError } from '../base/entia-error.ts'
import { shortly } from '../base/known-options.ts'
import {
  address,
  callback,
  checkOptions,
  count,
  filledText,
  oneOf,
  refuseMisfit,
  type ShapesOf,
  table,
  tableOf,
  text,
} from '../base/option-shapes.ts'
import { providerOnDemand } from './provider-on-demand.ts'
import type { ModelProvider } from './port.ts'

/** The key is by default the environment variable `OPENAI_API_KEY`. */
export interface OpenAIOptions extends Omit<ServerOptions, 'name' | 'apiKeyEnv'> {
  /** Environment variable with the key, read at the first call. @default 'OPENAI_API_KEY' */
  readonly apiKeyEnv?: string | undefined
  /** Set it for another server of the same API: one server's thinking never goes to another. @default 'openai' */
  readonly name?: string | undefined
}

/** Options of `openaiCompatible`. */
export interface CompatibleOptions extends ServerOptions {
  readonly baseURL: string
  /** The field for thinking in requests. @default the one that the reply used, of the two */
  readonly thinkingField?: ThinkingField | undefined
}

/** Options of a preset. */
export type PresetOptions = Omit<ServerOptions, 'name' | 'apiKeyEnv'>

const defaultThinkingField: ThinkingField = 'reasoning_content'

const openaiShapes: ShapesOf<OpenAIOptions> = {
  name: filledText,
  baseURL: address,
  apiKey: text,
  apiKeyEnv: filledText,
  headers: tableOf(text),
  fetch: callback,
  maxReplyBytes: count,
}
const compatibleShapes: ShapesOf<CompatibleOptions> = {
  ...openaiShapes,
  baseURL: text,
  apiKeyEnv: text,
  thinkingField: oneOf('reasoning_content', 'reasoning'),
}

/** OpenAI's models, by the Responses API; nothing is stored there. The SDK is loaded at the first call. */
export function openai(options: OpenAIOptions = {}): ModelProvider {
  checkOptions('openai()', options, openaiShapes)
  const { name = 'openai', apiKeyEnv = 'OPENAI_API_KEY' } = options
  const server = { ...options, name, apiKeyEnv }
  return providerOnDemand(
    async () => (await import('./openai/providers.ts')).responsesProvider(server),
    // The name decides whose thinking is sent back.
    { settings: options.name === undefined ? undefined : { name }, maxReplyBytes: options.maxReplyBytes },
  )
}

/** Models on a server of the Chat Completions API: vLLM, llama.cpp, DashScope … The SDK is loaded at the first call. */
export function openaiCompatible(options: CompatibleOptions): ModelProvider {
  checkOptions('openaiCompatible()', options, compatibleShapes)
  const { name, thinkingField = defaultThinkingField } = options
  refuseMisfit('openaiCompatible()', 'name', name, filledText)
  return chat(options, { name, thinkingField })
}

/** @param settings options that change requests; a preset has none */
function chat(options: CompatibleOptions, settings?: JsonObject): ModelProvider {
  checkOptions('openaiCompatible()', options, compatibleShapes)
  refuseNoAddress(options.baseURL)
  const { thinkingField, ...server } = options
  return providerOnDemand(async () => (await import('./openai/providers.ts')).chatProvider(server, thinkingField), {
    settings,
    maxReplyBytes: options.maxReplyBytes,
  })
}

/** Models that Ollama serves on this machine. No key. */
export function ollama(options: PresetOptions = {}): ModelProvider {
  refuseMisfit('ollama()', 'options', options, table)
  return chat({
    ...options,
    baseURL: options.baseURL ?? 'http://localhost:11434/v1',
    name: 'ollama',
    thinkingField: 'reasoning',
  })
}

/** Kimi, at Moonshot. The key is by default the environment variable `MOONSHOT_API_KEY`. */
export function moonshot(options: PresetOptions = {}): ModelProvider {
  refuseMisfit('moonshot()', 'options', options, table)
  return chat({
    ...options,
    baseURL: options.baseURL ?? 'https://api.moonshot.ai/v1',
    name: 'moonshot',
    apiKeyEnv: 'MOONSHOT_API_KEY',
  })
}

/** Without a URL the SDK would call OpenAI. Untyped programs may leave it out. */
function refuseNoAddress(baseURL: string | undefined): void {
  if (typeof baseURL === 'string' && URL.canParse(baseURL)) return
  throw new EntiaError(
    'invalid-argument',
    `openaiCompatible(): baseURL must be the address of the server, got ${shortly(baseURL)}. ` +
      "Write baseURL: 'http://localhost:8000/v1', for example.",
    { option: 'baseURL' },
  )
}
