import type { Message, ProviderBlock, ToolMessage } from '../../protocol/message.ts'
import { cutMiddle } from '../text/cut-text.ts'
import { framed } from '../text/frames.ts'

/** Of a longer result so many characters are left, half of them at its beginning and half at its end. */
const maxResultChars = 8_000

/**
 * Messages as a text for another model: a section each, `## <role>` and then its blocks; calls, results and media in
 * brackets, thinking left out. The middle of results of more than 8,000 characters is left out. What a message says cannot
 * pass for a section, a call or a result: such lines get a backslash before them.
 */
export function renderTranscript(messages: Iterable<Message>): string {
  return [...messages].map((message) => [`## ${message.role}`, ...blocksOf(message, quoted)].join('\n')).join('\n\n')
}

/** The words of one message, unframed: what it is found by. */
export function messageText(message: Message): string {
  return blocksOf(message, asItIs).join('\n')
}

type Block = Message['content'][number]
type Quote = (text: string, midLine?: boolean) => string

const quoted: Quote = (text, midLine) => framed(text, 'transcript', midLine)
const asItIs: Quote = (text) => text

function blocksOf(message: Message, quote: Quote): readonly string[] {
  if (message.role === 'tool') return [inBrackets(cutMiddle(joined(message), maxResultChars), quote)]
  return message.content.flatMap((block) => blockText(block, quote))
}

function blockText(block: Block, quote: Quote): readonly string[] {
  switch (block.type) {
    case 'text':
      return [quote(block.text)]
    case 'file':
      return [`[${block.mediaType}]`]
    case 'tool-call':
      return [callText(block, quote)]
    case 'provider':
      return [providerText(block, quote)]
    case 'thinking':
      return []
  }
}

/** A call as a text: its name, and its arguments as the model wrote them. */
export function callText(call: Extract<Block, { type: 'tool-call' }>, quote = quoted): string {
  return `[tool_use: ${quote(`${call.name}(${call.malformed ?? JSON.stringify(call.arguments)})`, true)}]`
}

/**
 * What a provider did itself, as a text: its block as JSON, without what it has encrypted for itself. The middle of more than
 * 8,000 characters is left out.
 */
export function providerText({ data }: ProviderBlock, quote = quoted): string {
  const { type, ...rest } = data
  const text = JSON.stringify(rest, (key, value: unknown) => (key.startsWith('encrypted_') ? undefined : value))
  return `[${quote(`${typeof type === 'string' ? type : 'block'}: ${cutMiddle(text, maxResultChars)}`, true)}]`
}

/** The whole result of a call as a text. */
export function resultText(message: ToolMessage): string {
  return inBrackets(joined(message), quoted)
}

function inBrackets(text: string, quote: Quote): string {
  return `[tool_result: ${quote(text, true)}]`
}

function joined({ content }: ToolMessage): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.mediaType}]`)).join('\n')
}
