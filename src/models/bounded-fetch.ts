import { providerDefaults, ReplyTooLong } from './reply-bound.ts'

/** Each event of a stream has a frame of its own, so a stream is larger than the reply that it brings. */
const MAX_STREAM_FACTOR = 4
/** So much of an error's body is read as its text; of the rest only the size counts. */
const MAX_ERROR_TEXT_BYTES = 64 * 2 ** 10

/**
 * A `fetch` that ends what has no end: a body fails with `ReplyTooLong`, and the connection is closed. Servers may say again in
 * a stream what they were asked, so a bound below the default holds for the reply alone.
 *
 * @param watch who looks on while the body of a response without an error is read
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

/** Sees a body go by. */
export interface BodyWatcher {
  take(chunk: Uint8Array): void
  /** All of it has come. An error: the body is to fail with it. */
  end(): Error | undefined
}

/** The beginning of an error's body, once all of it has come. */
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
    // What came before the connection broke says enough.
  }
  return head.take()
}

/**
 * Hands a body on once an event in it is complete: SDKs read an incomplete one again from its beginning with each piece that
 * comes.
 */
function boundedStream(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  watcher: BodyWatcher | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const begun = new Bytes()
  let sizeBytes = 0
  /** The last bytes before a chunk. */
  let tail: Uint8Array = new Uint8Array()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value: chunk } = await reader.read()
          if (done) {
            const problem = watcher?.end()
            if (problem !== undefined) throw problem
            if (begun.size > 0) controller.enqueue(begun.take())
            controller.close()
            return
          }
          sizeBytes += chunk.length
          if (begun.size + chunk.length > maxBytes || sizeBytes > MAX_STREAM_FACTOR * maxBytes) {
            // It may take the peer as long as it likes to notice.
            void reader.cancel().catch(() => undefined)
            throw new ReplyTooLong(maxBytes)
          }
          watcher?.take(chunk)
          const before = tail
          tail = Buffer.concat([before, chunk.subarray(-2)]).subarray(-2)
          if (!endsAnEvent(before, chunk)) {
            begun.add(chunk)
            continue
          }
          if (begun.size === 0) controller.enqueue(chunk)
          else {
            begun.add(chunk)
            controller.enqueue(begun.take())
          }
          return
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Is there an empty line in a chunk, or where it joins the one before? */
function endsAnEvent(before: Uint8Array, chunk: Uint8Array): boolean {
  const seam = Buffer.concat([before, chunk.subarray(0, 2)])
  return hasEmptyLine(seam) || hasEmptyLine(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
}

function hasEmptyLine(bytes: Buffer): boolean {
  return bytes.includes('\n\n') || bytes.includes('\n\r\n') || bytes.includes('\r\r')
}

/** Bytes that come in pieces of any size, in one buffer that grows. */
class Bytes {
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

  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#buffer.subarray(0, this.size)
    this.#buffer = new Uint8Array()
    this.size = 0
    return taken
  }
}
