import { type Answer, ask, type AskPart, type Entity, fail, memoryStore, type Runner, textOf, type World } from 'entia'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  addAgent,
  behaving,
  calling,
  driven,
  emptyWorld,
  gate,
  rejection,
  reopened,
  turns,
} from '../behaviour/turns/driving.ts'
import { tool, wait } from '../behaviour/turns/tools.ts'

const usage = { input: 10, output: 2 }

/** A started Runner whose agents answer by a script. */
async function started(...[script, options = {}]: Parameters<typeof behaving>) {
  const world = emptyWorld()
  const agent = addAgent(world, { messages: [], tools: [wait, shy, open] })
  const { models, requests } = behaving(script, { usage, ...options })
  const made = driven(world, { models, tools: [wait, shy, open], approve: 'by-input' })
  await made.runner.start()
  return { ...made, agent, requests }
}

const shy = tool('shy', () => 'done', { approval: true })
const held = { gate: gate() }
const open = tool('open', () => held.gate.promise)

const echo: Parameters<typeof behaving>[0] = ({ messages }) => {
  const last = messages.at(-1)
  return last?.role === 'user' ? `You said ${textOf(last)}` : 'Done.'
}

async function all(parts: AsyncIterable<AskPart>): Promise<AskPart[]> {
  const read: AskPart[] = []
  for await (const part of parts) read.push(part)
  return read
}

const types = (parts: readonly AskPart[]) => parts.map(({ type }) => type)

describe('an answer', () => {
  it('has the text of the turn, how it stopped, its steps and what it has used', async () => {
    const { agent, runner } = await started(calling({ name: 'wait', arguments: { n: 5 } }))
    expect(await ask(runner, agent, 'Go')).toEqual({
      agent,
      text: 'Done.',
      output: undefined,
      stop: 'done',
      failure: undefined,
      isTruncated: false,
      steps: 2,
      toolCalls: 1,
      usage: { calls: 2, input: 20, output: 4 },
      costUsd: undefined,
    } satisfies Answer)
  })

  it('counts what this turn has used, not what the agent has used before', async () => {
    const { agent, runner } = await started(echo)
    await ask(runner, agent, 'one')
    expect((await ask(runner, agent, 'two')).usage).toEqual({ calls: 1, ...usage })
  })

  it('is waited for without waiting for other agents', async () => {
    const { runner, world, agent } = await started(({ messages }) =>
      messages.some(({ role }) => role === 'tool') || messages.length > 1
        ? 'Late.'
        : textOf(messages[0]) === 'slow'
          ? { toolCalls: [{ name: 'wait', arguments: { n: 10_000_000 } }] }
          : 'Quick.',
    )
    const other = await runner.change((changed: World) => addAgent(changed, { messages: [], tools: [wait] }))
    const slow = ask(runner, other, 'slow')
    expect((await ask(runner, agent, 'quick')).text).toBe('Quick.')
    await runner.stop()
    expect(await rejection(slow)).toMatchObject({ code: 'world-driven' })
    expect(world.exists(other)).toBe(true)
  })

  it('belongs to the message: each of two turns in a row has its own', async () => {
    const { agent, runner } = await started(echo)
    const texts: string[] = []
    for (const text of ['one', 'two', 'three']) texts.push((await ask(runner, agent, text)).text)
    expect(texts).toEqual(['You said one', 'You said two', 'You said three'])
  })

  it('is one for all messages that join an open turn', async () => {
    held.gate = gate()
    const { agent, runner, next } = await started(calling({ name: 'open' }))
    const called = next('tool-called')
    const first = ask(runner, agent, 'Go')
    await called
    const second = ask(runner, agent, 'Faster')
    held.gate.resolve()
    expect(await second).toEqual(await first)
  })

  it('of a thousand agents costs one listener of each type', async () => {
    const { runner, world } = await started(echo)
    const agents = await runner.change((changed: World) =>
      Array.from({ length: 1000 }, () => addAgent(changed, { messages: [] })),
    )
    const answers = await Promise.all(agents.map((each: Entity) => ask(runner, each, `I am ${each}`)))
    expect(answers.map(({ text }) => text)).toEqual(agents.map((each: Entity) => `You said I am ${each}`))
    expect(world.exists(agents[0] ?? 0)).toBe(true)
  })

  it('comes for a message whose id was taken before: of its open turn, or of the last', async () => {
    const { agent, runner, requests } = await started(echo)
    const [first, second] = [ask(runner, agent, 'Hi', { id: 'm1' }), ask(runner, agent, 'Hi', { id: 'm1' })]
    expect((await second).text).toBe((await first).text)
    expect((await ask(runner, agent, 'Hi', { id: 'm1' })).text).toBe('You said Hi')
    expect(requests).toHaveLength(1)
  })
})

