import OpenAI from 'openai'
import { bareLoop } from './bare-loop.ts'
import type { Peer } from './work.ts'

/** No framework: a loop on the SDK that Entia uses, in the same version. */
export const peer: Peer = {
  open(work) {
    const sdk = new OpenAI({ baseURL: work.baseURL, apiKey: 'none', maxRetries: 0 })
    return bareLoop(work, (request) => sdk.chat.completions.create(request))
  },
}
