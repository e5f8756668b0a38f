import { EntiaError } from '../world/entia-error.ts'
import type { FileBlock, Message } from '../protocol/message.ts'

/** Caches conversions, so that a step converts only new messages. */
export function cachedByMessage<Wire>(convert: (message: Message) => Wire): (message: Message) => Wire {
  const cache = new WeakMap<Message, Wire>()
  return (message) => {
    let wire = cache.get(message)
    if (wire === undefined) cache.set(message, (wire = convert(message)))
    return wire
  }
}

/** Providers require the results of calls directly after the assistant message; moves other messages behind them. */
export function* resultsFirst(messages: Iterable<Message>): Generator<Message> {
  let held: Message[] = []
  for (const message of messages) {
    if (message.role === 'tool') yield message
    else if (message.role === 'assistant') {
      yield* held
      held = []
      yield message
    } else held.push(message)
  }
  yield* held
}

const MAX_NAME_LENGTH = 128

/** Sanitizes a tool's name: a model may call one that cannot exist. */
export function acceptedName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME_LENGTH) || 'unnamed'
}

/** Its URL, or its bytes as a `data:` URL. */
export function urlOf(file: FileBlock): string {
  return file.url ?? `data:${file.mediaType};base64,${file.data ?? ''}`
}

export function unsupportedFile(provider: string, file: FileBlock, accepted: string): EntiaError {
  const from = file.url === undefined ? 'given as base64' : 'given as a URL'
  return new EntiaError(
    'invalid-argument',
    `${provider} takes ${accepted}; a message holds a file of type "${file.mediaType}" ${from}. ` +
      'Convert the file, or leave it out of the conversation.',
    { provider, mediaType: file.mediaType },
  )
}
