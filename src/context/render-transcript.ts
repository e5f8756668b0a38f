import type { Message } from '../../components/message.ts'
import { cutMiddle } from '../tools/cut-text.ts'

/** Of a longer result so many characters are left, half of them at its beginning and half at its end. */
const maxResultChars = 8_000

/**
 * Messages as a text for another model: a section each, `## <role>` and then its blocks; calls, results and media in
 * brackets, thinking left out. The middle of results of more than 8,000 characters is left out.
 */
export function renderTranscript(messages: Iterable<Message>): string {
  return [...messages].map(section).join('\n\n')
}

function section(message: Message): string {
  const blocks = message.role === 'tool' ? [resultText(message)] : message.content.flatMap(blockText)
  return [`## ${message.role}`, ...blocks].join('\n')
}

type Block = Message['content'][number]

function blockText(block: Block): readonly string[] {
  switch (block.type) {
    case 'text':
      return [block.text]
    case 'file':
      return [`[${block.mediaType}]`]
    case 'tool-call':
      return [callText(block)]
    case 'thinking':
      return []
  }
}

/** A call as a text: its name, and its arguments as the model wrote them. */
export function callText(call: Extract<Block, { type: 'tool-call' }>): string {
  return `[tool_use: ${call.name}(${call.malformed ?? JSON.stringify(call.arguments)})]`
}

/**
 * The result of a call as a text.
 *
 * @param isWhole a long one is left as it is
 */
export function resultText({ content }: Extract<Message, { role: 'tool' }>, isWhole = false): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : `[${block.mediaType}]`)).join('\n')
  return `[tool_result: ${isWhole ? text : cutMiddle(text, maxResultChars)}]`
}
