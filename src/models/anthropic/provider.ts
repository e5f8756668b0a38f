import type { ModelProvider, ModelRequest } from '../port.ts'
import { RefusedParts } from '../refused-parts.ts'
import { connectOnce, listModels, type SentStream, streamedCall } from '../streamed-call.ts'
import { wireRequest } from '../wire-request.ts'
import {
  type AnthropicClient,
  type AnthropicOptions,
  customHeaders,
  openAnthropic,
  outputSchemaOf,
  type RawMessageStreamEvent,
  sdkHeaders,
} from './client.ts'
import { ANTHROPIC, messagesBody, type MessagesSending } from './request.ts'
import { MessageReader } from './stream.ts'

/** The last API version that takes a temperature; models too new for it answer with an error that says so. */
const VERSION_WITH_TEMPERATURE = '2023-06-01'

/** Expects checked options. */
export function messagesProvider(options: AnthropicOptions): ModelProvider {
  const connect = connectOnce(() => openAnthropic(options))
  const refused = new RefusedParts()
  return {
    call: (request, context) =>
      streamedCall({
        provider: ANTHROPIC,
        signal: context.signal,
        onDelta: context.onDelta,
        maxReplyBytes: options.maxReplyBytes,
        read: (hear) => new MessageReader(`${ANTHROPIC}/${request.model}`, hear),
        connect,
        request,
        refused,
        send: (client, now) => send(client, request, context.signal, { now, refused }),
      }),
    wire: async (request) => {
      const { baseURL } = options
      const { keys, version } = await sdkHeaders(options)
      const schema = request.outputSchema && (await outputSchemaOf(request.outputSchema))
      const isOld = request.options.temperature !== undefined
      return wireRequest({
        baseURL: baseURL || process.env['ANTHROPIC_BASE_URL'] || 'https://api.anthropic.com',
        path: '/v1/messages',
        headers: {
          'anthropic-version': isOld ? VERSION_WITH_TEMPERATURE : version,
          ...customHeaders(options),
        },
        keys,
        body: messagesBody(request, { outputSchema: schema, refused }),
      })
    },
    models: (signal) => listModels(ANTHROPIC, connect, signal),
  }
}

function send(
  { sdk, outputSchema }: AnthropicClient,
  request: ModelRequest,
  signal: AbortSignal,
  sending: MessagesSending,
) {
  const schema = request.outputSchema === undefined ? undefined : outputSchema(request.outputSchema)
  const old = request.options.temperature !== undefined
  // Not `messages.create`, which prints warnings about models to stderr.
  return sdk.post<SentStream<RawMessageStreamEvent>>('/v1/messages', {
    body: messagesBody(request, { ...sending, outputSchema: schema }),
    stream: true,
    signal,
    ...(old && { headers: { 'anthropic-version': VERSION_WITH_TEMPERATURE } }),
  })
}
