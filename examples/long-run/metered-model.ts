import {
  fail,
  type Message,
  type ModelProvider,
  type ModelRequest,
  scripted,
  type ScriptedBehaviour,
  type TokenUsage,
} from 'entia'
import { estimateTokens } from 'entia/context'
import { createHash } from 'node:crypto'

/** What the calls of a model have sent so far, in tokens. */
export interface Meter {
  calls: number
  /** All that was sent. */
  promptTokens: number
  /** Of that, what was read from the cache. */
  cachedTokens: number
  /** The longest prompt. */
  mostTokens: number
}

/**
 * A scripted model that counts as a provider does: it refuses prompts that are too long for its window, and keeps the
 * beginning of each prompt in a cache, from which it reads what the next one has in common with it.
 */
export function meteredModel(
  behaviour: ScriptedBehaviour,
  windowTokens: number,
): { readonly model: ModelProvider; readonly meter: Meter } {
  const meter: Meter = { calls: 0, promptTokens: 0, cachedTokens: 0, mostTokens: 0 }
  const cache = new Set<string>()
  const model = scripted(async (request, context) => {
    const { promptTokens, cachedTokens, tailTokens } = measured(request, cache)
    if (promptTokens > windowTokens)
      return fail('context-overflow', { message: `${promptTokens} tokens are too many.` })
    meter.calls++
    meter.promptTokens += promptTokens
    meter.cachedTokens += cachedTokens
    meter.mostTokens = Math.max(meter.mostTokens, promptTokens)
    const reply = await behaviour(request, context)
    if (typeof reply !== 'object' || !('text' in reply || 'toolCalls' in reply)) return reply
    const output = estimateTokens(JSON.stringify(reply), { factor: 1 })
    const cacheWrite = promptTokens - cachedTokens - tailTokens
    const usage: TokenUsage = { input: tailTokens, cacheRead: cachedTokens, cacheWrite, output }
    return { ...reply, usage }
  })
  return { model, meter }
}

const digests = new WeakMap<Message, string>()

/** The tokens of a prompt, and how many of them stand at the beginning of an earlier one, which is remembered. */
function measured({ system, tools, messages, tail }: ModelRequest, cache: Set<string>) {
  const head = system + JSON.stringify(tools)
  let promptTokens = estimateTokens(head, { factor: 1 })
  let chain = digestOf(head)
  let cachedTokens = cache.has(chain) ? promptTokens : 0
  cache.add(chain)
  for (const message of messages) {
    promptTokens += estimateTokens(message, { factor: 1 })
    let digest = digests.get(message)
    if (digest === undefined) digests.set(message, (digest = digestOf(JSON.stringify(message))))
    chain = digestOf(chain + digest)
    if (cache.has(chain)) cachedTokens = promptTokens
    cache.add(chain)
  }
  const tailTokens = estimateTokens(tail, { factor: 1 })
  return { promptTokens: promptTokens + tailTokens, cachedTokens, tailTokens }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
