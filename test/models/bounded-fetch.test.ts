import { describe, expect, it } from 'vitest'
import { boundedFetch } from '../../src/models/bounded-fetch.ts'

/** A stream that sends this and then stays open. */
function open(text: string, chunkBytes: number): typeof fetch {
  const bytes = Buffer.from(text)
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += chunkBytes) controller.enqueue(bytes.subarray(at, at + chunkBytes))
    },
  })
  return () => Promise.resolve(new Response(body))
}

describe('an event of a stream', () => {
  it.each(
    ['\n\n', '\r\n\r\n', '\r\r'].flatMap((end) => [1, 2, 3, 5, 100].map((chunkBytes) => [end, chunkBytes] as const)),
  )('that ends in %j is handed on at once, in pieces of %i bytes too', async (end, chunkBytes) => {
    const event = `data: 1${end}`
    const response = await boundedFetch(open(event, chunkBytes), undefined)('http://127.0.0.1')
    const reader = response.body?.getReader()
    let text = ''
    while (text.length < event.length) text += Buffer.from((await reader?.read())?.value ?? []).toString()
    expect(text).toBe(event)
    await reader?.cancel()
  })
})
