import { canonicalOrNone } from '../world/canonical.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Failure } from '../protocol/failure.ts'
import { inspect } from '../world/inspect.ts'
import { failed, failureOf, type ProviderError } from './provider-failure.ts'
import type { ModelDelta, ModelOutcome } from './port.ts'
import { providerDefaults, ReplyTooLong, sizeOfDelta, tooLong, tooLongIn } from './reply-bound.ts'
import { isObject, wellFormedJson } from './wire-values.ts'

/** Turns the events of one wire protocol into an answer. Made anew for each call. */
export interface StreamReader<Event> {
  take(event: Event): void
  /** Bytes that it keeps and no delta says: signatures, blocks of the provider. They have the reply's bound, too. */
  readonly unheardBytes: number
  /** The outcome, or `undefined` as long as the provider has not said that its answer is finished. */
  outcome(): ModelOutcome | undefined
}

/** The longest time that a timer of Node can count: an SDK's own time limit is off, the world's time rules. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1

/** An outcome lies within so many levels where it is stored, at most. */
const outcomeLevels = 4

/** An SDK, ready to call its provider. */
export interface Connection {
  /** Reads an error of the SDK; `undefined` for an error that is none of the SDK's. */
  readonly explain: (error: unknown) => ProviderError | undefined
  /** Takes the keys in use out of the text of an error: a provider, or a proxy before it, may quote what it refuses. */
  readonly clean: (text: string) => string
}

/** One call of a provider that streams its answer. */
export interface StreamedCall<C extends Connection, Event> {
  /** Who is called, for messages. */
  readonly provider: string
  readonly signal: AbortSignal
  readonly onDelta: (delta: ModelDelta) => void
  readonly maxReplyBytes: number | undefined
  readonly read: (onDelta: (delta: ModelDelta) => void) => StreamReader<Event>
  readonly connect: () => Promise<C>
  /** Sends the request; resolves once the answer begins. */
  readonly send: (connection: C) => PromiseLike<AsyncIterable<Event>>
}

/**
 * Makes a call and reads its stream to the end. Every way in which that can fail becomes a failure here, and no failure
 * holds a key in use.
 *
 * @throws what is no fault of the provider: a defect of an adapter or of a listener.
 */
export async function streamedCall<C extends Connection, Event>(call: StreamedCall<C, Event>): Promise<ModelOutcome> {
  // Without a connection there is no key in use that could be quoted.
  let clean = asItIs
  const connect = async (): Promise<C> => {
    const connection = await call.connect()
    clean = connection.clean
    return connection
  }
  try {
    const outcome = await answerOf({ ...call, connect })
    return outcome.ok ? outcome : failed({ ...outcome.failure, message: clean(outcome.failure.message) })
  } catch (error) {
    throw withoutKeysIn(error, clean)
  }
}

function asItIs(text: string): string {
  return text
}

/** Asks a provider for what is no reply. @throws an error that says what the provider says, without the keys in use */
async function askedOf<C extends Connection, T>(
  provider: string,
  connect: () => Promise<C>,
  ask: (connection: C) => Promise<T>,
): Promise<T> {
  const connection = await connect()
  let problem: unknown
  try {
    return await ask(connection)
  } catch (error) {
    const facts = factsOf(connection, error)
    // What the SDK throws may quote keys wherever one looks into it, so it is no cause.
    problem =
      facts === undefined
        ? withoutKeysIn(error, connection.clean)
        : new Error(connection.clean(failureOf(provider, facts).message))
  }
  throw problem
}

/** The ids of the models that an SDK lists. */
export function listModels(
  provider: string,
  connect: () => Promise<Connection & { readonly sdk: ListsModels }>,
): Promise<readonly string[]> {
  return askedOf(provider, connect, async ({ sdk }) => {
    const ids: string[] = []
    for await (const { id } of sdk.models.list()) ids.push(id)
    return ids
  })
}

interface ListsModels {
  readonly models: { list(): AsyncIterable<{ readonly id: string }> }
}

/** An error as it is, or one that says the same if it holds a key. */
function withoutKeysIn(error: unknown, clean: Connection['clean']): unknown {
  const text = inspect(error, { depth: 6 })
  return clean(text) === text ? error : new Error(clean(error instanceof Error ? error.message : text))
}

/** What a server or an SDK says of an error, cleaned before anything cuts it. */
function factsOf({ explain, clean }: Connection, error: unknown): ProviderError | undefined {
  const facts = explain(error)
  return facts && { ...facts, message: clean(facts.message), names: facts.names?.map(clean) }
}

