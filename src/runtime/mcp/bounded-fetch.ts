import type { FetchLike } from '@modelcontextprotocol/client'

/**
 * `fetch` whose answers end with an error past a size: as a whole, or for a stream of events each event, so that a stream may
 * stay open for days.
 */
export function boundedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.body === null) return response
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
    const body = response.body.pipeThrough(boundedBytes(maxBytes, isStream))
    const { headers, status, statusText } = response
    const bounded = new Response(body, { headers, status, statusText })
    Object.defineProperty(bounded, 'url', { value: response.url })
    return bounded
  }
}

function boundedBytes(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let lengthBytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      // An event ends with an empty line; where the chunk has one, what is behind it begins anew.
      const end = isStream ? endOfEvent(chunk) : -1
      lengthBytes = end === -1 ? lengthBytes + chunk.length : chunk.length - end
      if (lengthBytes > maxBytes) throw new Error(`The server sent a message of more than ${maxBytes} bytes.`)
      controller.enqueue(chunk)
    },
  })
}

/** Behind the last empty line; -1: there is none. */
function endOfEvent(chunk: Uint8Array): number {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
  const ends = ['\n\n', '\r\n\r\n', '\r\r'].map((line) => ({ line, at: text.lastIndexOf(line) }))
  const last = ends.reduce((best, next) => (next.at > best.at ? next : best))
  return last.at === -1 ? -1 : last.at + last.line.length
}
