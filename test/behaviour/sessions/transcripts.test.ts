import { memoryStore, SessionPool, type Store, textOf } from 'entia'
import { describe, expect, it } from 'vitest'
import { reopened, turns } from '../turns/driving.ts'
import { after } from './pace.ts'
import { launched, look, program, type Program, refusal, stuck } from './program.ts'
import { thenAsked } from './questions.ts'
import { once } from './sleepy-team.ts'
import { call, calls, stepwise, type TeamOptions } from './team.ts'

describe('a transcript', () => {
  const twoSteps: TeamOptions = {
    subagents: { researcher: { tools: ['look'], systemPrompt: 'You look.' } },
    worker: stepwise(calls(call('look', 'look')), (request, context) => {
      const [task] = [...request.messages]
      return textOf(task) === 'long' ? stuck(request, context) : 'Found.'
    }),
  }

  /** Who said what. */
  async function read({ subagents }: Pick<Program, 'subagents'>, ref: number) {
    const { messages = [] } = (await subagents.transcript(ref)) ?? {}
    return messages.map((message) => `${message.role}: ${textOf(message)}`)
  }

  it.each([
    ['without a store', undefined],
    ['with a store', memoryStore()],
  ])('is what the session was last asked with, while it runs and when it has ended, %s', async (_, store) => {
    const kept = store === undefined ? {} : { store }
    const sessionPool = new SessionPool({ cap: 1 })
    const made = await program({ ...twoSteps, runner: { tools: [look], sessionPool, ...kept } })
    await launched(made, 'short', 'long', 'queued')
    await once(made, () => made.asked('worker').length === 4)
    const ended = ['user: short', 'assistant: ', 'tool: nothing new', 'assistant: Found.']
    await expect(read(made, 1)).resolves.toEqual(ended)
    await expect(read(made, 2)).resolves.toEqual(['user: long', 'assistant: ', 'tool: nothing new'])
    for (const [ref, request] of [
      [1, made.asked('worker')[1]?.request],
      [2, made.asked('worker')[3]?.request],
    ] as const) {
      const { systemPrompt = '', messages = [] } = (await made.subagents.transcript(ref)) ?? {}
      expect(systemPrompt).toBe(request?.system)
      expect(systemPrompt).toMatch(/^You look\./)
      expect(messages.slice(0, 3)).toEqual([...(request?.messages ?? [])])
    }
    await expect(made.subagents.transcript(3)).resolves.toBeUndefined()
    await made.subagents.cancel(2)
    await expect(read(made, 2)).resolves.toEqual(['user: long', 'assistant: ', 'tool: nothing new'])
    await expect(refusal(made.subagents.transcript(4))).resolves.toBe('unknown-session')
    await made.subagents.cancel(3)
    await made.runner.stop()
  })

  it('is not waited for, however early it is asked for', async () => {
    const made = await program({ worker: stuck, runner: { store: memoryStore() } })
    await launched(made, 'Look')
    for (let turn = 0; turn < 8; turn++) {
      const { messages = [] } = (await made.subagents.transcript(1)) ?? {}
      expect(messages.length).toBeLessThanOrEqual(1)
      await turns(1)
    }
    await expect(read(made, 1)).resolves.toEqual(['user: Look'])
    await made.runner.stop()
  })

  it('may be asked for by many at once, whatever begins meanwhile', async () => {
    const store = memoryStore()
    const made = await program({ worker: thenAsked(after(10, 'Yes.')), runner: { store } })
    await launched(made, 'Look')
    await made.subagents.collect(1)
    const asked = made.subagents.query(1, 'Sure?')
    for (let turn = 0; turn < 8; turn++) {
      const all = await Promise.all(Array.from({ length: 3 }, () => read(made, 1)))
      for (const lines of all) expect(lines.slice(0, 2)).toEqual(['user: Look', 'assistant: First.'])
      await turns(1)
    }
    await expect(asked).resolves.toBe('Yes.')
    const together = await Promise.all([read(made, 1), read(made, 1), made.subagents.query(1, 'Sure?'), read(made, 1)])
    expect(together[2]).toBe('Yes.')
  })

  describe('from a store that takes its time', () => {
    /** A program whose one session has ended, and answers nothing more; the store reads as soon as the gate is opened. */
    async function slow() {
      const inner = memoryStore()
      const gates: Promise<void>[] = []
      const store: Store = {
        ...inner,
        open: async (name, options) => {
          const journal = await inner.open(name, options)
          return {
            name,
            load: async () => {
              await gates.at(-1)
              return journal.load()
            },
            commit: (batch) => journal.commit(batch),
            recording: () => journal.recording(),
            close: () => journal.close(),
          }
        },
      }
      const made = await program({ worker: thenAsked(stuck), runner: { store } })
      await launched(made, 'Look')
      await made.subagents.collect(1)
      const { promise, resolve } = Promise.withResolvers<void>()
      gates.push(promise)
      return { made, open: resolve }
    }

    it('lets a question begin that comes meanwhile', async () => {
      const { made, open } = await slow()
      const transcript = read(made, 1)
      await made.subagents.query(1, 'Sure?', { wait: false })
      await turns()
      open()
      await expect(transcript).resolves.toEqual(['user: Look', 'assistant: First.'])
      await once(made, () => made.asked('worker').length === 2)
      await made.runner.stop()
    })

    it('is there as soon as a question has begun that came before', async () => {
      const { made, open } = await slow()
      await made.subagents.query(1, 'Sure?', { wait: false })
      await turns()
      const transcript = read(made, 1)
      await turns()
      open()
      const lines = await transcript
      expect(lines.slice(0, 2)).toEqual(['user: Look', 'assistant: First.'])
      await made.runner.stop()
    })
  })

  it('of a session that is taken up again does not stand in its way', async () => {
    const store = memoryStore()
    const made = await program({ ...twoSteps, runner: { tools: [look], store } })
    await launched(made, 'long')
    await once(made, () => made.asked('worker').length === 2)
    await made.runner.stop()
    const later = await reopened(store, { ...made.options, sessionPool: new SessionPool() })
    const { subagents } = { subagents: later.runner.subagents(made.lead) }
    const first = read({ subagents }, 1)
    await later.runner.start()
    await expect(Promise.all([first, read({ subagents }, 1), read({ subagents }, 1)])).resolves.toHaveLength(3)
    await once({ ...made, ...later }, () => made.asked('worker').length === 3)
    expect(subagents.list()).toMatchObject([{ status: 'running' }])
  })

  it('has the questions and replies that came later, over a restart too', async () => {
    const store = memoryStore()
    const made = await program({ worker: () => 'Yes.', runner: { store } })
    await launched(made, 'Look')
    await made.runner.idle()
    await made.subagents.query(1, 'Sure?')
    const all = ['user: Look', 'assistant: Yes.', 'user: Sure?', 'assistant: Yes.']
    await expect(read(made, 1)).resolves.toEqual(all)
    await made.runner.stop()
    const later = await reopened(store, { ...made.options, sessionPool: new SessionPool() })
    await later.runner.start()
    await expect(read({ subagents: later.runner.subagents(made.lead) }, 1)).resolves.toEqual(all)
  })
})
