import { type JsonObject, type Message, textOf } from 'entia'

/** A tool call of this turn, with its result. */
export interface AnsweredCall {
  readonly name: string
  readonly arguments: JsonObject
  readonly text: string
  readonly isError: boolean
}

/** The calls since the last user message that have a result, in the order of their results. */
export function answeredCalls(messages: Iterable<Message>): AnsweredCall[] {
  let calls: AnsweredCall[] = []
  const asked = new Map<string, JsonObject>()
  for (const message of messages) {
    if (message.role === 'user') calls = []
    else if (message.role === 'assistant') {
      for (const block of message.content) if (block.type === 'tool-call') asked.set(block.id, block.arguments)
    } else if (message.role === 'tool') {
      const { name, callId, isError = false } = message
      calls.push({ name, arguments: asked.get(callId) ?? {}, text: textOf(message), isError })
    }
  }
  return calls
}

/** Most entries that one call lists or finds. */
export const maxListed = 1_000

/** The entries that `list_files` gave, without its notes. Folders end in `/`. */
export function entriesOf({ text }: Pick<AnsweredCall, 'text'>): string[] {
  return text.split('\n').filter((row) => row !== '' && !/^\[.*\]$/.test(row))
}

/** Files and folders as one pattern of the file tools; `undefined` for all. */
export function globOf(places: readonly string[]): string | undefined {
  if (places.length === 0) return undefined
  const globs = places.map((place) => `/${place.replaceAll(/[^\p{L}\p{N}/._-]/gu, '?')}`)
  return globs.length === 1 ? globs[0] : `{${globs.join(',')}}`
}

/** `a, b and c`. */
export function listed(items: readonly string[], joint: 'and' | 'or' = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${joint} ${items.at(-1)}`
}

/** `1 file`, `2 files`. */
export function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
