import { Conversation, fail, SessionPool, textOf } from 'entia'
import { DelegationLimits, ToolRegistry } from 'entia/components'
import { querySubagentDeclaration } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { rejection } from '../turns/driving.ts'
import { after, byTask } from './pace.ts'
import { delegatedBy, look, program, refusal, stuck } from './program.ts'
import { echo, lastAsked, succeeded, texts, thenAsked } from './questions.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, call, calls, delegate, resultsIn, stepwise } from './team.ts'

describe('a session that has succeeded', () => {
  it('answers further questions with all in mind that was said before, and stays as it was but for what they use', async () => {
    const made = await succeeded()
    const before = structuredClone(made.sessions()[0])
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
    await expect(made.subagents.query(1, 'And how?')).resolves.toBe('Re: And how?')
    expect(texts(made, 2)).toEqual(['Look', 'Re: Look', 'Why?', 'Re: Why?', 'And how?'])
    expect(made.asked('worker')).toHaveLength(3)
    expect(made.sessions()).toEqual([{ ...before, usageAfterEnd: { calls: 2, sessions: 0 } }])
    expect(before?.status).toBe('succeeded')
  })

  it('replies without envelope', async () => {
    const envelope = (text: string) =>
      `<subagent_background_result><summary>s</summary><full_result>${text}</full_result></subagent_background_result>`
    const made = await succeeded({ worker: (request) => envelope(`Re: ${lastAsked(request)}`) })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
  })

  it('has its steps counted anew for each question', async () => {
    const made = await succeeded({
      subagents: { researcher: { tools: ['look'], maxSteps: 2 } },
      worker: ({ messages }) =>
        [...messages].at(-1)?.role === 'tool' ? 'Seen.' : calls(call(`look${messages.length}`, 'look')),
      runner: { tools: [look] },
    })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Seen.')
    await expect(made.subagents.query(1, 'How?')).resolves.toBe('Seen.')
    expect(made.asked('worker')).toHaveLength(6)
  })

  it('answers a call with a text that begins like an error, and that is none', async () => {
    const made = await succeeded({
      agent: { messages: [] },
      parts: [ToolRegistry({ tools: [querySubagentDeclaration] })],
      lead: stepwise(calls(call('ask', 'query_subagent', { id: '1', prompt: 'The title?' }))),
      worker: thenAsked(() => 'Error: is the title.'),
    })
    await made.runner.message(made.lead, 'Ask')
    await made.runner.idle()
    expect(made.results()).toEqual({ ask: 'Error: is the title.' })
    expect(made.told('tool-answered')).toMatchObject([{ isError: false }])
  })

  it('takes no slot for its answer', async () => {
    const made = await succeeded({
      worker: byTask({ Look: echo, busy: stuck }),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'busy' })
    await once(made, () => made.sessions()[1]?.status === 'running')
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
    await made.runner.stop()
  })

  it('may delegate for its answer', async () => {
    const made = await succeeded({
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      worker: byTask({
        Look: thenAsked(({ messages }) => resultsIn(messages)['a'] ?? calls(delegate('a', { prompt: 'dig' }))),
        dig: () => 'Dug.',
      }),
    })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Dug.')
  })

  it('answers at the cost of who asks, though its own grant is spent', async () => {
    const made = await succeeded({
      parts: [DelegationLimits({ tokens: 100 })],
      subagents: { researcher: { limits: { tokens: 5 } } },
      workerOptions: { usage: { input: 5 } },
    })
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 5 })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 10 })
  })

  it('that fails at a question tells so, and answers the next one', async () => {
    const made = await succeeded({
      worker: (request) =>
        lastAsked(request) === 'Why?' ? fail('refused', { message: 'boom' }) : `Re: ${lastAsked(request)}`,
    })
    await expect(rejection(made.subagents.query(1, 'Why?'))).resolves.toMatchObject({
      code: 'session-failed',
      message: 'boom',
    })
    expect(made.sessions()[0]?.status).toBe('succeeded')
    await expect(made.subagents.query(1, 'How?')).resolves.toBe('Re: How?')
  })

  it('is meant by its id in the World of who asks, whatever goes by that id in another one', async () => {
    const sessionPool = new SessionPool()
    const [one, two] = [
      await succeeded({ worker: thenAsked(after(50, 'One.')), runner: { sessionPool } }),
      await succeeded({ worker: thenAsked(after(50, 'Two.')), runner: { sessionPool } }),
    ]
    expect(one.sessions()[0]?.sessionId).toBe(two.sessions()[0]?.sessionId)
    const replies = Promise.all([one.subagents.query(1, 'Who?'), two.subagents.query(1, 'Who?')])
    await expect(replies).resolves.toEqual(['One.', 'Two.'])
  })
})

