import type {
  AssistantMessage,
  FileBlock,
  Message,
  ProviderBlock,
  TextBlock,
  ThinkingBlock,
} from '../../protocol/message.ts'
import { fileNote } from '../../rules/media/file-form.ts'
import { writeArguments } from '../../rules/projection/tool-calls.ts'
import { acceptedMessage, type Addressee } from '../accepted-message.ts'
import { nineLetters, sentId } from '../call-ids.ts'
import { plainSchema } from '../plain-schema.ts'
import type { ModelRequest } from '../port.ts'
import type { Part, RefusedParts } from '../refused-parts.ts'
import { acceptedSchema } from '../tool-schema.ts'
import { acceptedName, addressed, cachedByMessage, refuseUnsentFiles, sentFile, textOfFile } from '../wire-messages.ts'
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from './client.ts'
import { effortOf, outputFormat } from './output-format.ts'

/** The protocol has no field for thinking; these two are in use. */
export type ThinkingField = 'reasoning_content' | 'reasoning'

/** Thinking that a reply has among the parts of its content. */
export const amongContent = 'content'

const defaultThinkingField: ThinkingField = 'reasoning_content'

interface WireMessage {
  readonly message: ChatCompletionMessageParam | undefined
  /** Tool messages hold only text, so files of a result follow as a user message. */
  readonly files: readonly ChatCompletionContentPart[]
}

const nothing: WireMessage = { message: undefined, files: [] }

/**
 * @param adapter whose thinking and fields are sent back; those of others are left out
 * @param thinkingField absent: the one that the reply used
 */
export function chatBody(
  adapter: string,
  thinkingField: ThinkingField | undefined,
  refused: RefusedParts,
): (request: ModelRequest, now?: readonly Part[]) => ChatCompletionCreateParamsStreaming {
  const wireOf = cachedByMessage((message, addressee) => {
    const accepted = acceptedMessage(message, isSendable, addressee)
    return accepted === undefined ? nothing : toWire(accepted, addressee, thinkingField)
  })
  return (request, now) => {
    const { model, options, outputSchema } = request
    const effort = effortOf(options)
    refuseUnsentFiles(adapter, request.messages, (file) => {
      const part = contentPart(file)
      return part.type === 'unsent' ? part.problem : undefined
    })
    return {
      model,
      ...(request.tools.length > 0 && { tools: tools(request, refused.hasPlainSchemas(request, now)) }),
      messages: conversation(request, addressed(request, { adapter, now, refused, wireId: nineLetters }), wireOf),
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

/** Parts of a content in the form of this protocol: another adapter of the same name may have written others. */
function isSendable(block: ThinkingBlock | ProviderBlock): boolean {
  if (block.type === 'thinking') return true
  const { type } = block.data
  return typeof type !== 'string' || !/_call$|^mcp_|^server_|_result$/.test(type)
}

function tools(request: ModelRequest, isPlain: boolean) {
  const sent = isPlain ? plainSchema : acceptedSchema
  return request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: { ...sent(inputSchema) } },
  }))
}

function conversation(
  { system }: ModelRequest,
  said: Iterable<readonly [Message, Addressee]>,
  wireOf: (message: Message, addressee: Addressee) => WireMessage,
): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = []
  if (system !== '') messages.push({ role: 'system', content: system })
  let files: ChatCompletionContentPart[] = []
  const handOver = (): void => {
    if (files.length > 0) messages.push({ role: 'user', content: files })
    files = []
  }
  for (const [message, addressee] of said) {
    // Results must be adjacent, or servers miss some of them.
    if (message.role !== 'tool') handOver()
    const wire = wireOf(message, addressee)
    if (wire.message !== undefined) messages.push(wire.message)
    files.push(...wire.files)
  }
  handOver()
  return messages
}

function toWire(message: Message, { adapter, keepsIds }: Addressee, field: ThinkingField | undefined): WireMessage {
  switch (message.role) {
    case 'assistant':
      return { message: assistantParam(message, field, keepsIds), files: [] }
    case 'tool': {
      const parts = message.content.map((block) => sentPart(block, adapter))
      const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []))
      const files = parts.filter(({ type }) => type !== 'text')
      if (files.length > 0) texts.push(`(Its files, ${files.length} in number, follow behind the results.)`)
      return {
        message: {
          role: 'tool',
          tool_call_id: sentId(nineLetters, message.callId, keepsIds),
          content: texts.join('\n'),
        },
        files,
      }
    }
    case 'user':
    case 'system':
      return { message: { role: 'user', content: userContent(message.content, adapter) }, files: [] }
  }
}

