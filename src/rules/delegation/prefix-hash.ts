import type { LlmData } from '../../../components/agent/llm.ts'
import type { Message } from '../../protocol/message.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { askedOf } from '../projection/prefix.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { sha256 } from '../../world/sha256.ts'

/** What requests of two agents share. All of it as a World holds it: canonical, and frozen. */
export interface SharedRequest {
  readonly llm: LlmData
  /** A hash of what the provider adds of its own accord, where it says so. */
  readonly settings: number | undefined
  readonly system: string
  readonly tools: readonly ToolDeclaration[]
  readonly messages: readonly Message[]
  /** How many of the messages. */
  readonly count: number
}

/** So many messages that follow one another, and what is made of them. */
interface Block {
  readonly messages: readonly Message[]
  readonly digest: string
}

/** Messages are taken in blocks of so many: a longer prefix is made of the blocks of a shorter one. */
const blockSize = 64
/** So many system prompts are remembered before all are forgotten. */
const maxKnownTexts = 100

/**
 * Blocks by their first message. Logs that share messages, those of forks and of an agent whose log was rewritten behind
 * them, have the same blocks. That they do is looked at message by message, so that nothing is taken for granted. What is
 * not frozen may be another the next time, and is not remembered.
 */
const blocks = new WeakMap<Message, Block>()
const listDigests = new WeakMap<object, string>()
const textDigests = new Map<string, string>()

/**
 * SHA-256, in hex, over model and options, system prompt, tool declarations in order and the first `count` messages.
 *
 * @throws `invalid-argument` for a count outside the messages
 */
export function prefixHash({ llm, settings, system, tools, messages, count }: SharedRequest): string {
  if (!Number.isInteger(count) || count < 0 || count > messages.length) {
    const what = `prefixHash: expected a count from 0 to ${messages.length}, as many as there are messages`
    throw new EntiaError('invalid-argument', `${what}, got ${count}.`)
  }
  const lines = [JSON.stringify(askedOf(llm)), String(settings), textDigest(system), listDigest(tools)]
  let from = 0
  for (; from + blockSize <= count; from += blockSize) lines.push(blockDigest(messages, from))
  for (; from < count; from++) lines.push(JSON.stringify(messages[from]))
  return sha256(lines.join('\n'))
}

function blockDigest(messages: readonly Message[], from: number): string {
  const first = messages[from] as Message
  const known = blocks.get(first)
  if (known !== undefined && standsAt(messages, from, known)) return known.digest
  const part = messages.slice(from, from + blockSize)
  const digest = sha256(JSON.stringify(part))
  if (part.every(Object.isFrozen)) blocks.set(first, { messages: part, digest })
  return digest
}

function standsAt(messages: readonly Message[], from: number, block: Block): boolean {
  for (let index = 0; index < blockSize; index++) if (messages[from + index] !== block.messages[index]) return false
  return true
}

function listDigest(list: readonly unknown[]): string {
  let known = listDigests.get(list)
  if (known !== undefined) return known
  known = sha256(JSON.stringify(list))
  if (Object.isFrozen(list)) listDigests.set(list, known)
  return known
}

function textDigest(text: string): string {
  let known = textDigests.get(text)
  if (known !== undefined) return known
  if (textDigests.size >= maxKnownTexts) textDigests.clear()
  textDigests.set(text, (known = sha256(text)))
  return known
}
