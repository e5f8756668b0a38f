import type { ModelProvider, WireRequest } from '../port.ts'
import { connectOnce, listModels, streamedCall } from '../streamed-call.ts'
import { chatBody, type ThinkingField } from './chat-request.ts'
import { ChatReader } from './chat-stream.ts'
import { RefusedParts } from '../refused-parts.ts'
import { wireRequest } from '../wire-request.ts'
import { customHeaders, openOpenAI, type ServerOptions } from './client.ts'
import { responsesBody } from './responses-request.ts'
import { ResponseReader } from './responses-stream.ts'

export function responsesProvider(server: ServerOptions): ModelProvider {
  const connect = connectOnce(() => openOpenAI(server))
  const refused = new RefusedParts()
  const body = responsesBody(server.name, refused)
  return {
    call: (request, { signal, onDelta }) =>
      streamedCall({
        provider: server.name,
        signal,
        onDelta,
        maxReplyBytes: server.maxReplyBytes,
        read: (hear) => new ResponseReader(server.name, request.model, hear),
        connect,
        request,
        refused,
        send: ({ sdk }, now) => sdk.responses.create(body(request, now), { signal }),
      }),
    wire: async (request) => wireOf(server, '/responses', body(request)),
    models: (signal) => listModels(server.name, connect, signal),
  }
}

export function chatProvider(server: ServerOptions, thinkingField?: ThinkingField): ModelProvider {
  const { name } = server
  const connect = connectOnce(() => openOpenAI(server))
  const refused = new RefusedParts()
  const body = chatBody(name, thinkingField, refused)
  return {
    call: (request, { signal, onDelta }) =>
      streamedCall({
        provider: name,
        signal,
        onDelta,
        maxReplyBytes: server.maxReplyBytes,
        read: (hear) => new ChatReader(name, request.model, request.messages.length, hear),
        connect,
        request,
        refused,
        send: ({ sdk }, now) => sdk.chat.completions.create(body(request, now), { signal }),
      }),
    wire: async (request) => wireOf(server, '/chat/completions', body(request)),
    models: (signal) => listModels(server.name, connect, signal),
  }
}

function wireOf(server: ServerOptions, path: string, body: object): WireRequest {
  const { apiKey = '', apiKeyEnv, baseURL } = server
  const variable = apiKeyEnv ?? (apiKey === '' ? undefined : 'API_KEY')
  return wireRequest({
    baseURL: baseURL || process.env['OPENAI_BASE_URL'] || 'https://api.openai.com/v1',
    path,
    headers: customHeaders(server),
    keys: variable === undefined ? {} : { authorization: `Bearer $${variable}` },
    body,
  })
}