function userContent(content: readonly (TextBlock | FileBlock)[], adapter: string) {
  const [first] = content
  if (content.length === 1 && first?.type === 'text') return first.text
  return content.map((block) => sentPart(block, adapter))
}

type Said = ChatCompletionAssistantMessageParam & Record<string, unknown>

function assistantParam(
  { content, extra }: AssistantMessage,
  field: ThinkingField | undefined,
  keepsIds: boolean | undefined,
): Said {
  const calls = content.filter((block) => block.type === 'tool-call')
  const message: Said = { role: 'assistant', content: contentOf(content) }
  for (const block of content) {
    if (block.type !== 'thinking' || block.field === amongContent) continue
    const place = field ?? block.field ?? defaultThinkingField
    const before = message[place]
    message[place] = (typeof before === 'string' ? before : '') + block.text
  }
  if (calls.length > 0) {
    message.tool_calls = calls.map((call) => {
      const { function: inner, ...fields } = call.extra?.fields ?? {}
      return {
        id: sentId(nineLetters, call.id, keepsIds),
        type: 'function',
        function: { name: acceptedName(call.name), arguments: writeArguments(call), ...(inner as object | undefined) },
        ...fields,
      }
    })
  }
  return { ...message, ...extra?.fields }
}

/** A list where the provider sends its own parts within the content; otherwise a text, which all servers take. */
type SaidContent = Exclude<ChatCompletionAssistantMessageParam['content'], undefined>

function isOwnPart(block: AssistantMessage['content'][number]): boolean {
  if (block.type === 'text') return block.extra !== undefined
  return block.type === 'provider' || (block.type === 'thinking' && block.field === amongContent)
}

function contentOf(content: AssistantMessage['content']): SaidContent {
  const texts = content.filter((block) => block.type === 'text')
  if (!content.some(isOwnPart)) return texts.length === 0 ? null : texts.map(({ text }) => text).join('')
  const parts: object[] = []
  for (const block of content) {
    if (block.type === 'text') parts.push({ type: 'text', text: block.text, ...block.extra?.fields })
    else if (block.type === 'provider') parts.push(block.data)
    else if (block.type === 'thinking' && block.field === amongContent) {
      parts.push({ type: 'thinking', thinking: [{ type: 'text', text: block.text }], ...block.extra?.fields })
    }
  }
  // In the provider's own form.
  return parts as SaidContent
}

function sentPart(block: TextBlock | FileBlock, adapter: string): ChatCompletionContentPart {
  const part = contentPart(block)
  if (part.type !== 'unsent') return part
  return { type: 'text', text: fileNote(block as FileBlock, `${adapter} cannot be sent it, as ${part.problem}`) }
}

type Unsent = { readonly type: 'unsent'; readonly problem: string }

const audioFormats: Readonly<Record<string, 'wav' | 'mp3'>> = { 'audio/wav': 'wav', 'audio/mpeg': 'mp3' }

function contentPart(block: TextBlock | FileBlock): ChatCompletionContentPart | Unsent {
  if (block.type === 'text') return { type: 'text', text: block.text }
  const form = sentFile(block, ({ kind, mediaType }) => {
    return (kind === 'linked' && mediaType.startsWith('image/')) || (kind === 'audio' && mediaType in audioFormats)
  })
  switch (form.kind) {
    case 'unsent':
      return { type: 'unsent', problem: form.problem }
    case 'linked':
      return { type: 'image_url', image_url: { url: form.url } }
    case 'image':
      return { type: 'image_url', image_url: { url: `data:${form.mediaType};base64,${form.data}` } }
    case 'text':
      return { type: 'text', text: textOfFile(block, form) }
    case 'audio':
      return { type: 'input_audio', input_audio: { data: form.data, format: audioFormats[form.mediaType] ?? 'wav' } }
    case 'pdf':
    case 'other': {
      const file_data = `data:${form.mediaType};base64,${form.data}`
      return { type: 'file', file: { file_data, filename: block.name ?? 'file' } }
    }
  }
}
