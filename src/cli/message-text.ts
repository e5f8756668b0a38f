import { plainText } from '../tools/files/clean-text.ts'

/** A message of a conversation, or of a transcript. */
export interface Spoken {
  readonly role?: string | undefined
  readonly content: readonly Block[]
}

interface Block {
  readonly type: string
  readonly text?: string | undefined
  readonly name?: string | undefined
  readonly arguments?: object | undefined
}

/** A message as a person reads it; empty if it has no words. */
export function messageText({ content, role }: Spoken): string {
  const text = plainText(content.map(blockText).join('\n').trim())
  if (text === '') return ''
  if (role === 'user') return `> ${text.replaceAll('\n', '\n> ')}`
  return role === 'tool' ? `  ${text.replaceAll('\n', '\n  ')}` : text
}

function blockText({ arguments: input, name, text, type }: Block): string {
  if (type === 'text') return text ?? ''
  if (type === 'tool-call') return `[${name}] ${JSON.stringify(input)}`
  return type === 'file' ? `[file ${name ?? ''}]` : ''
}
