import { boundedFetch, type BodyWatcher } from './bounded-fetch.ts'
import { readErrorBody } from './error-body.ts'
import type { ProviderError } from './provider-failure.ts'
import { wellFormedJson } from './wire-values.ts'

/** So much of a body that is no stream is read for what it says, in bytes. */
const MAX_SAID_BYTES = 64 * 2 ** 10

/** What a provider sent instead of a stream of events. An SDK passes it on, or wraps it in an error of its own. */
class NoStream extends Error {
  readonly said: ProviderError

  constructor(said: ProviderError) {
    // No word of the provider's: the SDKs look for "timed out" in messages.
    super('The provider sent no stream.')
    this.said = said
  }
}

/** What the provider said, if `wireFetch` has thrown the error or what it wraps. */
export function saidIn(error: unknown): ProviderError | undefined {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < 5; depth++) {
    if (cause instanceof NoStream) return cause.said
    cause = cause.cause
  }
  return undefined
}

/**
 * A `fetch` for an SDK. Its requests have no half surrogate pairs and follow no redirect, which would send the conversation
 * and the headers to another address. Its answers are bounded, and what a server says instead of a stream (an error as JSON
 * of any form, a web page, under whatever status) is thrown, to be read with `saidIn`.
 *
 * @param send makes the requests. @default Node's own `fetch`
 * @param maxReplyBytes as the option of providers
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
    // The body of an error is read already, and bounded.
    if (!ok) throw new NoStream({ ...readErrorBody(await response.text()), status, headers })
    return response
  }
}

/** The beginning of a body. */
class Head {
  readonly #chunks: Uint8Array[] = []
  #sizeBytes = 0

  /** Gives whether there is room for more. */
  add(chunk: Uint8Array): boolean {
    if (this.#sizeBytes < MAX_SAID_BYTES) this.#chunks.push(chunk.slice(0, MAX_SAID_BYTES - this.#sizeBytes))
    this.#sizeBytes += chunk.length
    return this.#sizeBytes < MAX_SAID_BYTES
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}

/** A line of server-sent events. */
const eventLine = /^\uFEFF?(?:data|event|id|retry)?:/m

/** Fails a stream that ends without one line of server-sent events. */
class StreamCheck implements BodyWatcher {
  readonly #headers: Headers
  #head: Head | undefined = new Head()

  constructor({ headers }: Response) {
    this.#headers = headers
  }

  take(chunk: Uint8Array): void {
    if (this.#head === undefined) return
    const hasRoom = this.#head.add(chunk)
    if (!hasRoom || eventLine.test(this.#head.text)) this.#head = undefined
  }

  end(): Error | undefined {
    const text = this.#head?.text ?? ''
    if (text.trim() === '') return undefined
    const said = readErrorBody(text)
    return new NoStream({ ...said, headers: this.#headers, isNoStream: !said.isError })
  }
}
