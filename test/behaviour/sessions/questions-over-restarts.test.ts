import { SessionPool, standardSystems, textOf, World } from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { driven, rejection, turns } from '../turns/driving.ts'
import { mortalStore } from '../stores/watched-store.ts'
import { stores } from './kinds-of-stores.ts'
import { again, program, stuck } from './program.ts'
import { echo, succeeded, texts, thenAsked } from './questions.ts'
import { once } from './sleepy-team.ts'

describe.each(stores)('over a restart with a %s', (_, storeOf) => {
  it('a session answers with all in mind that was said before', async () => {
    const store = await storeOf()
    const made = await succeeded({ runner: { store } })
    await made.subagents.query(1, 'Why?')
    await made.runner.stop()
    const later = await again(store, made)
    await expect(later.subagents.query(1, 'How?')).resolves.toBe('Re: How?')
    expect(texts(made, 2)).toEqual(['Look', 'Re: Look', 'Why?', 'Re: Why?', 'How?'])
    expect(later.subagents.list()).toMatchObject([{ status: 'succeeded' }])
  })

  it('a question that was under way stands in the session once, and its reply is collected', async () => {
    const kept = await storeOf()
    const { store, die } = mortalStore(kept)
    let isStuck = true
    const made = await succeeded({
      isMortal: true,
      worker: thenAsked((request, context) => (isStuck ? stuck(request, context) : echo(request, context))),
      runner: { store },
    })
    await made.subagents.collect(1)
    void made.subagents.query(1, 'Why?')
    await once(made, () => made.asked('worker').length === 2)
    die()
    await turns()
    isStuck = false
    const later = await again(kept, made)
    await expect(later.subagents.collect(1)).resolves.toBe('Re: Why?')
    expect(made.asked('worker')).toHaveLength(3)
    expect(texts(made, 2)).toEqual(['Look', 'First.', 'Why?'])
    const { messages } = (await later.subagents.transcript(1)) ?? { messages: [] }
    expect(messages.map((message) => textOf(message))).toEqual(['Look', 'First.', 'Why?', 'Re: Why?'])
  })

  it('a question that was answered, of which its parent had not heard, is not put to the model again', async () => {
    const kept = await storeOf()
    const { store, die } = mortalStore(kept)
    const made = await succeeded({ isMortal: true, worker: thenAsked(echo), runner: { store } })
    await made.subagents.collect(1)
    made.runner.on('session-settled', die)
    void made.subagents.query(1, 'Why?')
    await once(made, () => made.told('session-settled').length === 2)
    await turns()
    const later = await again(kept, made)
    await expect(later.subagents.collect(1)).resolves.toBe('Re: Why?')
    expect(made.asked('worker')).toHaveLength(2)
  })

  it('a reply that was there is collected still', async () => {
    const store = await storeOf()
    const made = await succeeded({ runner: { store } })
    await made.subagents.query(1, 'Why?', { wait: false })
    await made.runner.idle()
    await made.runner.stop()
    const later = await again(store, made)
    await expect(later.subagents.collect(1)).resolves.toBe('Re: Look')
    await expect(later.subagents.collect(1)).resolves.toBe('Re: Why?')
    expect(made.asked('worker')).toHaveLength(2)
  })
})

describe('without a store', () => {
  it('those that ended long before the others have nothing in mind any more', async () => {
    const made = await program({ worker: echo })
    for (let index = 0; index < 33; index++) await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    const refused = rejection(made.subagents.query(1, 'Why?'))
    await expect(refused).resolves.toMatchObject({
      code: 'session-failed',
      message: expect.stringContaining('run with a store') as string,
    })
    await expect(made.subagents.query(2, 'Why?')).resolves.toBe('Re: Why?')
  })

  it('a session has nothing in mind any more after a restart', async () => {
    const made = await succeeded()
    await made.runner.idle()
    await made.runner.stop()
    const world = World.restore(made.world.snapshot(), { systems: standardSystems(), components })
    const later = driven(world, { ...made.options, sessionPool: new SessionPool() })
    await later.runner.start()
    const refused = rejection(later.runner.subagents(made.lead).query(1, 'Why?'))
    await expect(refused).resolves.toMatchObject({ code: 'session-failed' })
    expect(made.asked('worker')).toHaveLength(1)
  })
})
