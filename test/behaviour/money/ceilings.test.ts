import { Conversation, defineTool, LastTurn, standardSystems, World } from 'entia'
import { Ceilings } from 'entia/context'
import * as components from 'entia/components'
import { CostCeiling, Ledger } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectValid, transcript } from '../../transcript.ts'
import { addAgent, behaving, driven, emptyWorld, gate, rejection } from '../turns/driving.ts'
import { brief, cent, errors, look, prices, ran, scene, stopOf } from './thrifty.ts'

describe('a ceiling', () => {
  it.each([
    [0.05, 5],
    [0.07, 7],
    [0.1, 10],
  ])('of $%d a turn lets exactly that many calls of a cent start: %d', async (maxTurnCostUsd, calls) => {
    const made = await ran({ ceilings: { maxTurnCostUsd } })
    expect(made.requests).toHaveLength(calls)
    expect(stopOf(made.world, made.agent)).toEqual({ stop: 'budget-spent', steps: calls })
    expect(made.world.read(made.agent, Ledger)).toMatchObject({
      models: { 'scripted/x': { calls, costNanoUsd: calls * 10_000_000 } },
      turnNanoUsd: calls * 10_000_000,
    })
  })

  it('that is reached tells so once, with what was spent of what', async () => {
    const made = await ran({ ceilings: { maxTurnCostUsd: 0.1 }, usage: { usage: { input: 15_000, output: 0 } } })
    const message = 'cost ceiling: this turn has spent $0.1500 of $0.1000.'
    expect(errors(made)).toEqual([{ kind: 'cost_ceiling', message, refused: undefined, retryable: false }])
    expect(made.told('turn-error')[0]?.failure).toEqual({ kind: 'budget-spent', message })
    expect(made.world.read(made.agent, CostCeiling)).toEqual({ atMs: 0, bound: 'turn', limitUsd: 0.1, spentUsd: 0.15 })
    expect(made.world.read(made.agent, LastTurn).failure).toEqual({ kind: 'budget-spent', message })
  })

  it('of the turn is named where that of the session is reached by the same call', async () => {
    const ceilings = { maxTurnCostUsd: 0.1, maxSessionCostUsd: 0.1 }
    const made = await ran({ ceilings, usage: { usage: { input: 15_000, output: 0 } } })
    expect(errors(made)[0]?.message).toBe('cost ceiling: this turn has spent $0.1500 of $0.1000.')
  })

  it('leaves no tool begun that the last reply has asked for, and a valid conversation', async () => {
    let looked = 0
    const counted = { ...look, call: (...given: Parameters<typeof look.call>) => (looked++, look.call(...given)) }
    const made = await ran({
      behaviour: () => ({ toolCalls: [{ name: 'look' }, { name: 'look' }, { name: 'look' }] }),
      ceilings: { maxSessionCostUsd: 0.01 },
      runner: { tools: [counted] },
    })
    expect(transcript(made.world, made.agent).slice(2, 5)).toEqual(
      [0, 1, 2].map((index) => `tool call-1-${index}!: [not run: cost ceiling reached]`),
    )
    expect(looked).toBe(0)
    expectValid(made.world, made.agent)
  })

  it('that is reached with the final text lets the turn end well', async () => {
    const made = await ran({ behaviour: brief, ceilings: { maxTurnCostUsd: 0.01 } })
    expect(stopOf(made.world, made.agent)).toEqual({ stop: 'done', steps: 1 })
    expect(made.told('turn-error')).toHaveLength(1)
    expect(made.world.has(made.agent, CostCeiling)).toBe(true)
  })

  it('of the session is reached over several turns, and a new turn starts at zero', async () => {
    const made = await ran({ behaviour: brief, ceilings: { maxTurnCostUsd: 0.02, maxSessionCostUsd: 0.03 } })
    for (const text of ['Two', 'Three', 'Four']) {
      await made.runner.message(made.agent, text)
      await made.runner.idle()
    }
    expect(made.requests).toHaveLength(3)
    expect(errors(made).map(({ message }) => message)).toEqual([
      'cost ceiling: this session has spent $0.0300 of $0.0300.',
      'cost ceiling: this session has spent $0.0300 of $0.0300.',
    ])
    expect(made.world.read(made.agent, Ledger)).toMatchObject({ turnNanoUsd: 10_000_000, sessionNanoUsd: 30_000_000 })
  })

  it('that a program lowers below what was spent stops the agent before its next call', async () => {
    const made = await ran({ behaviour: brief, ceilings: { maxSessionCostUsd: 1 } })
    await made.runner.change((world) => world.patch(made.agent, Ceilings, { maxSessionCostUsd: 0.005 }))
    await made.runner.message(made.agent, 'More')
    await made.runner.idle()
    expect(made.requests).toHaveLength(1)
    expect(stopOf(made.world, made.agent)).toEqual({ stop: 'budget-spent', steps: 0 })
    expectValid(made.world, made.agent)
  })

  it('lets tools that are at work end, and their results stand in the conversation', async () => {
    const opened = gate()
    const dig = defineTool({
      name: 'dig',
      description: 'Digs.',
      input: z.object({}),
      restart: 'once',
      run: () => opened.promise.then(() => 'A stone.'),
    })
    const { models } = behaving(() => ({ toolCalls: [{ name: 'dig' }] }), { usage: cent })
    const world = emptyWorld()
    const agent = addAgent(world, { tools: [dig], config: { ceilings: { maxSessionCostUsd: 1 } } })
    const { runner, next } = driven(world, { models, tools: [dig], prices })
    const called = next('tool-called')
    await runner.start()
    await called
    await runner.change((changed) => {
      changed.patch(agent, Ceilings, { maxSessionCostUsd: 0.005 })
    })
    opened.resolve()
    await runner.idle()
    expect(transcript(world, agent)[2]).toBe('tool call-1-0: A stone.')
    expect(stopOf(world, agent)).toEqual({ stop: 'budget-spent', steps: 1 })
  })
})

