import { providerDefaults, ReplyTooLong } from './reply-bound.ts'

/** Event frames make a stream larger than its reply. */
const MAX_STREAM_FACTOR = 4
/** Beyond this an error's body is only counted. */
const MAX_ERROR_TEXT_BYTES = 64 * 2 ** 10

/**
 * A `fetch` whose bodies fail with `ReplyTooLong` beyond a bound, and close the connection. Servers may repeat the request in a
 * stream, so a bound below the default applies to the reply alone.
 *
 * @param watch observes and changes the body of a successful response
 */
export function boundedFetch(
  send: typeof fetch | undefined,
  maxReplyBytes: number | undefined,
  watch?: (response: Response, init: RequestInit | undefined) => BodyWatcher | undefined,
): typeof fetch {
  const maxBytes = Math.max(maxReplyBytes ?? 0, providerDefaults.maxReplyBytes)
  return async (input, init) => {
    const response = await (send ?? fetch)(input, init)
    const { body, headers, ok, status, statusText } = response
    if (body === null) return response
    const bounded = ok ? boundedStream(body, maxBytes, watch?.(response, init)) : await headOf(body, maxBytes)
    return new Response(bounded, { headers, status, statusText })
  }
}

/** What it throws fails the body. */
export interface BodyWatcher {
  take(chunk: Uint8Array): void
  /** Nothing is passed on while it is not known what the body is. */
  readonly isUndecided: boolean
  /** What is passed on in place of these bytes, which end behind an event. */
  pass(events: Uint8Array): Uint8Array
  /**
   * The body is complete. What is passed on last.
   * @param left the bytes behind the last whole event
   */
  end(left: Uint8Array): Uint8Array
}

/** The beginning of an error's body, after reading all of it. */
async function headOf(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const head = new Bytes()
  let sizeBytes = 0
  try {
    for await (const chunk of body) {
      sizeBytes += chunk.length
      // Leaving the loop cancels the body.
      if (sizeBytes > maxBytes) throw new ReplyTooLong(maxBytes)
      head.add(chunk.subarray(0, Math.max(0, MAX_ERROR_TEXT_BYTES - head.size)))
    }
  } catch (error) {
    if (error instanceof ReplyTooLong) throw error
    // The part before the connection broke is enough.
  }
  return head.take()
}

/** Buffers until an event is complete: SDKs parse an incomplete one from its start with each chunk. */
function boundedStream(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  watcher: BodyWatcher | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const begun = new Bytes()
  let sizeBytes = 0
  let tail: Uint8Array = new Uint8Array()
  /** What is passed on next. */
  const next = async (): Promise<{ readonly done: boolean; readonly bytes: Uint8Array }> => {
    for (;;) {
      const { done, value: chunk } = await reader.read()
      if (done) return { done, bytes: watcher === undefined ? begun.take() : watcher.end(begun.take()) }
      sizeBytes += chunk.length
      if (begun.size + chunk.length > maxBytes || sizeBytes > MAX_STREAM_FACTOR * maxBytes)
        throw new ReplyTooLong(maxBytes)
      watcher?.take(chunk)
      const before = tail
      tail = Buffer.concat([before, chunk.subarray(-2)]).subarray(-2)
      const isWhole = watcher?.isUndecided !== true && endsAnEvent(before, chunk)
      if (begun.size > 0 || !isWhole) begun.add(chunk)
      if (!isWhole) continue
      const whole = begun.size > 0 ? begun.take() : chunk
      const bytes = watcher === undefined ? whole : watcher.pass(whole)
      if (bytes.length > 0) return { done, bytes }
    }
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, bytes } = await next()
          if (bytes.length > 0) controller.enqueue(bytes)
          if (done) controller.close()
        } catch (error) {
          // Does not wait for a slow peer.
          void reader.cancel().catch(() => undefined)
          throw error
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Is there an empty line in the chunk or across its start? */
function endsAnEvent(before: Uint8Array, chunk: Uint8Array): boolean {
  const seam = Buffer.concat([before, chunk.subarray(0, 2)])
  return hasEmptyLine(seam) || hasEmptyLine(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
}

function hasEmptyLine(bytes: Buffer): boolean {
  return bytes.includes('\n\n') || bytes.includes('\n\r\n') || bytes.includes('\r\r')
}

/** A growing buffer. */
export class Bytes {
  #buffer = new Uint8Array()
  size = 0

  add(piece: Uint8Array): void {
    if (this.size + piece.length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(2 * this.#buffer.length, this.size + piece.length))
      larger.set(this.#buffer.subarray(0, this.size))
      this.#buffer = larger
    }
    this.#buffer.set(piece, this.size)
    this.size += piece.length
  }

  get text(): string {
    return Buffer.from(this.#buffer.buffer, 0, this.size).toString('utf8')
  }

  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#buffer.subarray(0, this.size)
    this.#buffer = new Uint8Array()
    this.size = 0
    return taken
  }
}
