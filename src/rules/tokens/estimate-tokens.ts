import type { Message } from '../../protocol/message.ts'
import { canonical } from '../../world/canonical.ts'
import { LogView } from '../../world/log-view.ts'
import { checkOptions, listOf, refuseMisfit, type Shape, table } from '../../base/option-shapes.ts'
import { isFileInData } from '../media/file-in-data.ts'
import { countTokens } from './tokenizer.ts'
import type { Json } from '../../base/json.ts'

/** What tokens can be counted of. */
export type Countable = string | Message | readonly Message[] | LogView<Message>

/** Options of `estimateTokens`. */
export interface EstimateOptions {
  /** The provider's tokens per token counted here; above 0. */
  readonly factor: number
}

/** Of a message besides its content. */
const tokensPerMessage = 4
/** Of an image or another file of any size. */
const tokensPerMedium = 1_600

/** Frozen messages cannot change, and are counted once. */
const counted = new WeakMap<Message, number>()

/**
 * Estimates how many tokens a model reads in a content. Counts text, thinking, results, names and JSON arguments of
 * calls, provider blocks as JSON, and a flat amount per message and file.
 * @returns a whole number, rounded up; 0 for an empty text and for no messages
 * @throws `invalid-argument`
 */
export function estimateTokens(content: Countable, options: EstimateOptions): number {
  checkOptions('estimateTokens', options, { factor: factorShape })
  const { factor } = options
  refuseMisfit('estimateTokens', 'factor', factor, factorShape)
  refuseNoContent(content)
  const tokens = typeof content === 'string' ? countTokens(content) : sum(messagesOf(content), rawTokens)
  return Math.ceil(tokens * factor)
}

/** Is the estimate at least so many tokens? Counts only as much as it needs to know. */
export function isAtLeast(
  content: Countable,
  { factor, tokens }: EstimateOptions & { readonly tokens: number },
): boolean {
  refuseMisfit('isAtLeast', 'factor', factor, factorShape)
  const reaches = (raw: number): boolean => Math.ceil(raw * factor) >= tokens
  let most = maxTokensOf(content)
  if (!reaches(most)) return false
  if (typeof content === 'string') return reaches(countTokens(content))
  let least = 0
  for (const message of messagesOf(content)) {
    if (reaches(least)) return true
    if (!reaches(most)) return false
    most -= maxTokensOf(message)
    const raw = rawTokens(message)
    most += raw
    least += raw
  }
  return reaches(least)
}

/** A message's tokens before any factor. */
export function rawTokens(message: Message): number {
  let tokens = counted.get(message)
  if (tokens !== undefined) return tokens
  tokens = message.content.reduce((total, block) => total + tokensOfBlock(block), tokensPerMessage)
  if (Object.isFrozen(message)) counted.set(message, tokens)
  return tokens
}

/** A text's tokens before any factor. */
export function rawTokensOfText(text: string): number {
  return countTokens(text)
}

/** An upper bound of a content's tokens before any factor, from its size in bytes: no token is less than a byte. */
export function maxTokensOf(content: Countable): number {
  if (typeof content === 'string') return Buffer.byteLength(content)
  return sum(messagesOf(content), (message) => counted.get(message) ?? mostTokensOf(message))
}

type Block = Message['content'][number]

function tokensOfBlock(block: Block): number {
  switch (block.type) {
    case 'file':
      return tokensPerMedium
    case 'tool-call':
      return countTokens(block.name) + countTokens(block.malformed ?? JSON.stringify(block.arguments))
    case 'provider':
      return tokensOfData(block.data)
    case 'text':
    case 'thinking':
      return countTokens(block.text)
  }
}

/** Of what a provider alone reads, as JSON. What stands in it as base64 is a file, and no text. */
function tokensOfData(data: Json): number {
  let files = 0
  const text = JSON.stringify(data, function (this: object, key: string, value: unknown) {
    if (!isFileInData(this, key, value)) return value
    files++
    return ''
  })
  return countTokens(text) + files * tokensPerMedium
}

const factorShape: Shape = {
  wanted: 'a number above 0',
  fits: (value) => Number.isFinite(value) && (value as number) > 0,
}

/** Frozen messages come from a World, which has checked them. */
function refuseNoContent(content: unknown): void {
  if (typeof content === 'string' || content instanceof LogView) return
  refuseMisfit('estimateTokens', 'content', content, contentShape)
  for (const message of Array.isArray(content) ? (content as unknown[]) : [content]) {
    if (typeof message === 'object' && message !== null && Object.isFrozen(message)) continue
    canonical(message, () => 'a message')
    refuseMisfit('estimateTokens', 'a message', message, messageShape)
  }
}

const contentShape: Shape = {
  wanted: 'a text, a message or a list of messages',
  fits: (value) => typeof value === 'object' && value !== null,
}
const messageShape: Shape = {
  wanted: 'an object with a list of blocks in content',
  fits: (value) => table.fits(value) && listOf(blockShape).fits((value as { readonly content?: unknown }).content),
}
const blockShape: Shape = {
  wanted: 'a block',
  fits: (value) => {
    if (!table.fits(value)) return false
    const { type, text, name, malformed, arguments: input, data } = value as Readonly<Record<string, unknown>>
    if (type === 'text' || type === 'thinking') return typeof text === 'string'
    if (type === 'provider') return data !== undefined
    if (type !== 'tool-call') return type === 'file'
    return typeof name === 'string' && (typeof malformed === 'string' || (malformed === undefined && table.fits(input)))
  },
}

function messagesOf(content: Exclude<Countable, string>): readonly Message[] | LogView<Message> {
  return 'role' in content ? [content] : content
}

function sum(messages: Iterable<Message>, ofMessage: (message: Message) => number): number {
  let tokens = 0
  for (const message of messages) tokens += ofMessage(message)
  return tokens
}

/** Most bytes of a unit of a text in JSON, where it may be escaped: `\\u001f`. */
const bytesPerJsonUnit = 6
/** A number has 17 digits at most, with a sign, a point and an exponent. */
const bytesPerScalar = 25

/** An upper bound of a message's tokens, before any factor. */
export function mostTokensOf({ content }: Message): number {
  let most = tokensPerMessage
  for (let index = 0; index < content.length; index++) most += mostTokensOfBlock(content[index] as Block)
  return most
}

function mostTokensOfBlock(block: Block): number {
  switch (block.type) {
    case 'file':
      return tokensPerMedium
    case 'tool-call': {
      const { arguments: input, malformed, name } = block
      return Buffer.byteLength(name) + (malformed === undefined ? mostBytesOf(input) : Buffer.byteLength(malformed))
    }
    case 'provider':
      return mostBytesOf(block.data)
    case 'text':
    case 'thinking':
      return Buffer.byteLength(block.text)
  }
}

/** Of a value as JSON: quotes, brackets, colons and commas included. */
function mostBytesOf(value: Json | undefined): number {
  if (typeof value === 'string') return value.length * bytesPerJsonUnit + 2
  if (typeof value !== 'object' || value === null) return bytesPerScalar
  let most = 2
  if (isList(value)) for (const item of value) most += mostBytesOfPart(value, '', item) + 1
  else for (const key in value) most += key.length * bytesPerJsonUnit + mostBytesOfPart(value, key, value[key]) + 4
  return most
}

function mostBytesOfPart(holder: object, key: string, value: Json | undefined): number {
  return isFileInData(holder, key, value) ? tokensPerMedium + 2 : mostBytesOf(value)
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value)
}
