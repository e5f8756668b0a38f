import { canonicalOrNone } from '../world/canonical.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Failure } from '../protocol/failure.ts'
import { inspect } from '../base/inspect.ts'
import { failed, failureOf, type ProviderError } from './provider-failure.ts'
import type { ModelDelta, ModelOutcome, ModelRequest } from './port.ts'
import type { Part, RefusedParts } from './refused-parts.ts'
import { providerDefaults, ReplyTooLong, sizeOfDelta, tooLong, tooLongIn } from './reply-bound.ts'
import { causesOf, isObject, wellFormedJson } from './wire-values.ts'

/** Reads the events of one call. */
export interface StreamReader<Event> {
  take(event: Event): void
  /** Bytes kept but not in deltas: signatures, provider blocks. Bounded like the reply. */
  readonly unheardBytes: number
  /** What is still to come: the rest of the answer, counts that the provider may send, or nothing. */
  readonly awaits: 'answer' | 'counts' | 'nothing'
  /**
   * `undefined` until the provider says that its answer is finished.
   * @param isOver nothing more comes. @default false
   */
  outcome(isOver?: boolean): ModelOutcome | undefined
}

/** The longest timer of Node: SDK timeouts are off, the world's time rules. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1

/** Nesting levels above an outcome where it is stored. */
const outcomeLevels = 4

export interface Connection {
  /** `undefined` for an error that is not the SDK's. */
  readonly explain: (error: unknown) => ProviderError | undefined
  /** Removes keys from an error's text: a provider or proxy may quote them. */
  readonly clean: (text: string) => string
}

/** An answer as the SDKs give it, with what aborts its request. */
export interface SentStream<Event> extends AsyncIterable<Event> {
  readonly controller: AbortController
}

export interface StreamedCall<C extends Connection, Event> {
  /** For messages. */
  readonly provider: string
  readonly signal: AbortSignal
  readonly onDelta: (delta: ModelDelta) => void
  readonly maxReplyBytes: number | undefined
  readonly read: (onDelta: (delta: ModelDelta) => void) => StreamReader<Event>
  readonly connect: () => Promise<C>
  /** Resolves when the answer begins. @param now what is left out, as it was refused */
  readonly send: (connection: C, now: readonly Part[]) => PromiseLike<SentStream<Event>>
  readonly request: ModelRequest
  readonly refused: RefusedParts
}

/**
 * Real milliseconds that a provider is given to end a stream in which its answer is complete: some never do. Less than it
 * takes would cost no more than the connection.
 */
const graceMs = { counts: 2_000, nothing: 500 } as const

/**
 * Makes a call and reads its stream. Every provider error becomes a failure here, without the keys in use.
 *
 * @throws defects of an adapter or a listener
 */
export async function streamedCall<C extends Connection, Event>(call: StreamedCall<C, Event>): Promise<ModelOutcome> {
  // Without a connection no key is in use.
  let clean = asItIs
  const connect = async (): Promise<C> => {
    const connection = await call.connect()
    clean = connection.clean
    return connection
  }
  try {
    const outcome = await acceptedAnswer({ ...call, connect })
    return outcome.ok ? outcome : failed({ ...outcome.failure, message: clean(outcome.failure.message) })
  } catch (error) {
    throw withoutKeysIn(error, clean)
  }
}

/**
 * Asks once more without what the provider refuses, or with what it misses, and does so from then on. Each part is tried once, so
 * a call is made at most six times.
 */
async function acceptedAnswer<C extends Connection, Event>(call: StreamedCall<C, Event>): Promise<ModelOutcome> {
  const { refused, request, signal } = call
  const tried: Part[] = []
  let leftOut: readonly Part[] = []
  let said: string | undefined
  for (;;) {
    const { isHeard, outcome } = await answerOf(call, leftOut)
    if (outcome.ok || isHeard) {
      refused.keep(request, leftOut)
      return outcome
    }
    const part = signal.aborted ? undefined : refused.partOf(request, outcome.failure, tried)
    if (part === undefined) return outcome
    tried.push(part)
    // The same words again: what was left out is not what they mean.
    leftOut = outcome.failure.message === said ? [part] : [...leftOut, part]
    said = outcome.failure.message
  }
}

interface Answer {
  readonly outcome: ModelOutcome
  /** Listeners got a part of it. */
  readonly isHeard: boolean
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
    // SDK errors may hold keys anywhere, so they cannot be the cause.
    problem =
      facts === undefined
        ? withoutKeysIn(error, connection.clean)
        : new Error(connection.clean(failureOf(provider, facts).message))
  }
  throw problem
}

export function listModels(
  provider: string,
  connect: () => Promise<Connection & { readonly sdk: ListsModels }>,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  return askedOf(provider, connect, async ({ sdk }) => {
    const ids: string[] = []
    for await (const { id } of sdk.models.list(undefined, { signal })) ids.push(id)
    return ids
  })
}

interface ListsModels {
  readonly models: {
    list(query: undefined, options: { signal: AbortSignal | undefined }): AsyncIterable<{ readonly id: string }>
  }
}

/** Replaces an error that holds a key. */
function withoutKeysIn(error: unknown, clean: Connection['clean']): unknown {
  const text = inspect(error, { depth: 6 })
  return clean(text) === text ? error : new Error(clean(error instanceof Error ? error.message : text))
}

