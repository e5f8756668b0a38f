import { Conversation, Llm, memoryStore, recordingOf, replay, standardSystems, type Store, textOf } from 'entia'
import * as components from 'entia/components'
import { CostCeiling, Ledger, Turn } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { expectValid } from '../../transcript.ts'
import { addAgent, behaving, driven, emptyWorld, gate, reopened } from '../turns/driving.ts'
import { brief, cent, errors, look, ran, restless, scene, stopOf } from './thrifty.ts'

describe('a recording of a run under ceilings', () => {
  async function recorded(store: Store, dollars: number) {
    const { models } = behaving(restless, { usage: cent })
    const world = emptyWorld()
    const agent = addAgent(world, { tools: [look], config: { ceilings: { maxTurnCostUsd: 0.05 } } })
    const runner = {
      models,
      tools: [look],
      store,
      record: true,
      prices: { 'scripted/x': { input: dollars, output: 0 } },
    }
    const made = driven(world, runner)
    await made.runner.start()
    await made.runner.idle()
    await made.runner.message(agent, 'Refused')
    await made.runner.resetCostCeiling(agent)
    await made.runner.message(agent, 'Taken')
    await made.runner.idle()
    await made.runner.stop()
    return world.hash()
  }

  it('replays to the same hash, whatever models cost meanwhile', async () => {
    const store = memoryStore()
    const hash = await recorded(store, 10)
    expect(await recorded(memoryStore(), 20), 'prices change what happens').not.toBe(hash)
    const replayed = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components })
    expect(replayed.difference).toBeUndefined()
    expect(replayed.hash).toBe(hash)
  })

  it('keeps the latch in the store: another process refuses as well', async () => {
    const store = memoryStore()
    const made = await ran({ ceilings: { maxTurnCostUsd: 0.02 }, runner: { store } })
    await made.runner.stop()
    const later = await reopened(store, made.options)
    await later.runner.start()
    await later.runner.message(made.agent, 'Go on')
    await later.runner.idle()
    expect(errors(later).at(-1)?.refused).toBe(true)
    expect(made.requests).toHaveLength(2)
  })
})

describe('a model without a price, under a ceiling,', () => {
  const unpriced = { prices: {} }

  it('is told of once, its calls are counted and have no cost', async () => {
    const made = await ran({ behaviour: brief, ceilings: { maxTurnCostUsd: 1 }, runner: unpriced })
    await made.runner.message(made.agent, 'More')
    await made.runner.idle()
    expect(made.told('cost-unknown').map(({ agent, model }) => ({ agent, model }))).toEqual([
      { agent: made.agent, model: 'scripted/x' },
    ])
    expect(made.world.read(made.agent, Ledger)).toEqual({
      models: { 'scripted/x': { calls: 2, input: 2_000, output: 0, unpriced: 2 } },
      sessionNanoUsd: 0,
      turnNanoUsd: 0,
      turnUnknown: 1,
    })
  })

  it('is not called where that is refused: the turn fails, and nothing is latched', async () => {
    const made = await ran({ ceilings: { maxTurnCostUsd: 1, onUnpriced: 'refuse' }, runner: unpriced })
    expect(made.requests).toHaveLength(0)
    expect(errors(made)).toMatchObject([{ kind: 'cost_unknown', retryable: false }])
    expect(made.told('turn-error')[0]?.failure?.kind).toBe('cost-unknown')
    expect(stopOf(made.world, made.agent)).toEqual({ stop: 'failed', steps: 0 })
    expect([made.world.has(made.agent, CostCeiling), made.world.has(made.agent, Turn)]).toEqual([false, false])
    expectValid(made.world, made.agent)
  })

  it('is one that others call: one with a price is called where that is refused', async () => {
    const ceilings = { maxTurnCostUsd: 1, onUnpriced: 'refuse' as const }
    const priced = await ran({ behaviour: brief, ceilings })
    expect(priced.requests).toHaveLength(1)
    expect(priced.told('cost-unknown')).toEqual([])
  })
})

describe('a call in flight', () => {
  it('that may pass a ceiling is told of once a turn and bound, and begins all the same', async () => {
    const made = await ran({ ceilings: { maxTurnCostUsd: 0.05, maxSessionCostUsd: 0.07 } })
    // An output of 32,000 tokens would cost 32 cents.
    expect(made.told('cost-ceiling-neared').map(({ bound, spentUsd }) => [bound, spentUsd])).toEqual([
      ['turn', 0],
      ['session', 0],
    ])
    await made.runner.resetCostCeiling(made.agent)
    await made.runner.message(made.agent, 'More')
    await made.runner.idle()
    expect(made.told('cost-ceiling-neared')).toHaveLength(4)
    expect(made.requests).toHaveLength(7)
  })

  it('is told of only when it would pass, by its prompt and its output limit', async () => {
    const made = scene({ ceilings: { maxTurnCostUsd: 0.05 } })
    made.world.patch(made.agent, Llm, { maxOutputTokens: 1_500 })
    await made.runner.start()
    await made.runner.idle()
    const [near, ...others] = made.told('cost-ceiling-neared')
    expect(others).toEqual([])
    expect(near).toMatchObject({ bound: 'turn', limitUsd: 0.05, spentUsd: 0.04 })
    expect(near?.reservedUsd).toBeGreaterThan(0.015)
    expect(near?.reservedUsd).toBeLessThan(0.02)
  })

  it('that is cancelled counts by an estimate, and so does a reply that says nothing of tokens', async () => {
    const asked = gate()
    const made = scene({
      ceilings: { maxSessionCostUsd: 9 },
      usage: {},
      messages: 'word '.repeat(1_000),
      behaviour: async ({ messages }, { signal }) => {
        if (messages.length > 1) return `Read: ${'word '.repeat(100)}`
        asked.resolve()
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut'))))
        return 'Never said.'
      },
    })
    await made.runner.start()
    await asked.promise
    await made.runner.cancel(made.agent)
    const cut = made.world.read(made.agent, Ledger)
    expect(cut.models['scripted/x']).toMatchObject({ calls: 1, estimated: 1 })
    expect(cut.models['scripted/x']?.input).toBeGreaterThan(1_000)
    expect(cut.turnNanoUsd).toBe((cut.models['scripted/x']?.input ?? 0) * 10_000)
    await made.runner.message(made.agent, 'Again')
    await made.runner.idle()
    const row = made.world.read(made.agent, Ledger).models['scripted/x']
    expect(row).toMatchObject({ calls: 2, estimated: 2 })
    expect(row?.output).toBeGreaterThan(100)
    expect(textOf(made.world.read(made.agent, Conversation).at(-1))).toContain('Read:')
  })
})
