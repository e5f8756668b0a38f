import type { Message } from '../../protocol/message.ts'
import type { Json } from '../../world/json.ts'
import { tokensPerMedium, tokensPerMessage } from './estimate-tokens.ts'

/** Bytes of a unit of a text in UTF-8, at most. No token is less than a byte. */
const bytesPerUnit = 3
/** The same in JSON, where a unit may be escaped: `\\u001f`. */
const bytesPerJsonUnit = 6
/** A number has 17 digits at most, with a sign, a point and an exponent. */
const bytesPerScalar = 25

/** No fewer tokens than a message has before any factor, at the price of a look at how long its texts are. */
export function mostTokensOf({ content }: Message): number {
  let most = tokensPerMessage
  for (let index = 0; index < content.length; index++) most += mostTokensOfBlock(content[index] as Block)
  return most
}

/** The same of a text. */
export function mostTokensOfText(text: string): number {
  return text.length * bytesPerUnit
}

type Block = Message['content'][number]

function mostTokensOfBlock(block: Block): number {
  switch (block.type) {
    case 'file':
      return tokensPerMedium
    case 'tool-call': {
      const { arguments: input, malformed, name } = block
      return mostTokensOfText(name) + (malformed === undefined ? mostBytesOf(input) : mostTokensOfText(malformed))
    }
    case 'provider':
      return mostBytesOf(block.data)
    case 'text':
    case 'thinking':
      return mostTokensOfText(block.text)
  }
}

/** Of a value as JSON: quotes, brackets, colons and commas included. */
function mostBytesOf(value: Json | undefined): number {
  if (typeof value === 'string') return value.length * bytesPerJsonUnit + 2
  if (typeof value !== 'object' || value === null) return bytesPerScalar
  let most = 2
  if (isList(value)) for (const item of value) most += mostBytesOf(item) + 1
  else for (const key in value) most += key.length * bytesPerJsonUnit + mostBytesOf(value[key]) + 4
  return most
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value)
}