describe('an agent that has reached its ceiling', () => {
  it('refuses a message, adds nothing to its conversation, and calls no model', async () => {
    const made = await ran({ ceilings: { maxTurnCostUsd: 0.02 } })
    const { length } = made.world.read(made.agent, Conversation)
    await made.runner.message(made.agent, 'Go on')
    await made.runner.idle()
    expect(made.requests).toHaveLength(2)
    expect(made.world.read(made.agent, Conversation)).toHaveLength(length)
    expect(errors(made)[1]).toEqual({ ...errors(made)[0], refused: true })
    expect(stopOf(made.world, made.agent)).toEqual({ stop: 'budget-spent', steps: 0 })
  })

  it('is as it was after save and restore, and goes on after a reset', async () => {
    const made = await ran({ ceilings: { maxTurnCostUsd: 0.02 } })
    await made.runner.stop()
    const again = World.restore([...made.world.snapshot()], { systems: standardSystems(), components })
    const later = driven(again, made.options)
    await later.runner.start()
    await later.runner.message(made.agent, 'Go on')
    await later.runner.idle()
    expect(errors(later).map(({ refused }) => refused)).toEqual([true])
    await later.runner.resetCostCeiling(made.agent)
    await later.runner.message(made.agent, 'Go on')
    await later.runner.idle()
    expect(made.requests).toHaveLength(4)
    expect(stopOf(again, made.agent)).toEqual({ stop: 'budget-spent', steps: 2 })
  })

  it('takes a message that was posted right behind a reset', async () => {
    const made = await ran({ behaviour: brief, ceilings: { maxTurnCostUsd: 0.01 } })
    await Promise.all([made.runner.resetCostCeiling(made.agent), made.runner.message(made.agent, 'Go on')])
    await made.runner.idle()
    expect(made.requests).toHaveLength(2)
    expect(errors(made).map(({ refused }) => refused)).toEqual([undefined, undefined])
  })

  it('goes on only with more money where its life has cost too much, and what was spent stays spent', async () => {
    const usage = { usage: { input: 1_200_000, output: 0 } }
    const made = await ran({ behaviour: brief, ceilings: { maxSessionCostUsd: 10 }, usage })
    const refused = await rejection(made.runner.resetCostCeiling(made.agent))
    expect(refused).toMatchObject({
      code: 'limit-reached',
      message: expect.stringContaining('this session has spent $12.0000 of $10.0000.') as string,
    })
    expect(made.world.has(made.agent, CostCeiling)).toBe(true)
    await expect(rejection(made.runner.resetCostCeiling(made.agent, { addSessionUsd: 2 }))).resolves.toMatchObject({
      code: 'limit-reached',
    })
    await made.runner.resetCostCeiling(made.agent, { addSessionUsd: 5 })
    expect(made.world.read(made.agent, Ledger).sessionNanoUsd).toBe(12_000_000_000)
    expect(made.world.read(made.agent, Ceilings).maxSessionCostUsd).toBe(15)
    expect(made.world.has(made.agent, CostCeiling)).toBe(false)
    await made.runner.message(made.agent, 'Go on')
    await made.runner.idle()
    expect(made.requests).toHaveLength(2)
  })

  it.each([
    [{ addSessionUsd: 0 }, 'got 0'],
    [{ addSessionUsd: -1 }, 'got -1'],
    [{ addSessionUsd: Number.NaN }, 'got NaN'],
    [{ addUsd: 1 }, 'unknown option addUsd'],
    [{ addSessionUsd: 1 }, 'no ceiling maxSessionCostUsd'],
  ])('is not reset with %j', async (options: object, message) => {
    const made = await ran({ ceilings: { maxTurnCostUsd: 0.02 } })
    await expect(rejection(made.runner.resetCostCeiling(made.agent, options))).resolves.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining(message) as string,
    })
    expect(made.world.has(made.agent, CostCeiling)).toBe(true)
  })

  it('is reset at the end of its turn where that is still to come', async () => {
    const opened = gate()
    const slow = {
      ...look,
      call: (...given: Parameters<typeof look.call>) => opened.promise.then(() => look.call(...given)),
    }
    const made = scene({ ceilings: { maxTurnCostUsd: 0.5 }, runner: { tools: [slow] } })
    const called = made.next('tool-called')
    await made.runner.start()
    await called
    await made.runner.change((world) => {
      world.patch(made.agent, Ceilings, { maxTurnCostUsd: 0.01 })
      world.add(made.agent, CostCeiling({ atMs: 0, bound: 'turn', limitUsd: 0.01, spentUsd: 0.01 }))
    })
    await made.runner.resetCostCeiling(made.agent)
    expect(made.world.read(made.agent, CostCeiling).isReset).toBe(true)
    opened.resolve()
    await made.runner.idle()
    expect(stopOf(made.world, made.agent)).toEqual({ stop: 'budget-spent', steps: 1 })
    expect(made.world.has(made.agent, CostCeiling)).toBe(false)
    await made.runner.message(made.agent, 'Go on')
    await made.runner.idle()
    expect(made.requests).toHaveLength(2)
  })
})
