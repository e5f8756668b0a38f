import { describe, expect, it } from 'vitest'
import { startScriptedServer } from '../servers/scripted-server.ts'
import { replyOf } from './model-calls.ts'
import { chatWire, chunks, event, items, messagesWire, responsesWire, saidItem } from './wires-of-others.ts'

describe('reasoning that a server counts beside the output', () => {
  const chat = (usage: object) => chunks([{ content: 'Yes.' }], 'stop', { usage })
  const details = (reasoning_tokens: number) => ({ completion_tokens_details: { reasoning_tokens } })
  it.each([
    [
      'beside it, as the total says',
      { prompt_tokens: 100, completion_tokens: 20, total_tokens: 920, ...details(800) },
      820,
    ],
    ['beside it, in the total alone', { prompt_tokens: 100, completion_tokens: 20, total_tokens: 920 }, 820],
    ['beside nothing', { prompt_tokens: 100, completion_tokens: 0, total_tokens: 820, ...details(720) }, 720],
    ['beside it, without a total', { prompt_tokens: 100, completion_tokens: 20, ...details(800) }, 820],
    ['within it', { prompt_tokens: 100, completion_tokens: 820, total_tokens: 920, ...details(800) }, 820],
    ['within it, without a total', { prompt_tokens: 100, completion_tokens: 820, ...details(800) }, 820],
    ['with a total that is too small', { prompt_tokens: 100, completion_tokens: 20, total_tokens: 0 }, 20],
    ['with a total that is no number', { prompt_tokens: 100, completion_tokens: 20, total_tokens: 'many' }, 20],
    [
      'with a cache',
      { prompt_tokens: 100, completion_tokens: 20, total_tokens: 200, prompt_tokens_details: { cached_tokens: 90 } },
      100,
    ],
  ])('is counted once: %s', async (_, usage, output) => {
    const server = await startScriptedServer(() => chat(usage))
    expect((await replyOf(chatWire.make(server.url))).usage.output).toBe(output)
  })

  it('is counted over the Responses API as well', async () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 920,
      output_tokens_details: { reasoning_tokens: 800 },
    }
    const server = await startScriptedServer(() => items([saidItem('Yes.')], { usage }))
    expect((await replyOf(responsesWire.make(server.url))).usage).toEqual({ input: 100, output: 820 })
  })

  it('does not lose its prompt where the end of a stream counts it as 0', async () => {
    const said = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } })
    const raw = messagesWire.text('Yes.')
    expect(raw).toContain(said)
    const zeros = { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 4 }
    const again = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: zeros })
    const server = await startScriptedServer(() => raw.replace(said, again))
    expect((await replyOf(messagesWire.make(server.url))).usage).toEqual({ input: 3, cacheRead: 0, output: 4 })
  })
})

describe('what a server has read from its cache', () => {
  it.each([
    ['among the details', { prompt_tokens_details: { cached_tokens: 64 } }],
    ['beside the counts, as Moonshot says it', { cached_tokens: 64 }],
    ['beside the counts, as DeepSeek says it', { prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36 }],
  ])('is no input: %s', async (_, more) => {
    const usage = { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102, ...more }
    const server = await startScriptedServer(() => chunks([{ content: 'Yes.' }], 'stop', { usage }))
    expect((await replyOf(chatWire.make(server.url))).usage).toEqual({ input: 36, cacheRead: 64, output: 2 })
  })
})
