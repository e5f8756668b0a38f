import { EntiaError } from '../base/entia-error.ts'
import type { LogView } from '../world/log-view.ts'
import type { AssistantMessage, FileBlock, Message } from '../protocol/message.ts'
import { type Addressee, isOwn } from './accepted-message.ts'
import { fileForm, type FileForm } from '../rules/media/file-form.ts'
import { maxIdChars, withDistinctIds, type WireId } from './call-ids.ts'
import type { ModelRequest } from './port.ts'
import { nothingLeftOut, type Part, type RefusedParts } from './refused-parts.ts'

/** Caches conversions, so that a step converts only new messages. */
export function cachedByMessage<Wire>(
  convert: (message: Message, addressee: Addressee) => Wire,
): (message: Message, addressee: Addressee) => Wire {
  const caches = new Map<string, WeakMap<Message, Wire>>()
  return (message, addressee) => {
    const { keepsIds, leftOut, provider } = addressee
    const key = `${Object.values(leftOut).join()} ${keepsIds} ${provider}`
    let cache = caches.get(key)
    if (cache === undefined) caches.set(key, (cache = new WeakMap()))
    let wire = cache.get(message)
    if (wire === undefined) cache.set(message, (wire = convert(message, addressee)))
    return wire
  }
}

/** A request's messages in the order and with the ids of the wire, the tail last, each with what is left out of it. */
export function* addressed(
  request: ModelRequest,
  { adapter, now, refused, wireId }: Sending,
): Generator<readonly [Message, Addressee]> {
  const { provider } = request
  const sender = { adapter, provider }
  const ordered = [...resultsFirst(request.messages)]
  let index = 0
  let keptIds: ReadonlySet<string> = new Set()
  for (const message of withDistinctIds(ordered, wireId)) {
    const leftOut = refused.leftOut(request, ordered[index++] as Message, now)
    if (message.role === 'assistant') {
      const { model } = message
      keptIds = model !== undefined && isOwn(adapter, model, sender) ? longIds(message) : new Set()
    }
    const keepsIds = message.role === 'tool' ? keptIds.has(message.callId) : keptIds.size > 0
    yield [message, { adapter, provider, leftOut, keepsIds }]
  }
  for (const message of request.tail) yield [message, { adapter, provider, leftOut: nothingLeftOut }]
}

function longIds({ content }: AssistantMessage): ReadonlySet<string> {
  return new Set(
    content.flatMap((block) => (block.type === 'tool-call' && block.id.length > maxIdChars ? block.id : [])),
  )
}

/** How an adapter sends messages. */
export interface Sending {
  readonly adapter: string
  readonly wireId: WireId
  readonly refused: RefusedParts
  /** Left out of this request: it was refused. */
  readonly now?: readonly Part[] | undefined
}

/** Providers require the results of calls directly after the assistant message; moves other messages behind them. */
function* resultsFirst(messages: Iterable<Message>): Generator<Message> {
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

/** Characters of an image's Base64, of what most servers take. */
const maxImageChars = 20 * 2 ** 20

type WholeFile = Exclude<FileForm, { kind: 'broken' }>

/** A file as a protocol can send it; `problem`: why it cannot. */
export type SentFile = WholeFile | { readonly kind: 'unsent'; readonly problem: string }

/** @param takes whether the protocol has a place for it; images that models read, PDF files and texts need no answer */
export function sentFile(
  file: FileBlock,
  takes: (form: WholeFile) => boolean,
  imageChars: number = maxImageChars,
): SentFile {
  const form = fileForm(file)
  if (form.kind === 'broken') return { kind: 'unsent', problem: form.problem }
  if (form.kind === 'text' || form.kind === 'pdf' || takes(form)) return form
  if (form.kind !== 'image') return { kind: 'unsent', problem: `it takes no ${form.mediaType}` }
  if (!isModelImage(form.mediaType)) return { kind: 'unsent', problem: `it takes no ${form.mediaType}` }
  if (form.data.length <= imageChars) return form
  return { kind: 'unsent', problem: `it is larger than ${imageChars} bytes as base64` }
}

export function isModelImage(mediaType: string): mediaType is ImageType {
  return mediaType in imageTypes
}

const imageTypes = { 'image/jpeg': true, 'image/png': true, 'image/gif': true, 'image/webp': true } as const
type ImageType = keyof typeof imageTypes

/** A text file as a text. */
export function textOfFile(
  { name }: FileBlock,
  { mediaType, text }: { readonly mediaType: string; readonly text: string },
): string {
  return `[${name ?? mediaType}]\n${text}`
}

/**
 * Refuses files that a protocol has no place for in the user's newest message. Older ones and those of tools become notes:
 * otherwise each later request would be refused.
 *
 * @param problemOf why a file cannot be sent
 * @throws `invalid-argument`
 */
export function refuseUnsentFiles(
  provider: string,
  messages: LogView<Message>,
  problemOf: (file: FileBlock) => string | undefined,
): void {
  const message = newestOfUser(messages)
  for (const block of message?.content ?? []) {
    const problem = block.type === 'file' ? problemOf(block) : undefined
    if (block.type !== 'file' || problem === undefined) continue
    const from = block.url === undefined ? 'given as base64' : 'given as a URL'
    throw new EntiaError(
      'invalid-argument',
      `${provider} cannot be sent a file of type "${block.mediaType}" ${from}: ${problem}. ` +
        'Convert the file, or leave it out of the message.',
      { provider, mediaType: block.mediaType },
    )
  }
}

function newestOfUser(messages: LogView<Message>): Message | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages.at(index)
    if (message?.role === 'user') return message
  }
  return undefined
}