async function answerOf<C extends Connection, Event>(call: StreamedCall<C, Event>): Promise<ModelOutcome> {
  const { provider, signal, maxReplyBytes = providerDefaults.maxReplyBytes } = call
  const heard = new WholeCharacters(call.onDelta)
  let heardBytes = 0
  const reader = call.read((delta) => {
    heardBytes += sizeOfDelta(delta)
    if (heardBytes > maxReplyBytes) throw new ReplyTooLong(maxReplyBytes)
    heard.take(delta)
  })
  const cancelled = (): ModelOutcome => failed({ kind: 'cancelled', message: `The call of ${provider} was cancelled.` })
  let connection: C | undefined
  let stream: AsyncIterable<Event>
  try {
    connection = await call.connect()
    stream = await call.send(connection)
  } catch (error) {
    if (signal.aborted) return cancelled()
    if (error instanceof EntiaError) return failed(misuse(error))
    const bound = tooLongIn(error)
    if (bound !== undefined) return failed(tooLong(provider, bound.maxBytes))
    const facts = connection && factsOf(connection, error)
    if (facts === undefined) throw error
    return failed(failureOf(provider, facts))
  }

  const maxUnheardBytes = Math.max(maxReplyBytes, providerDefaults.maxReplyBytes)
  const broken = await readAll(stream, (event) => {
    // Some servers send `null` for an event.
    if (!isObject(event)) return
    reader.take(event)
    if (reader.unheardBytes > maxUnheardBytes) throw new ReplyTooLong(maxUnheardBytes)
  })
  heard.flush()

  // The SDKs end a stream without an error when it is aborted.
  if (signal.aborted) return cancelled()
  const bound = tooLongIn(broken)
  if (bound !== undefined) return failed(tooLong(provider, bound.maxBytes))
  const outcome = reader.outcome()
  if (outcome !== undefined) return storable(provider, outcome)
  const facts = factsOf(connection, broken)
  if (facts !== undefined) return failed(failureOf(provider, facts))
  const reason = broken instanceof Error ? ` (${reasonOf(broken)})` : ''
  return failed({ kind: 'truncated', message: `The stream of ${provider} ended before its answer did${reason}.` })
}

/**
 * Reads a stream to its end. Returns the error that broke the stream, if there is one. Throws what `take` throws, which is a
 * defect in the reader or in a listener, unless it is `ReplyTooLong`.
 */
async function readAll<Event>(stream: AsyncIterable<Event>, take: (event: Event) => void): Promise<unknown> {
  const events = stream[Symbol.asyncIterator]()
  for (;;) {
    let next: IteratorResult<Event>
    try {
      next = await events.next()
    } catch (error) {
      return error
    }
    if (next.done === true) return undefined
    try {
      take(next.value)
    } catch (error) {
      // Closes the connection.
      await events.return?.()
      if (error instanceof ReplyTooLong) return error
      throw error
    }
  }
}

/** An outcome as a World can hold it: no half of a surrogate pair in it, and nothing that nests too deep. */
function storable(provider: string, outcome: ModelOutcome): ModelOutcome {
  if (canonicalOrNone(outcome, outcomeLevels) !== undefined) {
    const text = JSON.stringify(outcome)
    const clean = wellFormedJson(text)
    return clean === text ? outcome : (JSON.parse(clean) as ModelOutcome)
  }
  const message = `${provider} sent a block that nests too deep, or has a number beyond 1.8e308.`
  return failed({ kind: 'truncated', message })
}

/** Makes a connection at the first need and shares it from then on. A failure to make it is not kept. */
export function connectOnce<C>(open: () => Promise<C>): () => Promise<C> {
  let connection: Promise<C> | undefined
  return () =>
    (connection ??= open().catch((error: unknown) => {
      connection = undefined
      throw error
    }))
}

/** The innermost message of an error: SDKs and fetch wrap what happened in several layers of "failed". */
export function reasonOf(error: Error): string {
  const messages = [error.message]
  let { cause } = error
  for (let depth = 0; cause instanceof Error && depth < 5; depth++) {
    messages.push(cause.message)
    cause = cause.cause
  }
  return messages.findLast((message) => message !== '') ?? error.name
}

function misuse(error: EntiaError): Failure {
  return { kind: error.code === 'missing-api-key' ? 'unauthorized' : 'invalid-request', message: error.message }
}

/**
 * Hands deltas on in whole characters: half a surrogate pair at the end of a text waits for its other half. One that stays
 * alone becomes U+FFFD.
 */
class WholeCharacters {
  readonly #onDelta: (delta: ModelDelta) => void
  /** A delta of the first half of a pair. */
  #held: Exclude<ModelDelta, { type: 'tool-call' }> | undefined

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta
  }

  take(delta: ModelDelta): void {
    if (this.#held !== undefined && !isSame(this.#held, delta)) this.flush()
    if (delta.type === 'tool-call') {
      this.#onDelta({ ...delta, id: delta.id.toWellFormed(), name: delta.name.toWellFormed() })
      return
    }
    const text = (this.#held?.text ?? '') + delta.text
    this.#held = undefined
    // Mostly there is nothing to do.
    if (text === delta.text && text.isWellFormed()) return this.#onDelta(delta)
    const isOpen = /[\ud800-\udbff]$/.test(text)
    if (isOpen) this.#held = { ...delta, text: text.slice(-1) }
    const whole = isOpen ? text.slice(0, -1) : text
    if (whole !== '') this.#onDelta({ ...delta, text: whole.toWellFormed() })
  }

  /** Nothing more comes of the text that is open. */
  flush(): void {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) this.#onDelta({ ...held, text: held.text.toWellFormed() })
  }
}

function isSame(one: ModelDelta, other: ModelDelta): boolean {
  if (one.type === 'tool-arguments') return other.type === one.type && other.id === one.id
  return other.type === one.type
}