describe('the output', () => {
  const Report = z.object({ title: z.string(), stars: z.number().default(3) })
  const json: Parameters<typeof behaving>[0] = ({ outputSchema }) => (outputSchema ? '{"title":"A"}' : 'Plain.')

  it('is typed and checked by the schema that is given, and asked for in that turn alone', async () => {
    const { agent, runner, requests } = await started(json)
    const answer = await ask(runner, agent, 'Report', { output: Report })
    expectTypeOf(answer.output).toEqualTypeOf<{ title: string; stars: number } | undefined>()
    expect(answer.output).toEqual({ title: 'A', stars: 3 })
    expect((await ask(runner, agent, 'And now?')).output).toBeUndefined()
    expect(requests.map(({ outputSchema }) => outputSchema !== undefined)).toEqual([true, false])
  })

  it('that a refinement refuses fails the turn', async () => {
    const { agent, runner } = await started(json)
    const Long = Report.refine(({ title }) => title.length > 3, 'The title is too short')
    const error = await rejection(ask(runner, agent, 'Report', { output: Long }))
    expect(error).toMatchObject({ code: 'turn-failed', details: { failure: { kind: 'invalid-output' } } })
  })
})

describe('a turn that does not end well', () => {
  it('rejects with its failure', async () => {
    const { agent, runner } = await started(() => fail('unauthorized', { message: 'No such key.' }))
    expect(await rejection(ask(runner, agent, 'Go'))).toMatchObject({
      code: 'turn-failed',
      message: expect.stringContaining('unauthorized: No such key.'),
      details: { agent, stop: 'failed', failure: { kind: 'unauthorized' } },
    })
  })

  it('rejects where a ceiling has stopped the agent, and where it is spoken to behind that', async () => {
    const world = emptyWorld()
    const config = { ceilings: { max_turn_cost_usd: 0.01 } }
    const agent = addAgent(world, { messages: [], model: 'scripted/x', tools: [wait], config })
    const { models } = behaving(
      ({ messages }) => ({ toolCalls: [{ name: 'wait', arguments: { n: messages.length } }] }),
      {
        usage: { input: 1_000_000, output: 0 },
      },
    )
    const prices = { 'scripted/x': { input: 1, output: 1 } }
    const { runner } = driven(world, { models, tools: [wait], prices })
    await runner.start()
    for (const message of ['Go', 'Go on']) {
      expect(await rejection(ask(runner, agent, message))).toMatchObject({
        code: 'budget-spent',
        details: { failure: { kind: 'budget-spent' } },
      })
    }
  })

  it('comes as data where it was cancelled, by its signal too', async () => {
    held.gate = gate()
    const { agent, runner, next } = await started(calling({ name: 'open' }))
    const called = next('tool-called')
    const controller = new AbortController()
    const asking = ask(runner, agent, 'Go', { signal: controller.signal })
    await called
    controller.abort()
    expect(await asking).toMatchObject({ stop: 'cancelled', text: '[turn cancelled]' })
  })

  it('leaves no unhandled rejection where only its parts are read, or nothing', async () => {
    const { agent, runner } = await started(() => fail('refused'))
    const lost: unknown[] = []
    const note = (error: unknown): void => void lost.push(error)
    process.on('unhandledRejection', note)
    const parts = await all(ask(runner, agent, 'Go').parts)
    void ask(runner, agent, 'Go')
    await runner.idle()
    await turns()
    process.off('unhandledRejection', note)
    expect(lost).toEqual([])
    expect(parts.at(-1)).toMatchObject({ type: 'end', answer: { stop: 'failed', failure: { kind: 'refused' } } })
  })

  it('rejects when the Runner is stopped before its end', async () => {
    held.gate = gate()
    const { agent, runner, next } = await started(calling({ name: 'open' }))
    const called = next('tool-called')
    const asking = ask(runner, agent, 'Go')
    const read = rejection(all(asking.parts))
    await called
    await runner.stop()
    expect(await rejection(asking)).toMatchObject({ code: 'world-driven' })
    expect(await read).toMatchObject({ code: 'world-driven' })
  })
})

