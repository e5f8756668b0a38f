import type { Failure } from '../protocol/failure.ts'
import type { Message } from '../protocol/message.ts'
import type { ModelRequest } from './port.ts'

/**
 * What can be refused of a message and sent otherwise: what its provider added, and files, which are left out; that it has no
 * thinking or no signature, which gets a placeholder.
 */
type MessagePart = 'own' | 'files' | 'noThinking' | 'noSignature'
export type LeftOut = Readonly<Record<MessagePart, boolean>>
/** And of a request the schemas of its tools, which are written in plain words. */
export type Part = MessagePart | 'schemas'

function ofEach<T>(of: (part: MessagePart) => T): Readonly<Record<MessagePart, T>> {
  return { own: of('own'), files: of('files'), noThinking: of('noThinking'), noSignature: of('noSignature') }
}

export const nothingLeftOut: LeftOut = ofEach(() => false)

/** Servers of different makers refuse signatures, thinking and fields in these words. */
const ownWords = new RegExp(
  [
    'signature|thinking|thought|reasoning|encrypted|decrypt|extra_content|not permitted|extra_forbidden',
    '(unsupported|additional|unexpected|unrecognized|unknown) (propert|field|key|name|parameter|request argument|variant)',
    'propert(y|ies) .{0,80} (is|are) unsupported',
    // Items and blocks of other types, other accounts and earlier requests.
    String.raw`input tag .{0,80} does not match|item with id .{0,200} not found|not persisted|input\[\d+\]\.(id|type)`,
    'invalid value: .{0,80} supported values are',
    // All that some servers say of a signature.
    'request contains an invalid argument',
  ].join('|'),
  'i',
)
/** Of what is not there: to leave out more does not help. */
const missingWords = /missing|must be (passed|sent|included|provided)/i
const missingSignature = /missing.{0,40}thought_?signature|thought_?signature.{0,40}(missing|must be)/i
const missingThinking =
  /missing.{0,40}(reasoning|thinking)|(reasoning|thinking).{0,60}(missing|must be (passed|sent|included|provided))/i
/** Thinking with a budget cannot begin in a step whose calls were made without it. */
const startWords = /expected .{0,60}thinking.{0,60}found|must start with a thinking block/i
/** And media that a model or server does not take. */
const fileWords =
  /\b(image|images|image_url|input_image|vision|multi-?modal|media|media_type|mime|file|files|input_file|input_audio|audio|document|pdf|base64|attachment)\b|content.{0,40} (must|should) be a (valid )?string|expected a string/i

/** And schemas of tools. */
const schemaWords =
  /\btools?\b.{0,200}(schema|parameters|grammar)|(schema|grammar).{0,200}\b(tool|function)|function_?declarations|input_schema/i

/** Models whose refusals are remembered. */
const maxModels = 100

interface Known {
  readonly messages: Readonly<Record<MessagePart, WeakSet<Message>>>
  isPlain: boolean
}

/** What providers refused of conversations, so that it is left out from then on. Forgotten with the process. */
export class RefusedParts {
  readonly #byModel = new Map<string, Known>()

  /** @param now left out of this request alone so far */
  leftOut(request: ModelRequest, message: Message, now: readonly Part[] = []): LeftOut {
    const known = this.#byModel.get(modelOf(request))
    return ofEach((part) => now.includes(part) || known?.messages[part].has(message) === true)
  }

  /** Has the model refused schemas of tools? */
  hasPlainSchemas(request: ModelRequest, now: readonly Part[] = []): boolean {
    return now.includes('schemas') || this.#byModel.get(modelOf(request))?.isPlain === true
  }

  keep(request: ModelRequest, refused: readonly Part[]): void {
    if (refused.length === 0) return
    const model = modelOf(request)
    let known = this.#byModel.get(model)
    if (known === undefined) {
      if (this.#byModel.size >= maxModels) this.#byModel.clear()
      known = { messages: ofEach(() => new WeakSet<Message>()), isPlain: false }
      this.#byModel.set(model, known)
    }
    known.isPlain ||= refused.includes('schemas')
    for (const message of request.messages) {
      for (const part of refused) {
        if (part === 'schemas') continue
        // All replies: the steps of one turn go without thinking together.
        if (part === 'own' ? message.role === 'assistant' : has(message, part)) known.messages[part].add(message)
      }
    }
  }

  /**
   * What a provider's refusal is about, if the request has it.
   * @param tried what was left out before
   */
  partOf(request: ModelRequest, { kind, message: said }: Failure, tried: readonly Part[] = []): Part | undefined {
    const asked = (part: MessagePart): boolean =>
      !tried.includes(part) &&
      request.messages.some((message) => has(message, part) && !this.leftOut(request, message)[part])
    // Some servers call it their own error.
    const isRefusal = kind === 'invalid-request' || (kind === 'overloaded' && /\(50[01]\b/.test(said))
    if (kind === 'invalid-request') {
      const isBegun = typeof request.options.thinking === 'number' && startWords.test(said)
      if (isBegun && !tried.includes('own')) return 'own'
      if (missingSignature.test(said) && asked('noSignature')) return 'noSignature'
      if (missingThinking.test(said) && asked('noThinking')) return 'noThinking'
    }
    if (isRefusal && schemaWords.test(said) && this.#hasSchemas(request, tried)) return 'schemas'
    const isOwn = kind === 'invalid-request' && ownWords.test(said) && !missingWords.test(said)
    if (isOwn && asked('own')) return 'own'
    return isRefusal && fileWords.test(said) && asked('files') ? 'files' : undefined
  }

  #hasSchemas(request: ModelRequest, tried: readonly Part[]): boolean {
    return request.tools.length > 0 && !this.hasPlainSchemas(request, tried)
  }
}

function modelOf({ model, provider = '' }: ModelRequest): string {
  return `${provider}/${model}`
}

/** Foreign parts count too: a call without them is the same. */
function has({ content, role, ...message }: Message, part: MessagePart): boolean {
  if (part === 'files') return content.some(({ type }) => type === 'file')
  if (role !== 'assistant') return false
  if (part === 'noThinking') return true
  if (part === 'noSignature') return content.some(({ type }) => type === 'tool-call')
  if ('extra' in message && message.extra !== undefined) return true
  return content.some(
    (block) =>
      block.type === 'thinking' || block.type === 'provider' || ('extra' in block && block.extra !== undefined),
  )
}
