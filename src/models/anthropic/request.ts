import type {
  AssistantMessage,
  FileBlock,
  Message,
  TextBlock,
  ThinkingBlock,
  ToolMessage,
} from '../../protocol/message.ts'
import { fileNote } from '../../rules/media/file-form.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { acceptedMessage, type Addressee, type TakesBack } from '../accepted-message.ts'
import { sentId, wordId } from '../call-ids.ts'
import { plainSchema } from '../plain-schema.ts'
import type { ModelOptions, ModelRequest } from '../port.ts'
import type { Part, RefusedParts } from '../refused-parts.ts'
import { acceptedSchema } from '../tool-schema.ts'
import {
  acceptedName,
  addressed,
  cachedByMessage,
  isModelImage,
  refuseUnsentFiles,
  sentFile,
} from '../wire-messages.ts'
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

/** Marks thinking of a server that signs none: it wants it back as it is. */
export const unsigned = 'unsigned'

interface WireMessage {
  readonly role: 'user' | 'assistant'
  readonly content: ContentBlockParam[]
}

type FileParam = Extract<ContentBlockParam, { type: 'image' | 'document' }>

const breakpoint = { cache_control: { type: 'ephemeral' } } as const

/** How a request is sent. */
export interface MessagesSending {
  readonly refused: RefusedParts
  /** Left out of this request: it was refused. */
  readonly now?: readonly Part[] | undefined
  /** As the SDK rewrites it. */
  readonly outputSchema?: Record<string, unknown> | undefined
}

/**
 * The body of a Messages API request. At most three cache breakpoints: after tools and system prompt, after the last message
 * before the tail, and where that was in the request before: the API looks back only 20 blocks for an entry, and one step of
 * parallel calls can be longer. A one-shot request has none: writing the cache costs more than reading the input once.
 */
