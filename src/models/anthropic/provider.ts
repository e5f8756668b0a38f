import type { ModelProvider, ModelRequest } from '../port.ts'
import { connectOnce, listModels, streamedCall } from '../streamed-call.ts'
import { type AnthropicClient, type AnthropicOptions, openAnthropic, type RawMessageStreamEvent } from './client.ts'
import { ANTHROPIC, messagesBody } from './request.ts'
import { MessageReader } from './stream.ts'

/**
 * The API version that still takes a sampling temperature, which later ones refuse. A request that sets one is sent
 * under it; models that are too new for it answer with a failure that says so.
 */
const VERSION_WITH_TEMPERATURE = '2023-06-01'

/** Claude, with options that are known to be sound. */
export function messagesProvider(options: AnthropicOptions): ModelProvider {
  const connect = connectOnce(() => openAnthropic(options))
  return {
    call: (request, context) =>
      streamedCall({
        provider: ANTHROPIC,
        signal: context.signal,
        onDelta: context.onDelta,
        maxReplyBytes: options.maxReplyBytes,
        read: (hear) => new MessageReader(`${ANTHROPIC}/${request.model}`, hear),
        connect,
        send: (client) => send(client, request, context.signal),
      }),
    models: () => listModels(ANTHROPIC, connect),
  }
}

function send({ sdk, outputSchema }: AnthropicClient, request: ModelRequest, signal: AbortSignal) {
  const schema = request.outputSchema === undefined ? undefined : outputSchema(request.outputSchema)
  const old = request.options.temperature !== undefined
  // Not `messages.create`, which writes to stderr what it thinks of a model.
  return sdk.post<AsyncIterable<RawMessageStreamEvent>>('/v1/messages', {
    body: messagesBody(request, schema),
    stream: true,
    signal,
    ...(old && { headers: { 'anthropic-version': VERSION_WITH_TEMPERATURE } }),
  })
}