describe('parts', () => {
  it('come in the order in which things happen', async () => {
    const { agent, runner } = await started(({ messages }) =>
      messages.length === 1
        ? { thinking: 'Hm.', text: 'I wait.', toolCalls: [{ id: 'c1', name: 'wait', arguments: { n: 1 } }] }
        : 'Done.',
    )
    expect(await all(ask(runner, agent, 'Go').parts)).toEqual([
      { type: 'step', step: 1 },
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'I wait.' },
      { type: 'tool-call', callId: 'c1', tool: 'wait', arguments: { n: 1 } },
      { type: 'tool-result', callId: 'c1', tool: 'wait', isError: false, result: [{ type: 'text', text: 'waited 1' }] },
      { type: 'step', step: 2 },
      { type: 'text', text: 'Done.' },
      { type: 'end', answer: expect.objectContaining({ text: 'Done.', steps: 2 }) },
    ])
  })

  it('have the text also of a model that does not stream', async () => {
    const { agent, runner } = await started(echo, { stream: false })
    expect(await all(ask(runner, agent, 'Hi').parts)).toContainEqual({ type: 'text', text: 'You said Hi' })
  })

  it('show approvals with what is to be approved, and go on with the answer', async () => {
    const { agent, runner } = await started(calling({ name: 'shy' }))
    const seen: AskPart[] = []
    for await (const part of ask(runner, agent, 'Go').parts) {
      seen.push(part)
      if (part.type === 'approval-requested') {
        await runner.post({ kind: 'answer', approval: part.approval, approved: true })
      }
    }
    expect(seen[2]).toMatchObject({ tool: 'shy', arguments: {} })
    expect(types(seen)).toEqual([
      'step',
      'tool-call',
      'approval-requested',
      'approval-answered',
      'tool-result',
      'step',
      'text',
      'end',
    ])
  })

  it('void the text of a call that was cut off, once it was read', async () => {
    const cut = gate()
    const { runner, agent } = await flaky(cut.promise)
    const read: AskPart[] = []
    for await (const part of ask(runner, agent, 'Go').parts) {
      read.push(part)
      if (part.type === 'text' && part.text === 'Half of ') cut.resolve()
    }
    expect(types(read)).toEqual(['step', 'text', 'discarded', 'retry', 'text', 'end'])
    expect(read.findLast(({ type }) => type === 'text')).toEqual({ type: 'text', text: 'All of it.' })
  })

  it('never show the text of a call that was cut off to a reader that had not read it', async () => {
    const { runner, agent } = await flaky(Promise.resolve())
    const { parts } = ask(runner, agent, 'Go')
    await runner.idle()
    expect(types(await all(parts))).toEqual(['step', 'retry', 'text', 'end'])
  })

  it('wait for a slow reader as merged text, and never without bound', async () => {
    const pieces = 300_000
    const { runner, agent } = await streaming(pieces)
    const { parts } = ask(runner, agent, 'Go')
    await runner.idle()
    const read = await all(parts)
    expect(types(read)).toEqual(['step', 'text', 'end'])
    expect(read[1]).toMatchObject({ text: 'ab'.repeat(pieces) })
  })

  it('that are too many for a slow reader are skipped, and it is said how many', async () => {
    const calls = Array.from({ length: 40 }, () => ({ name: 'wait', arguments: { n: 0 } }))
    const { runner, agent } = await started(({ messages }) =>
      messages.length < 20 * 41 ? { toolCalls: calls } : 'Done.',
    )
    const { parts } = ask(runner, agent, 'Go')
    await runner.idle()
    const read = await all(parts)
    expect(read[0]).toMatchObject({ type: 'skipped' })
    expect(read).toHaveLength(1001)
    expect(read.at(-1)).toMatchObject({ type: 'end' })
  })

  it('end with the reader, who may break off', async () => {
    const { runner, agent } = await started(calling({ name: 'wait', arguments: { n: 1 } }))
    const asking = ask(runner, agent, 'Go')
    for await (const part of asking.parts) if (part.type === 'tool-call') break
    expect((await asking).text).toBe('Done.')
  })

  it('are of this agent alone', async () => {
    const { runner, agent } = await started(echo)
    const other = await runner.change((world: World) => addAgent(world, { messages: [] }))
    const [mine, theirs] = await Promise.all([
      all(ask(runner, agent, 'one').parts),
      all(ask(runner, other, 'two').parts),
    ])
    expect(mine).toContainEqual({ type: 'text', text: 'You said one' })
    expect(theirs).toContainEqual({ type: 'text', text: 'You said two' })
    expect(types(mine)).toEqual(types(theirs))
  })
})

