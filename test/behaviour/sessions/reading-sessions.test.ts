import { Conversation, fail, SessionPool } from 'entia'
import { describe, expect, it } from 'vitest'
import { rejection, turns } from '../turns/driving.ts'
import { after, byTask } from './pace.ts'
import { launched, look, program, refusal, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, call, calls, delegate, notesIn, stepwise } from './team.ts'

describe('a result', () => {
  it('is collected once', async () => {
    const made = await program({ worker: after(100, 'Found.') })
    await launched(made, 'Look')
    await expect(made.subagents.collect(1, { wait: false })).resolves.toBeUndefined()
    await expect(made.subagents.collect(1, { timeoutMs: 50 })).resolves.toBeUndefined()
    expect(made.world.nowMs).toBeLessThan(100)
    await expect(made.subagents.collect(1)).resolves.toBe('Found.')
    await expect(refusal(made.subagents.collect(1))).resolves.toBe('nothing-pending')
    await expect(refusal(made.subagents.collect(1, { wait: false }))).resolves.toBe('nothing-pending')
  })

  it('is collected by one of those who wait for it', async () => {
    const made = await program({ worker: after(100, 'Found.') })
    await launched(made, 'Look')
    const both = [made.subagents.collect(1), made.runner.subagents(made.lead).collect(1)].map((collected) =>
      collected.catch((error: { code: string }) => error.code),
    )
    expect(new Set(await Promise.all(both))).toEqual(new Set(['Found.', 'nothing-pending']))
  })

  it('is not taken for there when some other session ends, in a World below', async () => {
    const leaves = Array.from({ length: 6 }, (_, index) => calls(delegate(`${index}`, { prompt: 'leaf' })))
    const made = await program({
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      worker: byTask({ top: stepwise(...leaves, 'Found.'), leaf: after(10, 'A leaf.') }),
    })
    // Entities of different Worlds have the same numbers.
    await made.runner.change((world) => {
      for (let index = 0; index < 5; index++) world.spawn()
    })
    await launched(made, 'top', 'top', 'top', 'top')
    const collected = [1, 2, 3, 4].map((ref) => made.subagents.collect(ref))
    await expect(Promise.all(collected)).resolves.toEqual(['Found.', 'Found.', 'Found.', 'Found.'])
  })

  it('is waited for a minute at most unless it is told otherwise', async () => {
    const made = await program({ worker: after(61_000, 'Found.') })
    await launched(made, 'Look')
    await expect(made.subagents.collect(1)).resolves.toBeUndefined()
    await expect(made.subagents.collect(1)).resolves.toBe('Found.')
  })

  it('comes in full, without envelope, however long it is', async () => {
    const text = 'ä'.repeat(60_000)
    const envelope = `<subagent_background_result><summary>s</summary><full_result>${text}</full_result></subagent_background_result>`
    const made = await program({ worker: () => envelope })
    await launched(made, 'Look')
    await expect(made.subagents.collect(1)).resolves.toBe(text)
  })

  it('that was collected is no news for the agent any more', async () => {
    const made = await program()
    await launched(made, 'a', 'b')
    await made.runner.idle()
    await made.subagents.collect(1)
    await made.runner.message(made.lead, 'Go')
    await made.runner.idle()
    const notes = notesIn(made.world.read(made.lead, Conversation)).join()
    expect(notes).not.toContain(made.sessions()[0]?.sessionId)
    expect(notes).toContain(made.sessions()[1]?.sessionId)
  })

  it.each([
    ['failed', 'boom'],
    ['timed_out', 'Subagent timeout after 0.5s'],
    ['cancelled', 'Session was cancelled'],
  ])('of a session that ended as %s is its error, once', async (status, error) => {
    const worker: Behaviour = async (_, { sleep }) => {
      await sleep(status === 'failed' ? 100 : 1_000)
      return fail('refused', { message: 'boom' })
    }
    const made = await program({ worker })
    const timeoutMs = status === 'timed_out' ? 500 : undefined
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look', timeoutMs })
    if (status === 'cancelled') await made.subagents.cancel(1)
    const refused = await rejection(made.subagents.collect(1))
    expect(refused).toMatchObject({ code: 'session-failed', message: error })
    await expect(refusal(made.subagents.collect(1))).resolves.toBe('nothing-pending')
    expect(made.sessions()[0]?.status).toBe(status)
  })

  it('that somebody waits for when the Runner is stopped never comes', async () => {
    const made = await program({ worker: stuck })
    await launched(made, 'Look')
    const collected = refusal(made.subagents.collect(1))
    await turns()
    await made.runner.stop()
    await expect(collected).resolves.toBe('world-driven')
  })
})

