import { assistant, fail, Llm, type Message, type ModelRequest, user } from 'entia'
import { contextStats } from 'entia/context'
import { project } from 'entia/models'
import { Boundary, Ledger } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { boundaries, frontier, handover, living, textsOf } from './long-lives.ts'

const retryOnce = { maxAttempts: 2, firstDelayMs: 1_000, maxDelayMs: 1_000, kinds: ['overloaded'] } as const

const boundary = {
  atMs: 0,
  by: 'manual',
  kind: 'summary',
  missingHeadings: [],
  text: 'Done.',
  truncated: false,
  usage: {},
} as const

describe('a summary', () => {
  it('that was cut at its output limit is marked so, counts among the truncated, and is in the ledger once', async () => {
    const { agent, runner, told, world } = await living({
      summary: () => ({
        text: '# Current state\nIn the midst of',
        stop: 'max-tokens',
        usage: { input: 500, output: 50 },
      }),
    })
    await runner.compact(agent)
    expect(boundaries(world, agent)).toMatchObject([
      {
        truncated: true,
        missingHeadings: ['# Files & changes', '# Technical context', '# Strategy & approach', '# Exact next steps'],
      },
    ])
    expect(told('boundary-written')).toMatchObject([{ truncated: true, seq: 2, chars: 31 }])
    expect(world.read(agent, Ledger).models[frontier]).toEqual({ calls: 1, input: 500, output: 50, unpriced: 1 })
  })

  it('of which the price is known has it, and the ledger counts it for the turn that it was written in', async () => {
    const { agent, say, world } = await living({
      runner: { prices: { [frontier]: { contextWindow: 1_000_000, input: 2, output: 10 } } },
      usage: (step) => (step === 1 ? { input: 900_000, output: 0 } : { input: 0, output: 0 }),
    })
    await say('One')
    await say('Two')
    expect(boundaries(world, agent)[0]?.costUsd).toBe(0.003)
    expect(world.read(agent, Ledger)).toMatchObject({ sessionNanoUsd: 1_803_000_000, turnNanoUsd: 3_000_000 })
  })

  it.each([
    ['has no text', { text: ' \n' }],
    ['only calls tools', { toolCalls: [{ name: 'look' }] }],
  ])('that %s is a failure', async (_, reply) => {
    const { agent, runner } = await living({ summary: () => reply })
    expect(await runner.compact(agent)).toMatchObject({ failure: { kind: 'invalid-output' } })
  })

  it('that is far longer than it may be is cut, marked so, and counts among the truncated', async () => {
    const { agent, runner, world } = await living({ summary: () => `${handover}\n${'x '.repeat(500_000)}` })
    await runner.compact(agent)
    const [boundary] = boundaries(world, agent)
    expect(boundary).toMatchObject({ truncated: true, missingHeadings: [] })
    expect(boundary?.text.length).toBeLessThanOrEqual(8 * 4_096)
    expect(boundary?.text).toMatch(/x \n\[summary truncated\]$/)
    expect(contextStats(world, agent).truncatedSummaries).toBe(1)
  })

  it('that calls tools besides counts by its text', async () => {
    const { agent, runner } = await living({ summary: () => ({ text: handover, toolCalls: [{ name: 'look' }] }) })
    expect(await runner.compact(agent)).toMatchObject({ boundary: { text: handover } })
  })

  it('for which the time runs out is a failure, tries included', async () => {
    const { agent, runner, told, world } = await living({
      config: { context: { compaction: { timeoutSeconds: 5 } } },
      agent: { model: frontier },
      summary: (_, count) => (count === 1 ? fail('overloaded', { retryAfterMs: 60_000 }) : handover),
    })
    await runner.change(() => world.patch(agent, Llm, { retry: { ...retryOnce, kinds: [...retryOnce.kinds] } }))
    expect(await runner.compact(agent)).toMatchObject({ failure: { kind: 'overloaded' } })
    expect([world.nowMs, told('retry-scheduled').length]).toEqual([0, 0])
  })

  it('is tried again like any other call', async () => {
    const { agent, runner, told, world } = await living({
      summary: (_, count) => (count === 1 ? fail('overloaded') : handover),
    })
    await runner.change(() => world.patch(agent, Llm, { retry: { ...retryOnce, kinds: [...retryOnce.kinds] } }))
    expect(await runner.compact(agent)).toMatchObject({ boundary: { text: handover } })
    expect(told('retry-scheduled')).toHaveLength(1)
  })

  it('of more than its model can read is asked for about less of the middle, until there is room', async () => {
    const long = `begin ${'x'.repeat(20_000)} end`
    const { agent, runner, summaries, told, world } = await living({
      agent: { messages: [user(long), assistant('Hi')] },
      summary: (request) => (textsOf(request)[0]!.length > 9_000 ? fail('context-overflow') : handover),
    })
    expect(await runner.compact(agent)).toMatchObject({ boundary: { text: handover, seq: 2 } })
    const texts = summaries.map((request) => textsOf(request)[0] ?? '')
    expect(texts).toHaveLength(3)
    expect(texts[0]).toContain(long)
    for (const there of ['begin', '## assistant\nHi', 'characters left out ...]']) expect(texts[2]).toContain(there)
    expect(told('warning').map(({ message }) => message)).toEqual([
      expect.stringMatching(/10\d+ of 20\d+ characters are left out/),
      expect.stringMatching(/15\d+ of 20\d+ characters are left out/),
    ])
    expect(world.read(agent, Ledger).models[frontier]?.calls).toBe(1)
  })

  it('of which not even an eighth has room is a failure', async () => {
    const { agent, runner, summaries } = await living({
      agent: { messages: [user('x'.repeat(20_000)), assistant('Hi')] },
      summary: () => fail('context-overflow'),
    })
    expect(await runner.compact(agent)).toMatchObject({ failure: { kind: 'context-overflow' } })
    expect(summaries).toHaveLength(4)
  })

  it('is heard by nobody while it is written', async () => {
    const { agent, runner, told } = await living()
    await runner.compact(agent)
    expect([told('model-delta').length, told('model-called').length]).toEqual([0, 0])
  })
})

