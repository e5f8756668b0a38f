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
import { sentId, shortId } from '../call-ids.ts'
import { plainSchema } from '../plain-schema.ts'
import type { ModelRequest } from '../port.ts'
import type { Part, RefusedParts } from '../refused-parts.ts'
import { acceptedSchema } from '../tool-schema.ts'
import { acceptedName, addressed, cachedByMessage, refuseUnsentFiles, sentFile, textOfFile } from '../wire-messages.ts'
import type {
  EasyInputMessage,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
  ResponseReasoningItem,
} from './client.ts'
import { effortOf, outputFormat } from './output-format.ts'

type ContentParam =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; detail: 'auto'; image_url: string }
  | { type: 'input_file'; file_url: string }
  | { type: 'input_file'; file_data: string; filename: string }

/** A reasoning item has its text in its summary, or in its content. */
export const inContent = 'content'

/**
 * Stateless requests: nothing is stored at the provider, and encrypted reasoning travels with the conversation.
 *
 * @param adapter whose thinking and fields are sent back; those of others are left out
 */
export function responsesBody(
  adapter: string,
  refused: RefusedParts,
): (request: ModelRequest, now?: readonly Part[]) => ResponseCreateParamsStreaming {
  const itemsOf = cachedByMessage((message, addressee) => {
    const accepted = acceptedMessage(message, isSendable, addressee)
    return accepted === undefined ? [] : toItems(accepted, addressee)
  })
  return (request, now) => {
    const { model, system, options, outputSchema } = request
    const effort = effortOf(options)
    refuseUnsentFiles(adapter, request.messages, (file) => {
      const part = contentPart(file)
      return part.type === 'unsent' ? part.problem : undefined
    })
    const input: ResponseInputItem[] = []
    for (const [message, addressee] of addressed(request, { adapter, now, refused, wireId: shortId })) {
      input.push(...itemsOf(message, addressee))
    }
    return {
      model,
      ...(system !== '' && { instructions: system }),
      ...(request.tools.length > 0 && { tools: tools(request, refused.hasPlainSchemas(request, now)) }),
      input,
      store: false,
      include: ['reasoning.encrypted_content'],
      ...(options.maxOutputTokens !== undefined && { max_output_tokens: options.maxOutputTokens }),
      ...(options.temperature !== undefined && { temperature: options.temperature }),
      ...(effort !== undefined && { reasoning: { effort } }),
      ...(outputSchema !== undefined && { text: { format: { type: 'json_schema', ...outputFormat(outputSchema) } } }),
      ...options.extra,
      stream: true,
    }
  }
}

function isSendable(block: ThinkingBlock | ProviderBlock): boolean {
  if (block.type === 'provider') return true
  // Nothing is stored there, so an id alone is useless.
  return block.id !== undefined && (block.redacted !== undefined || block.text !== '')
}

function tools(request: ModelRequest, isPlain: boolean) {
  const sent = isPlain ? plainSchema : acceptedSchema
  return request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    parameters: { ...sent(inputSchema) },
    strict: false,
  }))
}

function toItems(message: Message, { adapter, keepsIds }: Addressee): ResponseInputItem[] {
  switch (message.role) {
    case 'assistant':
      return assistantItems(message, keepsIds)
    case 'tool': {
      const output = outputOf(message.content, adapter)
      return [{ type: 'function_call_output', call_id: sentId(shortId, message.callId, keepsIds), output }]
    }
    case 'user':
    case 'system':
      return [{ role: 'user', content: message.content.map((block) => sentPart(block, adapter)) }]
  }
}

function assistantItems({ content }: AssistantMessage, keepsIds: boolean | undefined): ResponseInputItem[] {
  const items: ResponseInputItem[] = []
  for (const block of content) {
    if (block.type === 'text') items.push(assistantText(block))
    else if (block.type === 'tool-call') {
      items.push({
        type: 'function_call',
        call_id: sentId(shortId, block.id, keepsIds),
        name: acceptedName(block.name),
        arguments: writeArguments(block),
        ...block.extra?.fields,
      })
    } else if (block.type === 'provider') items.push(ownItem(block.data))
    else if (block.id !== undefined) addReasoning(items, block, block.id)
  }
  return items
}

/** The API wrote it, so its form is accepted. */
function ownItem(data: object): ResponseInputItem {
  return data as ResponseInputItem
}

function assistantText({ text, phase, extra }: TextBlock): EasyInputMessage {
  return { role: 'assistant', content: text, ...(phase !== undefined && { phase }), ...extra?.fields }
}

/** Rejoins the blocks of a reasoning item, one per part of its summary or content. */
function addReasoning(items: ResponseInputItem[], block: ThinkingBlock, id: string): void {
  const last = items.at(-1)
  const isFurther = last?.type === 'reasoning' && last.id === id
  const item: ResponseReasoningItem = isFurther ? last : { type: 'reasoning', id, summary: [], ...block.extra?.fields }
  if (!isFurther) items.push(item)
  if (block.redacted !== undefined) item.encrypted_content = block.redacted
  // Kept without a field by earlier versions: text without a seal is content.
  const isContent = block.field === inContent || (block.field === undefined && !item.encrypted_content && !isFurther)
  const wasContent = isFurther && block.field === undefined && item.content !== undefined && item.content !== null
  if (isContent || wasContent) (item.content ??= []).push({ type: 'reasoning_text', text: block.text })
  else if (block.text !== '' || isFurther) item.summary.push({ type: 'summary_text', text: block.text })
}

function outputOf(content: readonly (TextBlock | FileBlock)[], adapter: string): string | ContentParam[] {
  const [first] = content
  if (first === undefined) return ''
  if (content.length === 1 && first.type === 'text') return first.text
  return content.map((block) => sentPart(block, adapter))
}

function sentPart(block: TextBlock | FileBlock, adapter: string): ContentParam {
  const part = contentPart(block)
  if (part.type !== 'unsent') return part
  return { type: 'input_text', text: fileNote(block as FileBlock, `${adapter} cannot be sent it, as ${part.problem}`) }
}

/** Documents that the API reads, besides PDF files and texts. */
const documents = /officedocument|msword|ms-excel|ms-powerpoint|opendocument|rtf|epub/

function contentPart(block: TextBlock | FileBlock): ContentParam | { type: 'unsent'; problem: string } {
  if (block.type === 'text') return { type: 'input_text', text: block.text }
  const form = sentFile(block, ({ kind, mediaType }) => {
    return kind === 'linked' ? !/^(audio|video)\//.test(mediaType) : kind === 'other' && documents.test(mediaType)
  })
  switch (form.kind) {
    case 'unsent':
      return { type: 'unsent', problem: form.problem }
    case 'linked':
      if (form.mediaType.startsWith('image/')) return { type: 'input_image', detail: 'auto', image_url: form.url }
      return { type: 'input_file', file_url: form.url }
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: `data:${form.mediaType};base64,${form.data}` }
    case 'text':
      return { type: 'input_text', text: textOfFile(block, form) }
    case 'pdf':
    case 'audio':
    case 'other': {
      const file_data = `data:${form.mediaType};base64,${form.data}`
      return { type: 'input_file', file_data, filename: block.name ?? 'file' }
    }
  }
}
