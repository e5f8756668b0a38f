import { EntiaError } from '../world/entia-error.ts'
import type { FileBlock, Message } from '../protocol/message.ts'

/** Makes a conversion of messages remember its results, so that a step converts only the messages that are new. */
export function cachedByMessage<Wire>(convert: (message: Message) => Wire): (message: Message) => Wire {
  const cache = new WeakMap<Message, Wire>()
  return (message) => {
    let wire = cache.get(message)
    if (wire === undefined) cache.set(message, (wire = convert(message)))
    return wire
  }
}

/**
 * The messages in the order that providers ask for: behind an assistant message the results of its calls come first,
 * and whatever else was said meanwhile stands behind them.
 */
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

/** Longest name of a tool that providers take. */
const MAX_NAME_LENGTH = 128

/** The name of a called tool as providers accept it: a model may make up one that no tool could have. */
export function acceptedName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME_LENGTH) || 'unnamed'
}

/** A file as a URL: where it lies, or its bytes as a `data:` URL. */
export function urlOf(file: FileBlock): string {
  return file.url ?? `data:${file.mediaType};base64,${file.data ?? ''}`
}

/** The error for a file that a provider has no place for. */
export function unsupportedFile(provider: string, file: FileBlock, accepted: string): EntiaError {
  const from = file.url === undefined ? 'given as base64' : 'given as a URL'
  return new EntiaError(
    'invalid-argument',
    `${provider} takes ${accepted}; a message holds a file of type "${file.mediaType}" ${from}. ` +
      'Convert the file, or leave it out of the conversation.',
    { provider, mediaType: file.mediaType },
  )
}
