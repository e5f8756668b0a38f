import type { AssistantMessage, FileBlock, Message, TextBlock, ToolMessage } from '../../protocol/message.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { acceptedMessage, type TakesBack } from '../accepted-message.ts'
import type { ModelOptions, ModelRequest } from '../port.ts'
import { acceptedName, cachedByMessage, resultsFirst, unsupportedFile } from '../wire-messages.ts'
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  TextBlockParam,
  Tool,
  ToolResultBlockParam,
} from './client.ts'

/** The API requires a limit. All current models can write this much. */
export const DEFAULT_MAX_OUTPUT_TOKENS = 32_000

const MIN_THINKING_TOKENS = 1_024

/** Marks this provider's thinking, so that it goes back to no other. */
export const ANTHROPIC = 'anthropic'

interface WireMessage {
  readonly role: 'user' | 'assistant'
  readonly content: ContentBlockParam[]
}

type FileParam = Extract<ContentBlockParam, { type: 'image' | 'document' }>

const breakpoint = { cache_control: { type: 'ephemeral' } } as const

/**
 * The body of a Messages API request. At most three cache breakpoints: after tools and system prompt, after the last message
 * before the tail, and where that was in the request before: the API looks back only 20 blocks for an entry, and one step of
 * parallel calls can be longer. A one-shot request has none: writing the cache costs more than reading the input once.
 */
export function messagesBody(
  request: ModelRequest,
  outputSchema?: Record<string, unknown>,
): MessageCreateParamsStreaming {
  const { model, system, options } = request
  const effort = typeof options.thinking === 'string' ? options.thinking : undefined
  const outputConfig = {
    ...(effort !== undefined && { effort }),
    ...(outputSchema !== undefined && { format: { type: 'json_schema' as const, schema: outputSchema } }),
  }
  return {
    model,
    max_tokens: maxTokens(options),
    ...(request.tools.length > 0 && { tools: tools(request) }),
    ...(!isBlank(system) && {
      system: [{ type: 'text' as const, text: system, ...(!request.isOneShot && breakpoint) }],
    }),
    messages: conversation(request),
    ...thinkingConfig(options),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...options.extra,
    stream: true,
  }
}

/** Thinking counts towards the limit, so a budget is added to what is left for the answer. */
function maxTokens({ maxOutputTokens, thinking }: ModelOptions): number {
  const budget = typeof thinking === 'number' ? Math.max(MIN_THINKING_TOKENS, thinking) : 0
  return maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS + budget
}

function thinkingConfig(options: ModelOptions): Pick<MessageCreateParamsStreaming, 'thinking'> {
  const { thinking } = options
  if (thinking === undefined) return {}
  if (typeof thinking === 'string') return { thinking: { type: 'adaptive' } }
  return { thinking: { type: 'enabled', budget_tokens: budgetWithin(maxTokens(options), thinking) } }
}

/** Raises a budget that is too small, lowers one that leaves no room for an answer. */
function budgetWithin(limit: number, wanted: number): number {
  if (limit <= MIN_THINKING_TOKENS) {
    throw new EntiaError(
      'invalid-argument',
      `anthropic: maxOutputTokens must be above ${MIN_THINKING_TOKENS} for thinking with a budget, got ${limit}. ` +
        'Raise it, or leave thinking out.',
    )
  }
  const budget = Math.max(MIN_THINKING_TOKENS, wanted)
  return budget < limit ? budget : Math.max(MIN_THINKING_TOKENS, Math.floor(limit / 2))
}

function tools(request: ModelRequest): Tool[] {
  const lastMarked = isBlank(request.system) && !request.isOneShot ? request.tools.length - 1 : -1
  return request.tools.map(({ name, description, inputSchema }, index) => ({
    name,
    description,
    input_schema: { ...inputSchema, type: 'object' },
    ...(index === lastMarked && breakpoint),
  }))
}

function conversation(request: ModelRequest): WireMessage[] {
  const messages: WireMessage[] = []
  for (const message of resultsFirst(request.messages)) join(messages, wireOf(message))
  if (!request.isOneShot) {
    mark(messages, messages.length - 1)
    mark(
      messages,
      messages.findLastIndex(({ role }, index) => role === 'user' && index < messages.length - 1),
    )
  }
  for (const message of request.tail) join(messages, wireOf(message))
  if (messages.length > 0) return messages
  throw new EntiaError(
    'invalid-argument',
    'anthropic: the request must have at least one message, got none. Add a message of the user to the conversation.',
  )
}

/** Adds a message, or joins it to the last one if that has the same role. */
function join(messages: WireMessage[], message: WireMessage | undefined): void {
  if (message === undefined) return
  const { role, content } = message
  const last = messages.at(-1)
  if (last?.role === role) messages[messages.length - 1] = { role, content: [...last.content, ...content] }
  else messages.push({ role, content })
}