export function messagesBody(
  request: ModelRequest,
  { outputSchema, ...sending }: MessagesSending,
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
    ...(request.tools.length > 0 && { tools: tools(request, sending) }),
    ...(!isBlank(system) && {
      system: [{ type: 'text' as const, text: system, ...(!request.isOneShot && breakpoint) }],
    }),
    messages: conversation(request, sending),
    ...(!isUnthinking(request, sending) && thinkingConfig(options)),
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

/** With a budget, the steps of a turn are refused if the thinking that it began with was. */
function isUnthinking(request: ModelRequest, { now, refused }: MessagesSending): boolean {
  if (typeof request.options.thinking !== 'number' || request.messages.at(-1)?.role !== 'tool') return false
  for (let index = request.messages.length - 1; index >= 0; index--) {
    const message = request.messages.at(index)
    if (message === undefined || message.role === 'user') return false
    if (message.role === 'assistant' && refused.leftOut(request, message, now).own) return true
  }
  return false
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

function tools(request: ModelRequest, { now, refused }: MessagesSending): Tool[] {
  const sent = refused.hasPlainSchemas(request, now) ? plainSchema : acceptedSchema
  const lastMarked = isBlank(request.system) && !request.isOneShot ? request.tools.length - 1 : -1
  return request.tools.map(({ name, description, inputSchema }, index) => ({
    name,
    description,
    input_schema: { ...sent(inputSchema), type: 'object' },
    ...(index === lastMarked && breakpoint),
  }))
}

function conversation(request: ModelRequest, { now, refused }: MessagesSending): WireMessage[] {
  refuseUnsentFiles(ANTHROPIC, request.messages, (file) => {
    const param = fileParam(file)
    return param.type === 'unsent' ? param.problem : undefined
  })
  const messages: WireMessage[] = []
  let left = request.messages.length
  const begun = (): void => {
    if (request.isOneShot) return
    mark(messages, messages.length - 1)
    mark(
      messages,
      messages.findLastIndex(({ role }, index) => role === 'user' && index < messages.length - 1),
    )
  }
  for (const [message, addressee] of addressed(request, { adapter: ANTHROPIC, now, refused, wireId: wordId })) {
    if (left-- === 0) begun()
    join(messages, wireOf(message, addressee))
  }
  if (left >= 0) begun()
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
const wireOf = cachedByMessage((message: Message, addressee: Addressee): WireMessage | undefined => {
  const accepted = acceptedMessage(message, takesBack(message), addressee)
  switch (accepted?.role) {
    case 'assistant':
      return { role: 'assistant', content: accepted.content.flatMap((block) => assistantBlock(block, addressee)) }
    case 'tool':
      return { role: 'user', content: [toolResult(accepted, addressee)] }
    case 'user':
    case 'system':
      return { role: 'user', content: accepted.content.flatMap(userBlock) }
    case undefined:
      return undefined
  }
})

/**
 * The API refuses a call of its own tools without a result, except beside calls of ours, where the result follows in a later
 * reply; and thinking whose signature is missing, except that of servers which sign none.
 */
function takesBack({ content }: Message): TakesBack {
  const results = new Set<unknown>()
  for (const block of content) if (block.type === 'provider') results.add(block.data['tool_use_id'])
  const isPaused = content.some(({ type }) => type === 'tool-call')
  return (block) => {
    if (block.type === 'thinking') {
      return block.redacted !== undefined || Boolean(block.signature) || (block.field === unsigned && block.text !== '')
    }
    return isPaused || !isServerCall(block.data['type']) || results.has(block.data['id'])
  }
}

function isServerCall(type: unknown): boolean {
  return type === 'server_tool_use' || type === 'mcp_tool_use'
}

function assistantBlock(block: AssistantMessage['content'][number], { keepsIds }: Addressee): ContentBlockParam[] {
  switch (block.type) {
    case 'text':
      return textParam(block)
    case 'tool-call': {
      const { arguments: input, id, name } = block
      return [
        { type: 'tool_use', id: sentId(wordId, id, keepsIds), name: acceptedName(name), input, ...block.extra?.fields },
      ]
    }
    case 'thinking':
      return [ownBlock(thinkingParam(block))]
    case 'provider':
      return [ownBlock(block.data)]
  }
}

function thinkingParam({ redacted, signature, text, extra }: ThinkingBlock): object {
  if (redacted !== undefined) return { type: 'redacted_thinking', data: redacted, ...extra?.fields }
  return { type: 'thinking', thinking: text, ...(signature !== undefined && { signature }), ...extra?.fields }
}

/** The API wrote it, so its form is accepted. */
function ownBlock(data: object): ContentBlockParam {
  return data as ContentBlockParam
}

function toolResult({ callId, content, isError }: ToolMessage, { keepsIds }: Addressee): ToolResultBlockParam {
  return {
    type: 'tool_result',
    tool_use_id: sentId(wordId, callId, keepsIds),
    content: content.flatMap(userBlock),
    ...(isError === true && { is_error: true }),
  }
}

function userBlock(block: TextBlock | FileBlock): (TextBlockParam | FileParam)[] {
  if (block.type === 'text') return textParam(block)
  const param = fileParam(block)
  if (param.type !== 'unsent') return [param]
  return [{ type: 'text', text: fileNote(block, `${ANTHROPIC} cannot be sent it, as ${param.problem}`) }]
}

/** The API refuses blank text blocks. */
function textParam({ text, extra }: TextBlock): TextBlockParam[] {
  return isBlank(text) ? [] : [{ type: 'text', text, ...extra?.fields }]
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** The API's limit of an image. */
const maxImageChars = 5 * 2 ** 20

function isLinkable(mediaType: string): boolean {
  return isModelImage(mediaType) || mediaType === 'application/pdf'
}

function fileParam(file: FileBlock): FileParam | { readonly type: 'unsent'; readonly problem: string } {
  const title = file.name === undefined ? {} : { title: file.name }
  const form = sentFile(file, ({ kind, mediaType }) => kind === 'linked' && isLinkable(mediaType), maxImageChars)
  switch (form.kind) {
    case 'linked': {
      const { mediaType, url } = form
      if (isModelImage(mediaType)) return { type: 'image', source: { type: 'url', url } }
      return { type: 'document', source: { type: 'url', url }, ...title }
    }
    case 'image':
      if (!isModelImage(form.mediaType)) break
      return { type: 'image', source: { type: 'base64', media_type: form.mediaType, data: form.data } }
    case 'pdf':
      return {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: form.data },
        ...title,
      }
    case 'text':
      // The API refuses blank ones.
      if (isBlank(form.text)) return { type: 'unsent', problem: 'it is blank' }
      return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: form.text }, ...title }
    case 'unsent':
      return { type: 'unsent', problem: form.problem }
    case 'audio':
    case 'other':
  }
  return { type: 'unsent', problem: `it takes no ${file.mediaType}` }
}
