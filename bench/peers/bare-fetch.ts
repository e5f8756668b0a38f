import type { ChatCompletionChunk } from 'openai/resources'
import { bareLoop } from './bare-loop.ts'
import type { Peer } from './work.ts'

/** No framework and no SDK: a loop on `fetch` that reads the stream itself. */
export const peer: Peer = {
  open: (work) =>
    bareLoop(work, async function* (request) {
      const headers = { 'content-type': 'application/json', authorization: 'Bearer none' }
      const address = `${work.baseURL}/chat/completions`
      const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(request) })
      if (!response.ok || response.body === null) throw new Error(await response.text())
      let text = ''
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
        const events = (text + piece).split('\n\n')
        text = events.pop() ?? ''
        for (const event of events) {
          const data = event.slice('data: '.length)
          if (data !== '[DONE]') yield JSON.parse(data) as ChatCompletionChunk
        }
      }
    }),
}