/** Removes keys before anything is cut. */
function factsOf({ explain, clean }: Connection, error: unknown): ProviderError | undefined {
  const facts = explain(error)
  return facts && { ...facts, message: clean(facts.message), names: facts.names?.map(clean) }
}

async function answerOf<C extends Connection, Event>(
  call: StreamedCall<C, Event>,
  now: readonly Part[],
): Promise<Answer> {
  const { provider, signal, maxReplyBytes = providerDefaults.maxReplyBytes } = call
  const heard = new WholeCharacters(call.onDelta)
  let heardBytes = 0
  const reader = call.read((delta) => {
    heardBytes += sizeOfDelta(delta)
    if (heardBytes > maxReplyBytes) throw new ReplyTooLong(maxReplyBytes)
    heard.take(delta)
  })
  const ended = (outcome: ModelOutcome): Answer => ({ outcome, isHeard: heardBytes > 0 })
  const fails = (failure: Failure): Answer => ended(failed(failure))
  const cancelled: Failure = { kind: 'cancelled', message: `The call of ${provider} was cancelled.` }
  let connection: C | undefined
  let stream: SentStream<Event>
  try {
    connection = await call.connect()
    stream = await call.send(connection, now)
  } catch (error) {
    if (signal.aborted) return fails(cancelled)
    if (error instanceof EntiaError) return fails(misuse(error))
    const bound = tooLongIn(error)
    if (bound !== undefined) return fails(tooLong(provider, bound.maxBytes))
    const facts = connection && factsOf(connection, error)
    if (facts === undefined) throw error
    return fails(failureOf(provider, facts))
  }

  const maxUnheardBytes = Math.max(maxReplyBytes, providerDefaults.maxReplyBytes)
  const take = (event: Event): void => {
    // Some servers send `null` for an event.
    if (!isObject(event)) return
    reader.take(event)
    if (reader.unheardBytes > maxUnheardBytes) throw new ReplyTooLong(maxUnheardBytes)
  }
  const broken = await readAll(stream, reader, take)
  heard.flush()

  // The SDKs end a stream without an error when it is aborted.
  if (signal.aborted) return fails(cancelled)
  const bound = tooLongIn(broken)
  if (bound !== undefined) return fails(tooLong(provider, bound.maxBytes))
  const outcome = reader.outcome(true)
  if (outcome !== undefined) return ended(storable(provider, outcome))
  const facts = factsOf(connection, broken)
  if (facts !== undefined) return fails(failureOf(provider, facts))
  const reason = broken instanceof Error ? ` (${reasonOf(broken)})` : ''
  return fails({ kind: 'truncated', message: `The stream of ${provider} ended before its answer did${reason}.` })
}

/**
 * Returns the error that broke the stream. Throws what `take` throws, a defect in the reader or a listener, except
 * `ReplyTooLong`. Leaves a stream that does not end behind its answer.
 */
async function readAll<Event>(
  stream: SentStream<Event>,
  reader: Pick<StreamReader<Event>, 'awaits'>,
  take: (event: Event) => void,
): Promise<unknown> {
  const events = stream[Symbol.asyncIterator]()
  for (;;) {
    let next: IteratorResult<Event> | undefined
    try {
      const { awaits } = reader
      next = await (awaits === 'answer' ? events.next() : within(graceMs[awaits], events.next()))
    } catch (error) {
      return error
    }
    if (next === undefined) return stream.controller.abort()
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

/** `undefined`: it took longer. Its result is not used then. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(late.resolve, ms, undefined)
  promise.catch(() => undefined)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Makes an outcome storable in a World: replaces lone surrogates, refuses deep nesting. */
function storable(provider: string, outcome: ModelOutcome): ModelOutcome {
  if (canonicalOrNone(outcome, outcomeLevels) !== undefined) {
    const text = JSON.stringify(outcome)
    const clean = wellFormedJson(text)
    return clean === text ? outcome : (JSON.parse(clean) as ModelOutcome)
  }
  const message = `${provider} sent a block that nests too deep, or has a number beyond 1.8e308.`
  return failed({ kind: 'truncated', message })
}

/** Connects at the first call and shares the connection. A failure is not kept. */
export function connectOnce<C>(open: () => Promise<C>): () => Promise<C> {
  let connection: Promise<C> | undefined
  return () =>
    (connection ??= open().catch((error: unknown) => {
      connection = undefined
      throw error
    }))
}

/** The innermost message: SDKs and fetch wrap errors in several layers of "failed". */
export function reasonOf(error: Error): string {
  return causesOf(error).findLast(({ message }) => message !== '')?.message ?? error.name
}

function misuse(error: EntiaError): Failure {
  return { kind: error.code === 'missing-api-key' ? 'unauthorized' : 'invalid-request', message: error.message }
}

/** Keeps surrogate pairs together: a half at the end of a delta waits for the other. A lone half becomes U+FFFD. */
class WholeCharacters {
  readonly #onDelta: (delta: ModelDelta) => void
  /** The first half of a pair. */
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
    // The usual case.
    if (text === delta.text && text.isWellFormed()) return this.#onDelta(delta)
    const isOpen = /[\ud800-\udbff]$/.test(text)
    if (isOpen) this.#held = { ...delta, text: text.slice(-1) }
    const whole = isOpen ? text.slice(0, -1) : text
    if (whole !== '') this.#onDelta({ ...delta, text: whole.toWellFormed() })
  }

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
