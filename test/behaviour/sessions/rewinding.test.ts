import { Conversation } from 'entia'
import { Delegated, DelegationLimits, SubagentNotification } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { turns } from '../turns/driving.ts'
import { heldStore } from './held-store.ts'
import { inBackground } from './pace.ts'
import { calls, notesIn, stepwise, taskOf, team } from './team.ts'

/** A lead that has launched A and B in the background, and whose user takes that back in the tick that is held up. */
async function takenBack(act: (end: (task: string) => void, rewind: () => Promise<unknown>) => Promise<void>) {
  const { store, hold } = heldStore()
  const ends = { A: Promise.withResolvers<void>(), B: Promise.withResolvers<void>() }
  const made = team({
    runner: { store },
    parts: [DelegationLimits({ depth: 1, sessions: 9, tokens: 1_600 })],
    lead: stepwise(calls(inBackground('a', 'A'), inBackground('b', 'B'))),
    workerOptions: { usage: { input: 20, output: 10 } },
    worker: async (request) => {
      const task = taskOf(request) as 'A' | 'B'
      await ends[task].promise
      return `Done: ${task}`
    },
  })
  await made.runner.start()
  await turns(30)
  const reached = hold(({ inputs }) => inputs.some(({ kind }) => kind === 'message'))
  void made.runner.message(made.lead, 'Wait')
  const release = await reached
  const rewind = () => made.runner.post({ kind: 'rewind', agent: made.lead, messages: 2 })
  await act((task) => ends[task as 'A' | 'B'].resolve(), rewind)
  release()
  await turns(30)
  for (const end of Object.values(ends)) end.resolve()
  await made.runner.idle()
  return made
}

describe('a session whose launch its user takes back', () => {
  it('is cancelled, and so is the second one', async () => {
    const made = await takenBack(async (_, rewind) => void rewind())
    expect(made.sessions().map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
    expect(made.asked('worker').map(({ context }) => context.signal.aborted)).toEqual([true, true])
  })

  it.each([
    ['A', 'before'],
    ['A', 'behind'],
    ['B', 'before'],
    ['B', 'behind'],
  ] as const)(
    'and that ends in the same tick (%s, %s it) is not told of, and what it has spent is known',
    async (task, place) => {
      const made = await takenBack(async (end, rewind) => {
        if (place === 'behind') void rewind()
        end(task)
        await turns(30)
        if (place === 'before') void rewind()
      })
      const launched = made.sessions().map(({ sessionId }) => sessionId)
      const [ended, other] = task === 'A' ? made.sessions() : made.sessions().toReversed()
      expect([ended?.status, other?.status]).toEqual(['succeeded', 'cancelled'])
      expect(made.world.query(SubagentNotification)).toEqual([])
      expect(made.world.read(made.lead, Delegated)).toMatchObject({ reservedTokens: 0, spentTokens: 30 })
      await made.runner.message(made.lead, 'Anew')
      await made.runner.idle()
      // It launches two more.
      const [note = '', ...more] = notesIn(made.world.read(made.lead, Conversation))
      expect([launched.some((id) => note.includes(id)), note.match(/^- /gm)?.length, more]).toEqual([false, 2, []])
    },
  )
})
