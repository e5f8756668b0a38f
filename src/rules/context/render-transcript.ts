import type { Message, ProviderBlock, ToolMessage } from '../../protocol/message.ts'
import { isFileInData } from '../media/file-in-data.ts'
import { cutMiddle } from '../../base/cut-text.ts'
import { framed } from '../text/frames.ts'

const maxResultChars = 8_000

/**
 * Messages as a text for another model: a section each, `## <role>` and its blocks; calls, results and media in
 * brackets, without thinking. The middle of results over 8,000 characters is left out. Lines that would read as a
 * section, call or result get a backslash before them.
 */
export function renderTranscript(messages: Iterable<Message>): string {
  return [...messages].map((message) => [`## ${message.role}`, ...blocksOf(message, quoted)].join('\n')).join('\n\n')
}

/** A message's words, unframed, for searches. */
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

/** A call as text: its name, and its arguments as the model wrote them. */
export function callText(call: Extract<Block, { type: 'tool-call' }>, quote = quoted): string {
  return `[tool_use: ${quote(`${call.name}(${call.malformed ?? JSON.stringify(call.arguments)})`, true)}]`
}

/** A provider's own block as JSON without its encrypted fields and without the content of files. The middle is left out above 8,000 characters. */
export function providerText({ data }: ProviderBlock, quote = quoted): string {
  const { type, ...rest } = data
  const text = JSON.stringify(rest, function (this: object, key, value: unknown) {
    if (key.startsWith('encrypted_')) return undefined
    return isFileInData(this === rest ? data : this, key, value) ? '[file]' : value
  })
  return `[${quote(`${typeof type === 'string' ? type : 'block'}: ${cutMiddle(text, maxResultChars)}`, true)}]`
}

/** A call's whole result as text. */
export function resultText(message: ToolMessage): string {
  return inBrackets(joined(message), quoted)
}

function inBrackets(text: string, quote: Quote): string {
  return `[tool_result: ${quote(text, true)}]`
}

function joined({ content }: ToolMessage): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.mediaType}]`)).join('\n')
}
