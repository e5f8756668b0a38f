import type { OpenAI } from 'openai'
import { EntiaError } from '../../base/entia-error.ts'
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

export interface ServerOptions extends ReplyBound {
  /** Used in messages, and keeps one server's thinking from going to another. */
  readonly name: string
  /** @default the environment variable `OPENAI_BASE_URL`, else OpenAI's own address; both for `openai()` alone */
  readonly baseURL?: string | undefined
  /** The key that is sent. @default what `apiKeyEnv` holds */
  readonly apiKey?: string | undefined
  /** Environment variable with the key, read at the first call. Without it and `apiKey` no key is sent. */
  readonly apiKeyEnv?: string | undefined
  /** Sent with every request. `openai()` without `baseURL` adds those of `OPENAI_CUSTOM_HEADERS`, except keys. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Called with `redirect: 'manual'`: a redirect fails the call. Node's own `fetch` gives up after 300 s of silence; give one
   * with longer limits for slow models.
   */
  readonly fetch?: typeof fetch | undefined
}

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
  const headers = customHeaders(options)
  checkHeaders(options.name, apiKey, headers)
  const { OpenAI, ...errors } = await import('openai')

  const settings = {
    // The SDK requires a key even for servers without one; the header is removed below.
    apiKey: apiKey ?? 'none',
    adminAPIKey: null,
    webhookSecret: null,
    // Other servers get no OpenAI account data from the environment.
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

/** What is sent besides the key. */
export function customHeaders({ baseURL = '', headers }: ServerOptions): Readonly<Record<string, string>> {
  return { ...(baseURL === '' && environmentHeaders('OPENAI_CUSTOM_HEADERS')), ...headers }
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