describe('the list of sessions', () => {
  it('is empty where there is none', async () => {
    const made = await program()
    expect(made.subagents.list()).toEqual([])
    expect(made.subagents.list({ active: true })).toEqual([])
  })

  it('says of each what it is, how it stands and what it has used, by sequence', async () => {
    const made = await program({
      subagents: { researcher: { tools: ['look'] }, analyst: { model: 'worker/y' } },
      worker: byTask({ short: after(100, 'Found.'), long: stepwise(calls(call('look', 'look')), stuck) }),
      workerOptions: { usage: { input: 5, output: 2 } },
      runner: { tools: [look], sessionPool: new SessionPool({ cap: 1 }) },
    })
    const { subagents } = made
    const short = await subagents.spawn({ category: 'researcher', prompt: 'short' })
    await once(made, () => made.sessions()[0]?.status === 'succeeded')
    const long = await subagents.spawn({ category: 'researcher', prompt: 'long', timeoutMs: 900 })
    const queued = await subagents.spawn({ category: 'analyst', prompt: 'queued', timeoutMs: 700 })
    await once(made, () => made.asked('worker').length === 3)
    const list = subagents.list()
    expect(list).toEqual([
      {
        ...short,
        category: 'researcher',
        prompt: 'short',
        model: 'worker/x',
        status: 'succeeded',
        ageMs: 100,
        remainingMs: undefined,
        usage: { calls: 1, input: 5, output: 2, sessions: 0 },
        pending: true,
      },
      {
        ...long,
        category: 'researcher',
        prompt: 'long',
        model: 'worker/x',
        status: 'running',
        ageMs: 0,
        remainingMs: 900,
        usage: { calls: 1, input: 5, output: 2, sessions: 0 },
        pending: true,
      },
      {
        ...queued,
        category: 'analyst',
        prompt: 'queued',
        model: 'worker/y',
        status: 'queued',
        ageMs: 0,
        remainingMs: undefined,
        usage: { calls: 0, sessions: 0 },
        pending: true,
      },
    ])
    expect(subagents.list({ active: true })).toEqual(list.slice(1))
    await made.runner.stop()
  })

  it('says what is left of a time, and how long ago a session was launched', async () => {
    const made = await program({ worker: after(1_000, 'Found.') })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look', timeoutMs: 900 })
    await expect(made.subagents.collect(1, { timeoutMs: 400 })).resolves.toBeUndefined()
    await made.runner.change(() => undefined)
    expect(made.subagents.list()).toMatchObject([{ ageMs: 400, remainingMs: 500, status: 'running' }])
  })

  it('says whether there is, or will be, something to collect', async () => {
    const made = await program()
    const pending = () => made.subagents.list().map((info) => info.pending)
    await launched(made, 'Look')
    expect(pending()).toEqual([true])
    await made.runner.idle()
    expect(pending()).toEqual([true])
    await made.subagents.collect(1)
    expect(pending()).toEqual([false])
    await made.subagents.query(1, 'Why?', { wait: false })
    expect(pending()).toEqual([true])
    await made.subagents.collect(1)
    expect(pending()).toEqual([false])
  })
})
