import type { AssistantMessage, Message, ToolCallBlock } from '../../protocol/message.ts'
import { canonicalOrNone, maxDepth } from '../../world/canonical.ts'
import type { Json } from '../../world/json.ts'

/** Arguments are stored within a message, an outcome, an input: so many levels are kept free for those. */
const outerLevels = 16

type Arguments = Pick<ToolCallBlock, 'arguments' | 'malformed'>

/**
 * Reads the arguments that a model wrote. No text at all stands for no arguments; anything but a JSON object that a World can
 * hold is kept raw.
 *
 * @param isCut the reply was cut at the token limit here: no text at all is then malformed, too. @default false
 */
export function readArguments(raw: string, isCut = false): Arguments {
  if (raw.trim() === '') return isCut ? { arguments: {}, malformed: '' } : { arguments: {} }
  const value = canonicalOrNone(parsed(raw), outerLevels)
  return isJsonObject(value) ? { arguments: value } : { arguments: {}, malformed: raw.toWellFormed() }
}

/** What is wrong with arguments that could not be read, for the model that wrote them. */
export function argumentsProblem(malformed: string): string {
  if (!isWholeObject(malformed)) return 'what came is no JSON object.'
  return (
    `they must nest at most ${maxDepth - outerLevels} levels deep, and have no number beyond 1.8e308. ` +
    'Write deep structures and larger numbers as text.'
  )
}

/** The arguments as text, for wire forms that send them so: what a model wrote malformed goes back as it wrote it. */
export function writeArguments(call: ToolCallBlock): string {
  return call.malformed || JSON.stringify(call.arguments)
}

/** Is a text a complete JSON object? */
export function isWholeObject(raw: string): boolean {
  const value = raw.trim() === '' ? undefined : parsed(raw)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}

function isJsonObject(value: Json | undefined): value is ToolCallBlock['arguments'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A call, and the index of the message that it stands in. */
export interface PlacedCall {
  readonly call: ToolCallBlock
  readonly index: number
}

/** The newest call of a conversation. */
export function newestCall(messages: readonly Message[]): PlacedCall | undefined {
  const last = lastOfModel(messages, messages.length)
  const index = lastCallIn(messages[last]) === undefined ? lastAnswered(messages, messages.length) : last
  const call = lastCallIn(messages[index])
  return call === undefined ? undefined : { call, index }
}

/** The call before one that the newest message of the model has; `undefined` too if that message has no such call. */
export function callBefore(messages: readonly Message[], callId: string): ToolCallBlock | undefined {
  const index = lastOfModel(messages, messages.length)
  const message = messages[index]
  if (message === undefined) return undefined
  let before: ToolCallBlock | undefined
  for (const block of message.content) {
    if (block.type !== 'tool-call') continue
    if (block.id === callId) return before ?? lastCallIn(messages[lastAnswered(messages, index)])
    before = block
  }
  return undefined
}

/**
 * The index of the message that has the last call of so many messages of those that have their results: these are looked
 * for, as many a message has no call.
 */
function lastAnswered(messages: readonly Message[], count: number): number {
  let index = count - 1
  while (index >= 0 && messages[index]?.role !== 'tool') index--
  return lastOfModel(messages, index)
}

function lastCallIn(message: Message | undefined): ToolCallBlock | undefined {
  const content = message?.content ?? []
  for (let index = content.length - 1; index >= 0; index--) {
    const block = content[index]
    if (block?.type === 'tool-call') return block
  }
  return undefined
}

function lastOfModel(messages: readonly Message[], count: number): number {
  let index = count - 1
  while (index >= 0 && messages[index]?.role !== 'assistant') index--
  return index
}

/**
 * A reply in which each call has an id of its own. Some servers give all calls of a reply the same one: their results could
 * not be told apart, and other providers refuse such a conversation.
 *
 * @param message not yet checked: what is no call is left as it is
 */
export function withDistinctCallIds(message: AssistantMessage): AssistantMessage {
  const { content } = message
  if (!Array.isArray(content) || content.length < 2) return message
  const taken = new Set<string>()
  let isChanged = false
  const blocks = (content as AssistantMessage['content']).map((block: AssistantMessage['content'][number] | null) => {
    if (block?.type !== 'tool-call') return block
    const id = freeId(block, taken)
    taken.add(id)
    if (id === block.id) return block
    isChanged = true
    return { ...block, id }
  })
  return isChanged ? { ...message, content: blocks as AssistantMessage['content'] } : message
}

function freeId({ id }: ToolCallBlock, taken: ReadonlySet<string>): string {
  let free = id
  for (let count = 2; taken.has(free); count++) free = `${id}-${count}`
  return free
}
