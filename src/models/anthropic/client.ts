import type { Anthropic } from '@anthropic-ai/sdk'
import { EntiaError } from '../../base/entia-error.ts'
import type { JsonObject } from '../../base/json.ts'
import { checkHeaders, environmentHeaders, withoutEnvironment } from '../environment-headers.ts'
import { explainedBy } from '../explained-by.ts'
import type { ReplyBound } from '../reply-bound.ts'
import { type Connection, NO_TIMEOUT_MS } from '../streamed-call.ts'
import { wireFetch } from '../wire-fetch.ts'
import { withoutKeys } from '../without-keys.ts'

export type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  RawMessageStreamEvent,
  StopReason,
  TextBlockParam,
  Tool,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages'

/** Options of `anthropic`. */
export interface AnthropicOptions extends ReplyBound {
  /** @default what `apiKeyEnv` holds at the first call */
  readonly apiKey?: string | undefined
  /** Environment variable with the key. @default 'ANTHROPIC_API_KEY' */
  readonly apiKeyEnv?: string | undefined
  /** @default the environment variable `ANTHROPIC_BASE_URL`, else Anthropic's own address */
  readonly baseURL?: string | undefined
  /** Sent with every request. Without `baseURL`, those of `ANTHROPIC_CUSTOM_HEADERS` are sent too, except keys. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Called with `redirect: 'manual'`: a redirect fails the call. Node's own `fetch` gives up after 300 s of silence; give one
   * with longer limits for slow models.
   */
  readonly fetch?: typeof fetch | undefined
}

export interface AnthropicClient extends Connection {
  readonly sdk: Anthropic
  /** Rewrites a schema for structured output: unknown keywords move into descriptions. */
  readonly outputSchema: (schema: JsonObject) => Record<string, unknown>
}

/**
 * Loads the SDK and makes a client. This file alone imports the SDK.
 *
 * @throws `missing-api-key`, `invalid-argument`
 */
export async function openAnthropic(options: AnthropicOptions): Promise<AnthropicClient> {
  const { apiKeyEnv = 'ANTHROPIC_API_KEY' } = options
  const apiKey = options.apiKey ?? process.env[apiKeyEnv]
  if (apiKey === undefined || apiKey === '') {
    throw new EntiaError(
      'missing-api-key',
      `anthropic has no API key. Set the environment variable ${apiKeyEnv}, or pass anthropic({ apiKey }).`,
    )
  }
  const baseURL = options.baseURL === '' ? undefined : options.baseURL
  const headers = customHeaders(options)
  checkHeaders('anthropic', apiKey, headers)
  const { Anthropic, ...errors } = await import('@anthropic-ai/sdk')
  const { transformJSONSchema } = await import('@anthropic-ai/sdk/lib/transform-json-schema')

  const settings = {
    apiKey,
    authToken: null,
    ...(baseURL !== undefined && { baseURL }),
    defaultHeaders: headers,
    fetch: wireFetch(options.fetch, options.maxReplyBytes),
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: 'off',
  } as const
  const sdk = withoutEnvironment(['ANTHROPIC_CUSTOM_HEADERS'], () => new Anthropic(settings))
  const clean = withoutKeys({ apiKey, baseURL: sdk.baseURL, headers })
  return { sdk, explain: explainedBy(errors), clean, outputSchema: (schema) => readable(schema, transformJSONSchema) }
}

/** What is sent besides the key. */
export function customHeaders({ baseURL = '', headers }: AnthropicOptions): Readonly<Record<string, string>> {
  return { ...(baseURL === '' && environmentHeaders('ANTHROPIC_CUSTOM_HEADERS')), ...headers }
}

/** What the SDK adds to a request: the version of the API that it asks for, and how it sends a key. */
export async function sdkHeaders({ apiKeyEnv = 'ANTHROPIC_API_KEY' }: AnthropicOptions) {
  const { Anthropic } = await import('@anthropic-ai/sdk')
  const key = `$${apiKeyEnv}`
  const sdk = new Anthropic({ apiKey: key, authToken: null, logLevel: 'off' })
  const { req } = await sdk.buildRequest({ method: 'post', path: '/v1/messages', body: {} })
  return {
    version: req.headers.get('anthropic-version') ?? '',
    keys: Object.fromEntries([...req.headers].filter(([, value]) => value.includes(key))),
  }
}

/** An output schema as it is sent. @throws `invalid-argument` */
export async function outputSchemaOf(schema: JsonObject): Promise<Record<string, unknown>> {
  return readable(schema, (await import('@anthropic-ai/sdk/lib/transform-json-schema')).transformJSONSchema)
}

function readable(schema: JsonObject, transform: (schema: JsonObject) => Record<string, unknown>) {
  try {
    return transform(schema)
  } catch (error) {
    throw new EntiaError(
      'invalid-argument',
      `anthropic cannot follow this output schema: ${String(error)}. Give each part of it a type.`,
      {},
      { cause: error },
    )
  }
}
