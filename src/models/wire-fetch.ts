import { boundedFetch, type BodyWatcher, Bytes } from './bounded-fetch.ts'
import { readErrorBody } from './error-body.ts'
import { NoAnswer } from './no-answer.ts'
import { SoundEvents } from './sound-events.ts'
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
    isPost(init) ? new AnswerStream(response.headers) : undefined,
  )
  return async (input, init) => {
    const body = init?.body
    const response = await bounded(input, typeof body === 'string' ? { ...init, body: wellFormedJson(body) } : init)
    const { ok, status, headers } = response
    // The body of an error is bounded.
    if (!ok) throw new NoAnswer({ ...readErrorBody(await response.text()), status, headers })
    return response
  }
}

/** A call of a model; its answer is a stream. */
function isPost(init: RequestInit | undefined): boolean {
  return init?.method?.toUpperCase() === 'POST'
}

const eventLine = /^\uFEFF?(?:data|error|event|id|retry)?:/m

/** Makes the events of a stream sound. Fails one without any line of server-sent events, unless it is a whole answer. */
class AnswerStream implements BodyWatcher {
  readonly #headers: Headers
  readonly #events: SoundEvents
  #head: Bytes | undefined = new Bytes()
  #isStream = false

  constructor(headers: Headers) {
    this.#headers = headers
    this.#events = new SoundEvents(headers)
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

  pass(events: Uint8Array): Uint8Array {
    return this.#events.take(events)
  }

  end(left: Uint8Array): Uint8Array {
    const last = this.#events.take(this.#isStream ? left : this.#wholeAnswer(left))
    return Buffer.concat([last, this.#events.end()])
  }

  /** Some servers do not stream. @throws NoAnswer */
  #wholeAnswer(left: Uint8Array): Uint8Array {
    const stream = streamOf(Buffer.from(left).toString())
    if (stream !== undefined) return Buffer.from(stream)
    const text = this.#head?.text ?? ''
    if (text.trim() === '') return left
    const said = readErrorBody(text)
    throw new NoAnswer({ ...said, headers: this.#headers, isNoStream: !said.isError })
  }
}