describe('a question', () => {
  const long = 'Look at all of it, from the very beginning to the very end, and then at the rest.'
  const shown = long.slice(0, 60)

  it('to a session that has not ended is refused with the beginning of its task', async () => {
    const sessionPool = new SessionPool({ cap: 1 })
    const made = await program({ worker: stuck, runner: { sessionPool } })
    for (const prompt of [long, 'queued']) await made.subagents.spawn({ category: 'researcher', prompt })
    await once(made, () => made.sessions()[0]?.status === 'running')
    const refused = await rejection(made.subagents.query(1, 'Why?'))
    expect(refused).toMatchObject({ code: 'session-busy' })
    expect((refused as Error).message).toMatch(new RegExp(`busy with: ${shown}$`))
    await expect(rejection(made.subagents.query(2, 'Why?'))).resolves.toMatchObject({ code: 'session-busy' })
    await made.runner.stop()
  })

  it('is refused while another one is under way, with the beginning of that', async () => {
    const made = await succeeded({ worker: thenAsked(stuck) })
    const first = rejection(made.subagents.query(1, long))
    const second = await rejection(made.subagents.query(1, 'Why?'))
    expect(second).toMatchObject({ code: 'session-busy' })
    expect((second as Error).message).toMatch(new RegExp(`busy with: ${shown}$`))
    await once(made, () => made.asked('worker').length === 2)
    await expect(rejection(made.subagents.query(1, 'Why?', { wait: false }))).resolves.toMatchObject({
      code: 'session-busy',
    })
    await made.runner.stop()
    await expect(first).resolves.toMatchObject({ code: 'world-driven' })
  })

  it('is refused while a model has one under way as well', async () => {
    const made = await succeeded({
      parts: [ToolRegistry({ tools: [querySubagentDeclaration] })],
      lead: stepwise(calls(call('ask', 'query_subagent', { id: '1', prompt: 'What does the model want?' }))),
      worker: thenAsked(after(100, 'Because.')),
    })
    await made.runner.message(made.lead, 'Go')
    await once(made, () => made.asked('worker').length === 2)
    const refused = await rejection(made.subagents.query(1, 'Why?'))
    expect(refused).toMatchObject({ code: 'session-busy' })
    expect((refused as Error).message).toMatch(/busy with: What does the model want\?$/)
    await made.runner.idle()
    expect(made.results()).toEqual({ ask: 'Because.' })
  })

  it('that is not waited for gives the full id, and its reply is collected later', async () => {
    const made = await succeeded({ worker: thenAsked(after(100, 'Because.')) })
    await expect(made.subagents.query(1, 'Why?', { wait: false })).resolves.toBe(made.sessions()[0]?.sessionId)
    await expect(made.subagents.collect(1)).resolves.toBe('First.')
    await expect(made.subagents.collect(1, { wait: false })).resolves.toBeUndefined()
    await expect(made.subagents.collect(1)).resolves.toBe('Because.')
    await expect(rejection(made.subagents.collect(1))).resolves.toMatchObject({ code: 'nothing-pending' })
  })

  it('that is not to be waited for is refused until the last such is collected; one that is waited for is not', async () => {
    const made = await succeeded({ worker: thenAsked(echo) })
    await made.subagents.query(1, long, { wait: false })
    await made.runner.idle()
    const refused = await rejection(made.subagents.query(1, 'Why?', { wait: false }))
    expect(refused).toMatchObject({ code: 'session-busy' })
    expect((refused as Error).message).toMatch(new RegExp(`busy with: ${shown}$`))
    await expect(made.subagents.query(1, 'How?')).resolves.toBe('Re: How?')
    await expect(made.subagents.collect(1)).resolves.toBe('First.')
    await expect(made.subagents.collect(1)).resolves.toBe(`Re: ${long}`)
    await expect(made.subagents.query(1, 'Why?', { wait: false })).resolves.toBe(made.sessions()[0]?.sessionId)
  })

  it('gives nothing at its timeout and goes on; its reply is collected', async () => {
    const made = await succeeded({ worker: thenAsked(after(100, 'Because.')) })
    await made.subagents.collect(1)
    await expect(made.subagents.query(1, 'Why?', { timeoutMs: 50 })).resolves.toBeUndefined()
    expect(made.world.nowMs).toBeLessThan(100)
    await expect(rejection(made.subagents.query(1, 'How?'))).resolves.toMatchObject({ code: 'session-busy' })
    await expect(made.subagents.collect(1)).resolves.toBe('Because.')
  })

  it('waits a minute unless it is told otherwise', async () => {
    const made = await succeeded({ worker: thenAsked(after(61_000, 'Because.')) })
    await made.subagents.collect(1)
    await expect(made.subagents.query(1, 'Why?')).resolves.toBeUndefined()
    await expect(made.subagents.collect(1)).resolves.toBe('Because.')
  })

  it.each(['failed', 'timed_out', 'cancelled', 'closed'] as const)(
    'to a session that is %s is refused',
    async (how) => {
      const worker: Behaviour = async (request, { sleep }) => {
        if (how !== 'closed') await sleep(1_000)
        return how === 'failed' ? fail('refused') : echo(request, { sleep } as never)
      }
      const made = await program({ worker })
      const timeoutMs = how === 'timed_out' ? 500 : undefined
      await made.subagents.spawn({ category: 'researcher', prompt: 'Look', timeoutMs })
      if (how === 'cancelled') await made.subagents.cancel(1)
      await made.runner.idle()
      if (how === 'closed') await made.subagents.kill(1)
      expect(made.sessions()[0]?.status).toBe(how === 'closed' ? 'succeeded' : how)
      const calls = made.asked('worker').length
      await expect(rejection(made.subagents.query(1, 'Why?'))).resolves.toMatchObject({ code: 'not-queryable' })
      expect(made.asked('worker')).toHaveLength(calls)
    },
  )

  it.each([true, false])(
    'to a session that is closed at the same time is refused, waited for (%s) or not',
    async (wait) => {
      const made = await succeeded()
      const killed = made.subagents.kill(1)
      await expect(refusal(made.subagents.query(1, 'Why?', { wait }))).resolves.toBe('not-queryable')
      await expect(killed).resolves.toBe(true)
    },
  )

  it('without a word in it, or with a time that is none, is refused', async () => {
    const made = await succeeded()
    for (const [prompt, timeoutMs] of [
      ['', 1],
      ['  ', 1],
      ['Why?', -1],
      ['Why?', NaN],
    ] as const) {
      const refused = rejection(made.subagents.query(1, prompt, { timeoutMs }))
      await expect(refused).resolves.toMatchObject({ code: 'invalid-argument' })
    }
    await expect(rejection(made.subagents.query(2, 'Why?'))).resolves.toMatchObject({ code: 'unknown-session' })
    expect(made.asked('worker')).toHaveLength(1)
  })
})