/** Blocks that may carry a breakpoint; those that the provider wrote go back unchanged. */
const markable: ReadonlySet<ContentBlockParam['type']> = new Set([
  'text',
  'image',
  'document',
  'tool_use',
  'tool_result',
])

/** Marks a copy: the original is cached, and the mark moves in later steps. */
function mark(messages: WireMessage[], index: number): void {
  const message = messages[index]
  const last = message?.content.at(-1)
  if (message === undefined || last === undefined) return
  if (!markable.has(last.type)) return
  messages[index] = { role: message.role, content: [...message.content.slice(0, -1), { ...last, ...breakpoint }] }
}

/** `undefined`: nothing of it can be sent. */
const wireOf = cachedByMessage((message: Message): WireMessage | undefined => {
  const accepted = acceptedMessage(message, takesBack(message))
  switch (accepted?.role) {
    case 'assistant':
      return { role: 'assistant', content: accepted.content.flatMap(assistantBlock) }
    case 'tool':
      return { role: 'user', content: [toolResult(accepted)] }
    case 'user':
    case 'system':
      return { role: 'user', content: accepted.content.flatMap(userBlock) }
    case undefined:
      return undefined
  }
})

/**
 * The API refuses thinking without a signature, which a cut reply may have. It also refuses a call of its own tools without a
 * result, except beside calls of ours, where the result follows in a later reply.
 */
function takesBack({ content }: Message): TakesBack {
  const results = new Set<unknown>()
  for (const block of content) if (block.type === 'provider') results.add(block.data['tool_use_id'])
  const isPaused = content.some(({ type }) => type === 'tool-call')
  return (block) => {
    if (block.provider !== ANTHROPIC) return false
    if (block.type === 'thinking') return block.redacted !== undefined || block.signature !== undefined
    return isPaused || !isServerCall(block.data['type']) || results.has(block.data['id'])
  }
}

export function isServerCall(type: unknown): boolean {
  return type === 'server_tool_use' || type === 'mcp_tool_use'
}

function assistantBlock(block: AssistantMessage['content'][number]): ContentBlockParam[] {
  switch (block.type) {
    case 'text':
      return textParam(block)
    case 'tool-call':
      return [{ type: 'tool_use', id: wireId(block.id), name: acceptedName(block.name), input: block.arguments }]
    case 'thinking':
      if (block.redacted !== undefined) return [{ type: 'redacted_thinking', data: block.redacted }]
      return [{ type: 'thinking', thinking: block.text, signature: block.signature ?? '' }]
    case 'provider':
      return [ownBlock(block.data)]
  }
}

/** The API wrote it, so its form is accepted. */
function ownBlock(data: object): ContentBlockParam {
  return data as ContentBlockParam
}

/** The API refuses an error without text. */
function toolResult({ callId, content, isError }: ToolMessage): ToolResultBlockParam {
  const blocks = content.flatMap(userBlock)
  return {
    type: 'tool_result',
    tool_use_id: wireId(callId),
    content: blocks.length === 0 && isError === true ? [{ type: 'text', text: '(no message)' }] : blocks,
    ...(isError === true && { is_error: true }),
  }
}

function userBlock(block: TextBlock | FileBlock): (TextBlockParam | FileParam)[] {
  return block.type === 'text' ? textParam(block) : [fileParam(block)]
}

/** The API refuses blank text blocks. */
function textParam({ text }: TextBlock): TextBlockParam[] {
  return isBlank(text) ? [] : [{ type: 'text', text }]
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function fileParam(file: FileBlock): FileParam {
  const { mediaType, data, url, name } = file
  const title = name === undefined ? {} : { title: name }
  if (isImage(mediaType)) {
    if (url !== undefined) return { type: 'image', source: { type: 'url', url } }
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data: data ?? '' } }
  }
  if (mediaType === 'application/pdf') {
    if (url !== undefined) return { type: 'document', source: { type: 'url', url }, ...title }
    return { type: 'document', source: { type: 'base64', media_type: mediaType, data: data ?? '' }, ...title }
  }
  if (mediaType.startsWith('text/') && data !== undefined) {
    const text = Buffer.from(data, 'base64').toString('utf8')
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
  }
  throw unsupportedFile(ANTHROPIC, file, 'images (JPEG, PNG, GIF, WebP), PDF files, and text files given as base64')
}

type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'

function isImage(mediaType: string): mediaType is ImageType {
  return ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].includes(mediaType)
}

/** Ids of other providers may be empty or hold characters that this API refuses. */
function wireId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'call'
}
