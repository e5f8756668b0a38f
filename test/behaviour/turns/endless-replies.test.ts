import { LastTurn, memoryStore, type ModelProvider, realClock } from 'entia'
import { anthropic } from 'entia/models'
import { describe, expect, it } from 'vitest'
import { startEndless } from '../../servers/endless-server.ts'
import { sse } from '../../servers/loopback.ts'
import { addAgent, behaving, driven, emptyWorld, gate, reopened, settled, turns, worldWith } from './driving.ts'

const hi = { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Hi' }] }

describe('a reply without end', () => {
  it('fails its own turn; other agents go on, and a restart does not ask for it again', async () => {
    const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'on '.repeat(20_000) } }
    const server = await startEndless({ head: sse(block, block.type), piece: sse(delta, delta.type) })
    const models = { endless: anthropic({ baseURL: server.url, apiKey: 'sk' }), ...behaving(() => 'Hi').models }
    const world = emptyWorld()
    const [caught, other] = [addAgent(world, { model: 'endless/x' }), addAgent(world)]
    const store = memoryStore()
    const { runner, next } = driven(world, { models, store, clock: realClock })
    const begun = next('model-delta')
    await runner.start()
    await begun
    await runner.message(other, 'And now?')
    await runner.idle()
    await runner.stop()
    expect(world.read(other, LastTurn).stop).toBe('done')
    expect(world.read(caught, LastTurn).failure).toMatchObject({
      kind: 'truncated',
      message: expect.stringContaining('sent more than 16777216 bytes') as string,
    })
    await server.closed()
    expect(server.grownBytes()).toBeLessThan(200 * 2 ** 20)
    const again = await reopened(store, { models })
    await again.runner.start()
    await again.runner.idle()
    expect(server.requests()).toBe(1)
  }, 60_000)

  it.each([undefined, 1_000_000])(
    'of a provider that does not count is ended at its bound: %s',
    async (maxReplyBytes) => {
      const { world, agent } = worldWith()
      const text = 'x'.repeat(100_000)
      let [calls, said] = [0, 0]
      const call: ModelProvider['call'] = async (_, { onDelta, signal }) => {
        calls++
        for (; !signal.aborted && said < 1_000; said++) onDelta({ type: 'text', text })
        return { ok: true, value: { message: hi, stop: 'end', usage: {} } }
      }
      const { told } = await settled(world, { models: { scripted: { call, maxReplyBytes } } })
      const bound = maxReplyBytes ?? 16 * 2 ** 20
      expect(world.read(agent, LastTurn).failure).toEqual({
        kind: 'truncated',
        isFinal: true,
        message: `scripted sent more than ${bound} bytes, the bound of a reply (maxReplyBytes), and the call was ended.`,
      })
      expect(calls).toBe(1)
      expect(said).toBe(Math.floor(bound / text.length) + 1)
      expect(told('model-delta')).toHaveLength(said - 1)
      expect(told('model-discarded')).toHaveLength(1)
    },
  )

  it('is not waited for where the provider does not mind the signal', async () => {
    const { world, agent } = worldWith()
    const never = gate<never>()
    const call: ModelProvider['call'] = (_, { onDelta }) => {
      onDelta({ type: 'thinking', text: 'hmm' })
      onDelta({ type: 'thinking', text: 'hmm' })
      return never.promise
    }
    const { told } = await settled(world, { models: { scripted: { call, maxReplyBytes: 5 } } })
    await turns()
    expect(told('model-delta')).toHaveLength(1)
    expect(world.read(agent, LastTurn).failure?.kind).toBe('truncated')
  })
})
