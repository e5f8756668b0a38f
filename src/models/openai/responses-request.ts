import type { AssistantMessage, FileBlock, Message, TextBlock, ThinkingBlock } from '../../protocol/message.ts'
import { acceptedMessage } from '../accepted-message.ts'
import type { ModelRequest } from '../port.ts'
import { writeArguments } from '../../rules/projection/tool-calls.ts'
import { acceptedName, cachedByMessage, resultsFirst, unsupportedFile, urlOf } from '../wire-messages.ts'
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

/**
 * Stateless requests: nothing is stored at the provider, and encrypted reasoning travels with the conversation.
 *
 * @param provider whose thinking is sent back; that of others is left out
 */
export function responsesBody(provider: string): (request: ModelRequest) => ResponseCreateParamsStreaming {
  const itemsOf = cachedByMessage((message) => {
    const accepted = acceptedMessage(message, (block) => {
      if (block.provider !== provider) return false
      if (block.type === 'provider') return true
      // Nothing is stored there, so an id alone is useless.
      return block.id !== undefined && (block.redacted !== undefined || block.text !== '')
    })
    return accepted === undefined ? [] : toItems(accepted, provider)
  })
  return (request) => {
    const { model, system, options, outputSchema } = request
    const effort = effortOf(options)
    const input = [...resultsFirst(request.messages), ...request.tail].flatMap(itemsOf)
    return {
      model,
      ...(system !== '' && { instructions: system }),
      ...(request.tools.length > 0 && { tools: tools(request) }),
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

function tools(request: ModelRequest) {
  return request.tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    name,
    description,
    parameters: { ...inputSchema },
    strict: false,
  }))
}

function toItems(message: Message, provider: string): ResponseInputItem[] {
  switch (message.role) {
    case 'assistant':
      return assistantItems(message)
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.callId, output: outputOf(message.content, provider) }]
    case 'user':
    case 'system':
      return [{ role: 'user', content: message.content.map((block) => contentParam(block, provider)) }]
  }
}

function assistantItems({ content }: AssistantMessage): ResponseInputItem[] {
  const items: ResponseInputItem[] = []
  for (const block of content) {
    if (block.type === 'text') items.push(assistantText(block))
    else if (block.type === 'tool-call') {
      items.push({
        type: 'function_call',
        call_id: block.id,
        name: acceptedName(block.name),
        arguments: writeArguments(block),
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

function assistantText({ text, phase }: TextBlock): EasyInputMessage {
  return { role: 'assistant', content: text, ...(phase !== undefined && { phase }) }
}

/** Rejoins the blocks of a reasoning item, one per part of its summary. */
function addReasoning(items: ResponseInputItem[], block: ThinkingBlock, id: string): void {
  const last = items.at(-1)
  if (last?.type === 'reasoning' && last.id === id) {
    last.summary.push({ type: 'summary_text', text: block.text })
    return
  }
  const item: ResponseReasoningItem = { type: 'reasoning', id, summary: [] }
  if (block.redacted === undefined) item.content = [{ type: 'reasoning_text', text: block.text }]
  else {
    item.encrypted_content = block.redacted
    if (block.text !== '') item.summary.push({ type: 'summary_text', text: block.text })
  }
  items.push(item)
}

function outputOf(content: readonly (TextBlock | FileBlock)[], provider: string): string | ContentParam[] {
  const [first] = content
  if (first === undefined) return ''
  if (content.length === 1 && first.type === 'text') return first.text
  return content.map((block) => contentParam(block, provider))
}

function contentParam(block: TextBlock | FileBlock, provider: string): ContentParam {
  if (block.type === 'text') return { type: 'input_text', text: block.text }
  if (block.mediaType.startsWith('image/')) return { type: 'input_image', detail: 'auto', image_url: urlOf(block) }
  if (/^(audio|video)\//.test(block.mediaType)) throw unsupportedFile(provider, block, 'images and documents')
  if (block.url !== undefined) return { type: 'input_file', file_url: block.url }
  return { type: 'input_file', file_data: urlOf(block), filename: block.name ?? 'file' }
}
