import { hash } from 'node:crypto'
import type { AssistantMessage, Message } from '../protocol/message.ts'
import { oncePerValue } from '../rules/once-per.ts'

/** How a protocol writes the id of a call. */
export type WireId = (id: string) => string

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Nine letters and digits: the strictest server takes no others. Those that are so already stay. */
export const nineLetters: WireId = (id) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : derived(id))

/** Longer ids hold something for their server, such as the signature of a call. */
export const maxIdChars = 64

/** Letters, digits, `_` and `-`, at least one and at most 64. */
export const wordId: WireId = (id) => shortId(id.replaceAll(/[^a-zA-Z0-9_-]/g, '_'))

/** @param isKept it is the server's own */
export function sentId(wireId: WireId, id: string, isKept = false): string {
  return isKept && id.length > maxIdChars ? id : wireId(id)
}

/** At least one character and at most 64. */
export const shortId: WireId = (id) => {
  if (id.length <= maxIdChars) return id || 'call'
  return `${id.slice(0, maxIdChars - derivedChars - 1)}_${derived(id)}`
}

const derivedChars = 9

const derived = oncePerValue((id: string): string => {
  const digest = hash('sha256', id.toWellFormed(), 'buffer')
  return Array.from(digest.subarray(0, derivedChars), (byte) => letters[byte % letters.length]).join('')
}, 10_000)

/**
 * Messages whose calls have distinct ids on the wire, each with its own results. What an id becomes depends on the messages
 * before it alone, so requests keep their prefix; a message without a conflict is the same object.
 */
export function* withDistinctIds(messages: Iterable<Message>, wireId: WireId): Generator<Message> {
  const taken = new Set<string>()
  let renamed = new Map<string, string[]>()
  for (const message of messages) {
    if (message.role === 'assistant') {
      renamed = new Map()
      yield distinct(message, { taken, renamed, wireId })
    } else if (message.role === 'tool') {
      const ids = renamed.get(message.callId)
      const callId = ids !== undefined && ids.length > 1 ? ids.shift() : ids?.[0]
      yield callId === undefined || callId === message.callId ? message : { ...message, callId }
    } else yield message
  }
}

interface Taken {
  readonly taken: Set<string>
  /** The ids that the calls of a message have got, by those that they had. */
  readonly renamed: Map<string, string[]>
  readonly wireId: WireId
}

function distinct(message: AssistantMessage, { renamed, taken, wireId }: Taken): AssistantMessage {
  let isChanged = false
  const content = message.content.map((block) => {
    if (block.type !== 'tool-call') return block
    let id = block.id
    for (let count = 2; taken.has(wireId(id)); count++) id = `${block.id}-${count}`
    taken.add(wireId(id))
    const ids = renamed.get(block.id)
    if (ids === undefined) renamed.set(block.id, [id])
    else ids.push(id)
    if (id === block.id) return block
    isChanged = true
    return { ...block, id }
  })
  return isChanged ? { ...message, content } : message
}