describe('a reader that comes back', () => {
  it('gets the turn so far, the text in flight too, and goes on', async () => {
    held.gate = gate()
    const { runner, agent, next } = await started(({ messages }) =>
      messages.length === 1 ? { text: 'First.', toolCalls: [{ id: 'c1', name: 'open' }] } : 'Done.',
    )
    const called = next('tool-called')
    void ask(runner, agent, 'Go')
    await called
    const { parts } = ask.attach(runner, agent)
    held.gate.resolve('opened' as never)
    const read = await all(parts)
    expect(types(read)).toEqual(['text', 'tool-call', 'tool-result', 'step', 'text', 'end'])
  })

  it('goes on after a restart: the turn that was open is finished, and nothing of it is lost', async () => {
    held.gate = gate()
    const store = memoryStore()
    const world = emptyWorld()
    const agent = addAgent(world, { messages: [], tools: [open] })
    const { models } = behaving(({ messages }) =>
      messages.length === 1 ? { text: 'First.', toolCalls: [{ id: 'c1', name: 'open' }] } : 'Done.',
    )
    const first = driven(world, { models, tools: [open], store })
    await first.runner.start()
    const called = first.next('tool-called')
    void ask(first.runner, agent, 'Go')
    await called
    await first.runner.stop()

    held.gate.resolve('opened' as never)
    const second = await reopened(store, { models, tools: [open] })
    const asking = ask.attach(second.runner, agent)
    const { parts } = asking
    await second.runner.start()
    expect(types(await all(parts))).toEqual(['text', 'tool-call', 'tool-result', 'step', 'text', 'end'])
    expect((await asking).text).toBe('Done.')
    expect((await ask.attach(second.runner, agent)).text).toBe('Done.')
  })

  it('gets the result of a call that has ended behind one that is under way', async () => {
    held.gate = gate()
    const quick = tool('quick', () => 'quick')
    const world = emptyWorld()
    const agent = addAgent(world, { messages: [], tools: [open, quick] })
    const { models } = behaving(calling({ name: 'open' }, { name: 'quick' }))
    const { next, runner } = driven(world, { models, tools: [open, quick] })
    await runner.start()
    const answered = next('tool-answered')
    void ask(runner, agent, 'Go')
    expect(await answered).toMatchObject({ tool: 'quick' })
    const { parts } = ask.attach(runner, agent)
    held.gate.resolve('opened' as never)
    const read = await all(parts)
    expect(read.flatMap((part) => (part.type === 'tool-result' ? part.tool : []))).toEqual(['quick', 'open'])
  })

  it('gets a text in flight from its beginning', async () => {
    const second = gate()
    const { runner, agent } = await streamingTwo(second.promise)
    const written = new Promise((resolve) => void runner.on('model-delta', resolve))
    void ask(runner, agent, 'Go')
    await written
    const { parts } = ask.attach(runner, agent)
    second.resolve()
    const read = await all(parts)
    expect(read.filter(({ type }) => type === 'text')).toEqual([{ type: 'text', text: 'One. Two.' }])
  })
})

