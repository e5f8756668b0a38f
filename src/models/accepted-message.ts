import type { AssistantMessage, Message, ProviderBlock, ThinkingBlock } from '../protocol/message.ts'
import { parseModel } from '../protocol/model-name.ts'
import { fileNote } from '../rules/media/file-form.ts'
import type { LeftOut } from './refused-parts.ts'

const emptyMessage = '(empty message)'
const emptyResult = '[no output]'
const emptyError = '(no message)'

/** Who is asked, and what is left out of a message. */
export interface Addressee {
  /** The adapter's name, by which it marks what its provider writes. */
  readonly adapter: string
  /** The name that the provider is called by. Absent: the adapter's. */
  readonly provider?: string | undefined
  readonly leftOut: LeftOut
  /** Ids of its own that are longer than others take: they go back as they are. @default false */
  readonly keepsIds?: boolean | undefined
}

/** Does a provider accept this block of its own? */
export type TakesBack = (block: ThinkingBlock | ProviderBlock) => boolean

/**
 * Prepares a message for a provider; `undefined` leaves it out. It depends on the message alone, so that requests keep their
 * prefix.
 *
 * Drops an assistant's foreign blocks and fields, and thinking and blank text at its end: providers refuse thinking with nothing
 * after it. A blank user message becomes a placeholder: without it the assistant's own words could be the last. So does a blank
 * result: some providers refuse it, and with it each later request.
 *
 * @param addressee absent: everything is the provider's own
 */
export function acceptedMessage(message: Message, takesBack: TakesBack, addressee?: Addressee): Message | undefined {
  if (message.role === 'assistant') return acceptedReply(message, takesBack, addressee)
  const { adapter = '', leftOut } = addressee ?? {}
  const isNoted = leftOut?.files === true && message.content.some(({ type }) => type === 'file')
  const seen = isNoted
    ? ({ ...message, content: message.content.map((block) => noted(block, adapter)) } as Message)
    : message
  const isBlank = seen.content.every((block) => block.type === 'text' && block.text.trim() === '')
  if (!isBlank) return seen
  const result = seen.role === 'tool' && seen.isError === true ? emptyError : emptyResult
  return { ...seen, content: [{ type: 'text', text: seen.role === 'tool' ? result : emptyMessage }] }
}

function noted(block: Message['content'][number], provider: string): Message['content'][number] {
  return block.type === 'file' ? { type: 'text', text: fileNote(block, `${provider} does not take it`) } : block
}

/** Did this provider write it? Two that are called by different names may have adapters of one name. */
export function isOwn(
  writer: string,
  model: string | undefined,
  { adapter, provider }: Pick<Addressee, 'adapter' | 'provider'>,
): boolean {
  return (
    writer === adapter && (provider === undefined || model === undefined || parseModel(model).provider === provider)
  )
}

function acceptedReply(
  message: AssistantMessage,
  takesBack: TakesBack,
  addressee: Addressee | undefined,
): AssistantMessage | undefined {
  const goesBack = (writer: string): boolean => {
    return addressee === undefined || (!addressee.leftOut.own && isOwn(writer, message.model, addressee))
  }
  const taken = message.content.filter((block) => {
    return (block.type !== 'thinking' && block.type !== 'provider') || (goesBack(block.provider) && takesBack(block))
  })
  const end = taken.findLastIndex((block) => {
    return block.type !== 'thinking' && (block.type !== 'text' || block.text.trim() !== '')
  })
  if (end === -1) return undefined
  const isWhole = taken.length === message.content.length && end === taken.length - 1
  if (isWhole && !hasExtra(message)) return withPlaceholders(message, addressee)
  const { extra, ...rest } = message
  const isForeign = extra !== undefined && !goesBack(extra.provider)
  const content = taken.slice(0, end + 1).map((block) => {
    if (!('extra' in block) || block.extra === undefined || goesBack(block.extra.provider)) return block
    const { extra: _, ...known } = block
    return known
  })
  return withPlaceholders({ ...rest, ...(extra !== undefined && !isForeign && { extra }), content }, addressee)
}

/** What Google takes for the signature of a call that its models did not make. */
const anySignature = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } }

/** For servers that want what a reply does not have: another model wrote it, or its thinking was refused. */
function withPlaceholders(message: AssistantMessage, addressee: Addressee | undefined): AssistantMessage {
  if (addressee === undefined) return message
  const { adapter: provider, leftOut } = addressee
  let { content } = message
  if (leftOut.noThinking && !content.some(({ type }) => type === 'thinking')) {
    // Some take no empty one. The Messages API wants a signature, if it may be empty; over others it is not sent.
    content = [{ type: 'thinking', provider, text: ' ', signature: '' }, ...content]
  }
  if (leftOut.noSignature) {
    const first = content.findIndex(({ type }) => type === 'tool-call')
    content = content.map((block, index) => {
      if (index !== first || block.type !== 'tool-call' || block.extra !== undefined) return block
      return { ...block, extra: { provider, fields: anySignature } }
    })
  }
  return content === message.content ? message : { ...message, content }
}

function hasExtra({ content, extra }: AssistantMessage): boolean {
  return extra !== undefined || content.some((block) => 'extra' in block && block.extra !== undefined)
}
