import { boundedFetch, type BodyWatcher, Bytes } from './bounded-fetch.ts'
import { readErrorBody } from './error-body.ts'
import type { ProviderError } from './provider-failure.ts'
import { streamOf } from './whole-answer.ts'
import { causesOf, wellFormedJson } from './wire-values.ts'

/** Bytes read of a body that is not a stream. */
const MAX_SAID_BYTES = 64 * 2 ** 10

/** The provider's answer instead of a stream. An SDK passes it on or wraps it. */
class NoStream extends Error {
  readonly said: ProviderError

  constructor(said: ProviderError) {
    // No text of the provider: the SDKs look for "timed out" in messages.
    super('The provider sent no stream.')
    this.said = said
  }
}

/** Finds the answer within what an SDK throws. */
export function saidIn(error: unknown): ProviderError | undefined {
  return causesOf(error).find((cause) => cause instanceof NoStream)?.said
}

/**
 * A `fetch` for an SDK. Replaces lone surrogates in requests; follows no redirect, which would send the conversation and keys
 * elsewhere; bounds answers; and throws what a server sends instead of a stream, for `saidIn`.
 *
 * @param send @default Node's own `fetch`
 */
export function wireFetch(send: typeof fetch = fetch, maxReplyBytes?: number): typeof fetch {
  const unredirected: typeof fetch = (input, init) => send(input, { ...init, redirect: 'manual' })
  const bounded = boundedFetch(unredirected, maxReplyBytes, (response, init) =>
    init?.method?.toUpperCase() === 'POST' ? new StreamCheck(response) : undefined,
  )
  return async (input, init) => {
    const body = init?.body
    const response = await bounded(input, typeof body === 'string' ? { ...init, body: wellFormedJson(body) } : init)
    const { ok, status, headers } = response
    // The body of an error is bounded.
    if (!ok) throw new NoStream({ ...readErrorBody(await response.text()), status, headers })
    return response
  }
}

const eventLine = /^\uFEFF?(?:data|event|id|retry)?:/m

/** Fails a stream without any line of server-sent events, unless it is a whole answer. */
class StreamCheck implements BodyWatcher {
  readonly #headers: Headers
  #head: Bytes | undefined = new Bytes()
  #isStream = false

  constructor({ headers }: Response) {
    this.#headers = headers
  }

  get isUndecided(): boolean {
    return this.#head !== undefined
  }

  take(chunk: Uint8Array): void {
    if (this.#head === undefined) return
    this.#head.add(chunk.subarray(0, MAX_SAID_BYTES - this.#head.size))
    if (eventLine.test(this.#head.text)) this.#isStream = true
    if (this.#isStream || this.#head.size === MAX_SAID_BYTES) this.#head = undefined
  }

  end(left: () => string): Error | Uint8Array | undefined {
    if (this.#isStream) return undefined
    // Some servers do not stream.
    const stream = streamOf(left())
    if (stream !== undefined) return Buffer.from(stream)
    const text = this.#head?.text ?? ''
    if (text.trim() === '') return undefined
    const said = readErrorBody(text)
    return new NoStream({ ...said, headers: this.#headers, isNoStream: !said.isError })
  }
}
