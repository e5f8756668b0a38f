import type { OpenAI } from 'openai'
import { EntiaError } from '../../world/entia-error.ts'
import { checkHeaders, environmentHeaders, withoutEnvironment } from '../environment-headers.ts'
import { explainedBy } from '../explained-by.ts'
import type { ReplyBound } from '../reply-bound.ts'
import { type Connection, NO_TIMEOUT_MS } from '../streamed-call.ts'
import { wireFetch } from '../wire-fetch.ts'
import { withoutKeys } from '../without-keys.ts'

export type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionChunk,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
export type {
  EasyInputMessage,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
  ResponseReasoningItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'

/** Where a server is called, and as whom. */
export interface ServerOptions extends ReplyBound {
  /** Goes into messages, and keeps one server's thinking from going to another. */
  readonly name: string
  /** @default the environment variable `OPENAI_BASE_URL`, else OpenAI's own address; both for `openai()` alone */
  readonly baseURL?: string | undefined
  readonly apiKey?: string | undefined
  /** Environment variable with the key, read at the first call. Without it and without `apiKey` no key is sent. */
  readonly apiKeyEnv?: string | undefined
  /**
   * Sent with every request. `openai()` without `baseURL` sends those of the environment variable `OPENAI_CUSTOM_HEADERS`
   * as well, save keys.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Makes the HTTP requests. It is called with `redirect: 'manual'`: a redirect fails the call. Node's own `fetch` gives up after 300 s in which nothing arrives; give one with longer
   * limits for models that stay silent for longer.
   */
  readonly fetch?: typeof fetch | undefined
}

/** The SDK as the rest of the adapters uses it. */
export interface OpenAIClient extends Connection {
  readonly sdk: OpenAI
}

/**
 * Loads the SDK and makes a client. This file alone imports the SDK.
 *
 * @throws `missing-api-key`, `invalid-argument`
 */
export async function openOpenAI(options: ServerOptions): Promise<OpenAIClient> {
  const apiKey = keyOf(options)
  const baseURL = options.baseURL === '' ? undefined : options.baseURL
  const isOpenAI = baseURL === undefined
  const headers = { ...(isOpenAI && environmentHeaders('OPENAI_CUSTOM_HEADERS')), ...options.headers }
  checkHeaders(options.name, apiKey, headers)
  const { OpenAI, ...errors } = await import('openai')

  const settings = {
    // The SDK wants a key even for servers that want none; the header is taken out again below.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    webhookSecret: null,
    // What the environment says of an account at OpenAI is no other server's business.
    ...(!isOpenAI && { baseURL, organization: null, project: null }),
    defaultHeaders: { ...(apiKey === undefined && { authorization: null }), ...headers },
    fetch: wireFetch(options.fetch, options.maxReplyBytes),
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
  } as const
  const sdk = withoutEnvironment(['OPENAI_CUSTOM_HEADERS'], () => new OpenAI(settings))
  const clean = withoutKeys({ apiKey, baseURL: sdk.baseURL, headers })
  return { sdk, explain: explainedBy(errors), clean }
}

function keyOf({ name, apiKey, apiKeyEnv }: ServerOptions): string | undefined {
  if (apiKey !== undefined && apiKey !== '') return apiKey
  if (apiKeyEnv === undefined) return undefined
  const key = process.env[apiKeyEnv]
  if (key !== undefined && key !== '') return key
  throw new EntiaError(
    'missing-api-key',
    `${name} has no API key. Set the environment variable ${apiKeyEnv}, or pass the option apiKey.`,
  )
}
