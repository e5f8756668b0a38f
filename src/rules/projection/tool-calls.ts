import type { AssistantMessage, Message, ToolCallBlock } from '../../protocol/message.ts'
import { canonicalOrNone, maxDepth } from '../../world/canonical.ts'
import { itemsOf } from '../../world/read-only-log.ts'

/** Levels kept free for the message, outcome or input that contains the arguments. */
const outerLevels = 16

type Arguments = Pick<ToolCallBlock, 'arguments' | 'malformed'>

/**
 * Reads the arguments that a model wrote. Empty text means no arguments; anything but a JSON object that a World can
 * hold is kept raw.
 * @param isCut the token limit cut the reply here: empty text is malformed too. @default false
 */
export function readArguments(raw: string, isCut = false): Arguments {
  if (raw.trim() === '') return isCut ? { arguments: {}, malformed: '' } : { arguments: {} }
  const value = canonicalOrNone(parsed(raw), outerLevels)
  if (!isObject(value)) return { arguments: {}, malformed: raw.toWellFormed() }
  return { arguments: value as Arguments['arguments'] }
}

/** What is wrong with malformed arguments, for the model. */
export function argumentsProblem(malformed: string): string {
  if (!isWholeObject(malformed)) return 'they are no JSON object.'
  return (
    `they must nest at most ${maxDepth - outerLevels} levels deep, and have no number beyond 1.8e308. ` +
    'Write deep structures and larger numbers as text.'
  )
}

/** Arguments as text, for wire formats that want it. Malformed ones go back as the model wrote them. */
export function writeArguments(call: ToolCallBlock): string {
  return call.malformed || JSON.stringify(call.arguments)
}

export function isWholeObject(raw: string): boolean {
  return isObject(parsed(raw))
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(raw: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    return undefined
  }
}

export interface PlacedCall {
  readonly call: ToolCallBlock
  readonly index: number
}

export function newestCall(messages: readonly Message[]): PlacedCall | undefined {
  const last = lastOfModel(messages, messages.length)
  const index = lastCallIn(messages[last]) === undefined ? lastAnswered(messages, messages.length) : last
  const call = lastCallIn(messages[index])
  return call === undefined ? undefined : { call, index }
}

/** The call before one in the model's newest message; `undefined` also if that message does not have it. */
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

/** The index of the model's message whose calls were answered last, among the first `count` messages. */
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
 * Gives each call of a reply an id that no other call of the conversation has. Some servers count from 0 in each reply:
 * results would be ambiguous, and other providers reject such a conversation.
 * @param message unchecked: anything but a call stays as it is
 */
export function withDistinctCallIds(
  message: AssistantMessage,
  conversation: readonly Message[] = [],
): AssistantMessage {
  const { content } = message
  if (!Array.isArray(content)) return message
  const blocks: readonly (AssistantMessage['content'][number] | null)[] = content
  if (!blocks.some((block) => block?.type === 'tool-call')) return message
  const before = knownIds(conversation)
  const own = new Set<string>()
  let isChanged = false
  const distinct = blocks.map((block) => {
    if (block?.type !== 'tool-call') return block
    let { id } = block
    for (let count = 2; before.has(id) || own.has(id); count++) id = `${block.id}-${count}`
    own.add(id)
    if (id === block.id) return block
    isChanged = true
    return { ...block, id }
  })
  return isChanged ? { ...message, content: distinct as AssistantMessage['content'] } : message
}

interface KnownIds {
  readonly ids: Set<string>
  to: number
  last: Message | undefined
}

/** Of each log the ids of its calls. Only a shortcut: a log's array only grows, and a rewrite makes another one. */
const idsOfLogs = new WeakMap<readonly Message[], KnownIds>()

function knownIds(conversation: readonly Message[]): ReadonlySet<string> {
  const messages = itemsOf(conversation)
  let known = idsOfLogs.get(messages)
  // An undone tick removes messages, and others may take their places.
  if (known === undefined || messages[known.to - 1] !== known.last) {
    idsOfLogs.set(messages, (known = { ids: new Set(), to: 0, last: undefined }))
  }
  for (; known.to < messages.length; known.to++) {
    const { content, role } = messages[known.to] as Message
    if (role !== 'assistant') continue
    for (const block of content) if (block.type === 'tool-call') known.ids.add(block.id)
  }
  known.last = messages[known.to - 1]
  return known.ids
}