describe('what cannot be asked', () => {
  it.each<[string, (runner: Runner, agent: Entity) => PromiseLike<unknown>, string]>([
    ['an entity that is no agent', (runner) => ask(runner, 4711, 'Go'), 'unknown-entity'],
    [
      'an option that does not exist',
      (runner, agent) => ask(runner, agent, 'Go', { outptu: 1 } as never),
      'invalid-argument',
    ],
    [
      'a schema that is none',
      (runner, agent) => ask(runner, agent, 'Go', { output: 'text' as never }),
      'invalid-argument',
    ],
    ['options that are none', (runner, agent) => ask(runner, agent, 'Go', null as never), 'invalid-argument'],
    ['a message that is none', (runner, agent) => ask(runner, agent, 5 as never), 'invalid-input'],
    ['an agent without a turn, attached to', (runner, agent) => ask.attach(runner, agent), 'invalid-argument'],
  ])('%s', async (_, make, code) => {
    const { runner, agent } = await started(echo)
    expect(await rejection(Promise.resolve(make(runner, agent)))).toMatchObject({ code })
  })

  it('a Runner that was not started, or was stopped', async () => {
    const world = emptyWorld()
    const agent = addAgent(world, { messages: [] })
    const { runner } = driven(world, { models: behaving(echo).models })
    expect(await rejection(ask(runner, agent, 'Go'))).toMatchObject({ code: 'world-driven' })
    await runner.start()
    await runner.stop()
    expect(await rejection(all(ask(runner, agent, 'Go').parts))).toMatchObject({ code: 'world-driven' })
  })

  it('anything once its signal is aborted', async () => {
    const { runner, agent, requests } = await started(echo)
    expect(await rejection(ask(runner, agent, 'Go', { signal: AbortSignal.abort() }))).toMatchObject({
      name: 'AbortError',
    })
    expect(requests).toEqual([])
  })
})

/** An agent whose model writes `Half of `, fails when told to, and answers at its second try. */
async function flaky(cut: Promise<void>) {
  return withProvider(async ({ attempt, onDelta }) => {
    if (attempt > 1) return reply('All of it.')
    onDelta({ type: 'text', text: 'Half of ' })
    await cut
    return { ok: false, failure: { kind: 'overloaded', message: 'Too much.' } }
  })
}

async function streaming(pieces: number) {
  return withProvider(async ({ onDelta }) => {
    for (let piece = 0; piece < pieces; piece++) onDelta({ type: 'text', text: 'ab' })
    return reply('ab'.repeat(pieces))
  })
}

async function streamingTwo(second: Promise<void>) {
  return withProvider(async ({ onDelta }) => {
    onDelta({ type: 'text', text: 'One. ' })
    await second
    onDelta({ type: 'text', text: 'Two.' })
    return reply('One. Two.')
  })
}

type Call = import('entia').ModelProvider['call']
const reply = (text: string) =>
  ({
    ok: true,
    value: { message: { role: 'assistant', content: [{ type: 'text', text }] }, stop: 'end', usage },
  }) as const

async function withProvider(call: (context: Parameters<Call>[1]) => ReturnType<Call>) {
  const world = emptyWorld()
  const agent = addAgent(world, { messages: [] })
  const made = driven(world, { models: { scripted: { call: async (_, context) => call(context) } } })
  await made.runner.start()
  return { ...made, agent }
}
