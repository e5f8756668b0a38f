import { memoryStore, SessionPool } from 'entia'
import { Delegated, DelegationLimits, GrantAwaited } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { limited, looking, nested } from './granting.ts'
import { after, byTask } from './pace.ts'
import { again, launched, look, program, type Program } from './program.ts'
import { once } from './sleepy-team.ts'
import { call, calls, delegate, resultsIn, stepwise, taskOf } from './team.ts'

/** Each task takes a second, and three tokens of the ten that it may use. */
const busy = {
  subagents: { researcher: { limits: { tokens: 10 } } },
  worker: after(1_000, 'Done.'),
  workerOptions: { usage: { input: 3 } },
}

const waiting = ({ world }: Program) => world.entitiesWith(GrantAwaited).length
const statuses = ({ sessions }: Program) => sessions().map(({ status }) => status)

describe('a session whose budget others have reserved', () => {
  it('waits for what they leave, as do those behind it, and all are done', async () => {
    const made = await limited({ tokens: 45 }, { ...busy, runner: { sessionPool: new SessionPool({ cap: 6 }) } })
    await launched(made, ...Array.from({ length: 12 }, (_, index) => `task ${index}`))
    await once(made, () => waiting(made) === 8)
    expect(statuses(made).filter((status) => status === 'running')).toHaveLength(4)
    await made.runner.idle()
    expect(new Set(statuses(made))).toEqual(new Set(['succeeded']))
    expect(made.world.read(made.lead, Delegated)).toMatchObject({ reservedTokens: 0, spentTokens: 36 })
  })

  it('is not overtaken by one that was launched behind it and needs less', async () => {
    const made = await program({
      ...busy,
      parts: [DelegationLimits({ tokens: 45 })],
      subagents: { researcher: { limits: { tokens: 30 } }, clerk: { limits: { tokens: 10 } } },
    })
    await launched(made, 'a', 'b')
    await made.subagents.spawn({ category: 'clerk', prompt: 'c' })
    await once(made, () => waiting(made) === 2)
    await made.runner.idle()
    expect(statuses(made)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(made.asked('worker').map(({ request }) => taskOf(request))).toEqual(['a', 'b', 'c'])
  })

  it('fails once what they leave is too little, and asks no model', async () => {
    const made = await limited({ tokens: 12 }, busy)
    await launched(made, 'a', 'b')
    await once(made, () => waiting(made) === 1)
    await made.runner.idle()
    expect(made.sessions()).toMatchObject([
      { status: 'succeeded' },
      { status: 'failed', error: 'Delegation limit reached: tokens' },
    ])
    expect(made.asked('worker')).toHaveLength(1)
    expect(waiting(made)).toBe(0)
  })

  it('gives its slot to those that they wait for', async () => {
    const made = await program({
      ...busy,
      parts: [DelegationLimits({ tokens: 150 })],
      subagents: { researcher: { ...nested, limits: { tokens: 100 } }, digger: { limits: { tokens: 10 } } },
      worker: byTask({
        top: ({ messages }) =>
          resultsIn(messages)['dig'] ?? calls(delegate('dig', { category: 'digger', prompt: 'dig' })),
        dig: after(1_000, 'Dug.'),
      }),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await launched(made, 'top', 'other')
    await made.runner.idle()
    expect(statuses(made)).toEqual(['succeeded', 'succeeded'])
    expect(made.asked('worker').map(({ request }) => taskOf(request))).toEqual(['top', 'dig', 'top', 'other'])
  })

  it('has no clock of its own until it runs', async () => {
    const made = await limited({ tokens: 13 }, busy)
    const spawned = ['a', 'b'].map((prompt) =>
      made.subagents.spawn({ category: 'researcher', prompt, timeoutMs: 1_500 }),
    )
    await Promise.all(spawned)
    await made.runner.idle()
    expect(statuses(made)).toEqual(['succeeded', 'succeeded'])
  })

  it('may be cancelled meanwhile, and leaves nothing behind', async () => {
    const made = await limited({ tokens: 13 }, busy)
    await launched(made, 'a', 'b', 'c')
    await once(made, () => waiting(made) === 2)
    await made.subagents.cancel(2)
    await made.runner.idle()
    expect(statuses(made)).toEqual(['succeeded', 'cancelled', 'succeeded'])
    expect(waiting(made)).toBe(0)
    expect(made.asked('worker').map(({ request }) => taskOf(request))).toEqual(['a', 'c'])
  })

  it('waits on after a restart', async () => {
    const store = memoryStore()
    const made = await limited({ tokens: 16 }, { ...busy, runner: { store } })
    await launched(made, 'a', 'b', 'c')
    await once(made, () => waiting(made) === 2)
    await made.runner.stop()
    const later = await again(store, made)
    await later.runner.idle()
    expect(later.subagents.list().map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  })

  it('waits in a world of its own sessions, too', async () => {
    const made = await program({
      ...busy,
      subagents: { researcher: { ...nested, limits: { tokens: 30 } }, digger: { ...looking, limits: { tokens: 12 } } },
      worker: byTask({
        top: ({ messages }) =>
          messages.some(({ role }) => role === 'tool')
            ? Object.values(resultsIn(messages)).join(', ')
            : calls(...['a', 'b', 'c'].map((id) => delegate(id, { category: 'digger', prompt: 'dig' }))),
        dig: stepwise(calls(call('look', 'look')), after(1_000, 'Dug.')),
      }),
      workerOptions: { usage: (request) => ({ input: taskOf(request) === 'top' ? 1 : 2 }) },
      runner: { tools: [look] },
    })
    const [id = ''] = await launched(made, 'top')
    await made.runner.idle()
    await expect(made.subagents.collect(id)).resolves.toBe('Dug., Dug., Dug.')
  })
})