describe('questions of a model', () => {
  it('to one session are answered one after another, each with the one before it in mind', async () => {
    const ask = (id: string, prompt: string) => call(id, 'query_subagent', { id: '1', prompt })
    const made = await program({
      agent: { messages: 'Go' },
      parts: [ToolRegistry({ tools: [querySubagentDeclaration] })],
      lead: stepwise(calls(delegate('a')), calls(ask('b', 'Why?'), ask('c', 'How?'))),
      worker: thenAsked(async (request, { sleep }) => {
        await sleep(100)
        return `Re: ${lastAsked(request)}`
      }),
    })
    await made.runner.idle()
    expect(made.results()).toEqual({ a: 'First.', b: 'Re: Why?', c: 'Re: How?' })
    expect(texts(made, 2)).toEqual(['Look', 'First.', 'Why?', 'Re: Why?', 'How?'])
    expect(made.world.nowMs).toBe(200)
  })

  it('that a session cannot answer, or may not be asked, are answered with why', async () => {
    const ask = (id: string) => calls(call('ask', 'query_subagent', { id, prompt: 'Why?' }))
    const made = await program({
      agent: { messages: 'Go' },
      parts: [ToolRegistry({ tools: [querySubagentDeclaration] })],
      lead: stepwise(calls(delegate('a'), delegate('b', { prompt: 'fail' })), ask('1'), ask('2'), ask('3')),
      worker: byTask({
        Look: thenAsked(() => fail('refused', { message: 'boom' })),
        fail: () => fail('refused'),
      }),
    })
    await made.runner.idle()
    const [answered, failed] = made.sessions().map(({ sessionId }) => sessionId)
    const results = [...made.world.read(made.lead, Conversation)].filter(({ role }) => role === 'tool').slice(2)
    expect(results.map((message) => textOf(message))).toEqual([
      `Error: Subagent ${answered} could not answer: boom`,
      `Error: Subagent ${failed} cannot be queried: failed`,
      'Error: Session not found: 3',
    ])
  })
})
