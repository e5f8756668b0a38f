import type { AssistantMessage, FileBlock, Message, TextBlock } from '../../protocol/message.ts'
import { acceptedMessage } from '../accepted-message.ts'
import type { ModelRequest } from '../port.ts'
import { writeArguments } from '../../rules/projection/tool-calls.ts'
import { acceptedName, cachedByMessage, resultsFirst, unsupportedFile, urlOf } from '../wire-messages.ts'
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from './client.ts'
import { effortOf, outputFormat } from './output-format.ts'

/** The protocol has no field for thinking; these two are in use. */
export type ThinkingField = 'reasoning_content' | 'reasoning'

interface WireMessage {
  readonly message: ChatCompletionMessageParam | undefined
  /** Tool messages hold only text, so files of a result follow as a user message. */
  readonly files: readonly ChatCompletionContentPart[]
}

const nothing: WireMessage = { message: undefined, files: [] }

/** @param provider whose thinking is sent back; that of others is left out */
export function chatBody(
  provider: string,
  thinkingField: ThinkingField,
): (request: ModelRequest) => ChatCompletionCreateParamsStreaming {
  const wireOf = cachedByMessage((message) => {
    const accepted = acceptedMessage(message, (block) => block.type === 'thinking' && block.provider === provider)
    return accepted === undefined ? nothing : toWire(accepted, provider, thinkingField)
  })
  return (request) => {
    const { model, options, outputSchema } = request
    const effort = effortOf(options)
    return {
      model,
      ...(request.tools.length > 0 && { tools: tools(request) }),
      messages: conversation(request, wireOf),
      // Only OpenAI deprecates this older name; compatible servers know it.
      // oxlint-disable-next-line typescript/no-deprecated
      ...(options.maxOutputTokens !== undefined && { max_tokens: options.maxOutputTokens }),
      ...(options.temperature !== undefined && { temperature: options.temperature }),
      ...(effort !== undefined && { reasoning_effort: effort }),
      ...(outputSchema !== undefined && {
        response_format: { type: 'json_schema', json_schema: outputFormat(outputSchema) },
      }),
      ...options.extra,
      stream_options: { include_usage: true },
      stream: true,
    }
  }
}

function tools(request: ModelRequest) {
  return request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: { ...inputSchema } },
  }))
}

function conversation(request: ModelRequest, wireOf: (message: Message) => WireMessage): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = []
  if (request.system !== '') messages.push({ role: 'system', content: request.system })
  let files: ChatCompletionContentPart[] = []
  const handOver = (): void => {
    if (files.length > 0) messages.push({ role: 'user', content: files })
    files = []
  }
  for (const message of [...resultsFirst(request.messages), ...request.tail]) {
    // Results must be adjacent, or servers miss some of them.
    if (message.role !== 'tool') handOver()
    const wire = wireOf(message)
    if (wire.message !== undefined) messages.push(wire.message)
    files.push(...wire.files)
  }
  handOver()
  return messages
}

function toWire(message: Message, provider: string, field: ThinkingField): WireMessage {
  switch (message.role) {
    case 'assistant':
      return { message: assistantParam(message, field), files: [] }
    case 'tool': {
      const texts = message.content.filter((block) => block.type === 'text').map(({ text }) => text)
      const files = message.content.filter((block) => block.type === 'file')
      if (files.length > 0) texts.push(`(Its files, ${files.length} in number, follow behind the results.)`)
      return {
        message: { role: 'tool', tool_call_id: message.callId, content: texts.join('\n') },
        files: files.map((file) => contentPart(file, provider)),
      }
    }
    case 'user':
    case 'system':
      return { message: { role: 'user', content: userContent(message.content, provider) }, files: [] }
  }
}

function userContent(content: readonly (TextBlock | FileBlock)[], provider: string) {
  const [first] = content
  if (content.length === 1 && first?.type === 'text') return first.text
  return content.map((block) => contentPart(block, provider))
}

function assistantParam({ content }: AssistantMessage, field: ThinkingField) {
  const texts = content.filter((block) => block.type === 'text')
  const calls = content.filter((block) => block.type === 'tool-call')
  const thinking = content.filter((block) => block.type === 'thinking')
  const message: ChatCompletionAssistantMessageParam & { [field in ThinkingField]?: string } = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map(({ text }) => text).join(''),
  }
  if (thinking.length > 0) message[field] = thinking.map(({ text }) => text).join('')
  if (calls.length > 0) {
    message.tool_calls = calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: acceptedName(call.name), arguments: writeArguments(call) },
    }))
  }
  return message
}

function contentPart(block: TextBlock | FileBlock, provider: string): ChatCompletionContentPart {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url: urlOf(block) } }
  if (block.url !== undefined || /^(audio|video)\//.test(block.mediaType)) {
    throw unsupportedFile(provider, block, 'images, and documents given as base64')
  }
  return { type: 'file', file: { file_data: urlOf(block), filename: block.name ?? 'file' } }
}
