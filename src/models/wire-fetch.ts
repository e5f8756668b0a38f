import { boundedFetch, type BodyWatcher, Bytes } from './bounded-fetch.ts'
import { readErrorBody } from './error-body.ts'
import { NoAnswer } from './no-answer.ts'
import { soundEvents } from './sound-events.ts'
import { streamOf } from './whole-answer.ts'
import { wellFormedJson } from './wire-values.ts'

/** Bytes read of a body that is not a stream. */
const MAX_SAID_BYTES = 64 * 2 ** 10

/**
 * A `fetch` for an SDK. Replaces lone surrogates in requests; follows no redirect, which would send the conversation and keys
 * elsewhere; bounds answers and makes their events sound; and throws what a server sends instead of an answer, for `saidIn`.
 *
 * @param send @default Node's own `fetch`
 */
export function wireFetch(send: typeof fetch = fetch, maxReplyBytes?: number): typeof fetch {
  const unredirected: typeof fetch = (input, init) => send(input, { ...init, redirect: 'manual' })
  const bounded = boundedFetch(unredirected, maxReplyBytes, (response, init) =>
    isPost(init) ? new StreamCheck(response) : undefined,
  )
  return async (input, init) => {
    const body = init?.body
    const response = await bounded(input, typeof body === 'string' ? { ...init, body: wellFormedJson(body) } : init)
    const { ok, status, headers } = response
    // The body of an error is bounded.
    if (!ok) throw new NoAnswer({ ...readErrorBody(await response.text()), status, headers })
    if (!isPost(init) || response.body === null) return response
    return new Response(response.body.pipeThrough(soundEvents(headers)), { headers, status })
  }
}

/** A call of a model; its answer is a stream. */
function isPost(init: RequestInit | undefined): boolean {
  return init?.method?.toUpperCase() === 'POST'
}

const eventLine = /^\uFEFF?(?:data|error|event|id|retry)?:/m

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
    return new NoAnswer({ ...said, headers: this.#headers, isNoStream: !said.isError })
  }
}