describe('a boundary that a program has placed between a call and its result', () => {
  it.each([2, 3])('covers neither, and a summary behind it is made of both: behind message %d', async (seq) => {
    const call = (id: string) => ({ type: 'tool-call' as const, id, name: 'look', arguments: {} })
    const seen = (callId: string) => ({
      role: 'tool' as const,
      callId,
      name: 'look',
      content: [{ type: 'text' as const, text: `Seen by ${callId}.` }],
    })
    const asked: Message = { role: 'assistant', content: [call('a'), call('b')] }
    const messages = [user('Look.'), asked, seen('a'), seen('b'), assistant('Looked.')]
    const { agent, runner, summaries, world } = await living({ agent: { messages } })
    const entry = { ...boundary, seq }
    await runner.change(() => world.append(agent, Boundary, entry))
    expect([...project(world, agent).messages].slice(1)).toEqual(messages.slice(1))
    await runner.compact(agent)
    const read = textsOf(summaries[0] as ModelRequest).join()
    expect(read).toContain('[tool_use: look({})]')
    expect(read).toContain('[tool_result: Seen by b.]')
    expect(read).not.toContain('Look.')
    expect(boundaries(world, agent).at(-1)?.seq).toBe(5)
  })
})

describe('a boundary that is taken away', () => {
  it('leaves the projection as it was before, byte for byte', async () => {
    const { agent, runner, say, world } = await living()
    await say('One')
    const before = JSON.stringify(project(world, agent))
    await runner.compact(agent)
    expect(JSON.stringify(project(world, agent))).not.toBe(before)
    await runner.change(() => world.splice(agent, Boundary, 0, 1, []))
    expect(JSON.stringify(project(world, agent))).toBe(before)
  })
})
