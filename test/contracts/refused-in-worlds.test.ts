import { agent, assistant, memoryStore, type ModelProvider, SessionPool, SubagentRegistry, textOf, user } from 'entia'
import { Conversation, LastTurn, SubagentSession } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { stores } from '../behaviour/sessions/kinds-of-stores.ts'
import { driven, emptyWorld, reopened, settled, worldWith } from '../behaviour/turns/driving.ts'
import { tool } from '../behaviour/turns/tools.ts'
import type { JsonBody } from '../servers/loopback.ts'
import { refusal, type Said, startScriptedServer } from '../servers/scripted-server.ts'
import { hasSeal, sealedWires } from './sealed-wires.ts'

const add = tool('add', () => '3')

describe.each(sealedWires)('what $wire.name refuses of its own', ({ calls, wire, words }) => {
  const models = (url: string): Record<string, ModelProvider> => ({ [wire.name]: wire.make(url) })

  it.each(stores)('is asked for once more after a restart from %s, and then no more', async (_, open) => {
    const store = await open()
    let isMoved = false
    const server = await startScriptedServer((body, count) => {
      if (count === 1) return calls('add', 'sealA')
      return isMoved && hasSeal(body, 'sealA') ? refusal(words) : wire.text('Fine.')
    })
    const { world, agent: id } = worldWith({ model: `${wire.name}/m`, messages: 'Add.', tools: [add] })
    await settled(world, { models: models(server.url), tools: [add], store })
    expect(hasSeal(server.bodies[1] as JsonBody, 'sealA')).toBe(true)
    isMoved = true
    const again = await reopened(store, { models: models(server.url), tools: [add] })
    await again.runner.start()
    for (const text of ['And now?', 'Still there?']) {
      await again.runner.message(id, text)
      await again.runner.idle()
      expect(again.world.read(id, LastTurn).stop).toBe('done')
    }
    // Two for the first turn, a refused one and two more.
    expect(server.bodies).toHaveLength(5)
    expect(JSON.stringify(again.world.read(id, Conversation)[1])).toContain('sealA')
  })

  it('in the second step of a turn leaves what the turn goes on to say', async () => {
    const server = await startScriptedServer((body, count) => {
      if (count === 1) return calls('add', 'sealA')
      if (hasSeal(body, 'sealA')) return refusal(words)
      return count === 3 ? calls('add', 'sealB') : wire.text('Fine.')
    })
    const { world, agent: id } = worldWith({ model: `${wire.name}/m`, messages: 'Add.', tools: [add] })
    await settled(world, { models: models(server.url), tools: [add] })
    expect(world.read(id, LastTurn).stop).toBe('done')
    expect(server.bodies.map((body) => [hasSeal(body, 'sealA'), hasSeal(body, 'sealB')])).toEqual([
      [false, false],
      [true, false],
      [false, false],
      [false, true],
    ])
  })

  it.each(['fork', 'researcher'])('is left out in a session as well: %s', async (category) => {
    const isOfSession = (body: JsonBody): boolean => {
      const text = JSON.stringify(body[wire.field])
      return category === 'fork' ? text.includes('Directive: Look around') : !text.includes('"Go."')
    }
    const seen: boolean[] = []
    const server = await startScriptedServer((body, count): string | Said => {
      if (count === 1) return calls('add', 'sealA')
      if (count === 2) return calls('subagent', 'sealB', { category, prompt: 'Look around' })
      if (!isOfSession(body)) return wire.text('Fine.')
      const isSealed = ['sealA', 'sealB', 'sealC'].some((seal) => hasSeal(body, seal))
      seen.push(isSealed)
      if (isSealed) return refusal(words)
      return seen.length === 1 ? calls('add', 'sealC') : wire.text('Scope: all')
    })
    const world = emptyWorld()
    const subagents = { researcher: { name: 'researcher', model: `${wire.name}/m`, tools: ['add'] } }
    const id = world.spawn(
      ...agent({ model: `${wire.name}/m`, tools: [add], messages: 'Go.' }),
      SubagentRegistry({ subagents }),
    )
    const { runner } = driven(world, {
      models: models(server.url),
      tools: [add],
      store: memoryStore(),
      sessionPool: new SessionPool(),
    })
    await runner.start()
    await runner.idle()
    expect(world.read(id, LastTurn).stop).toBe('done')
    const [session] = world.query(SubagentSession).map((each) => world.read(each, SubagentSession))
    expect(session).toMatchObject({ status: 'succeeded' })
    expect(seen.filter((isSealed) => isSealed)).toHaveLength(1)
  })

  it('each time ends the turn after a bounded number of calls, and the next one is asked again', async () => {
    const server = await startScriptedServer((_, count) => (count === 1 ? calls('add', 'sealA') : refusal(words)))
    const { world, agent: id } = worldWith({ model: `${wire.name}/m`, messages: 'Add.', tools: [add] })
    const { runner } = driven(world, { models: models(server.url), tools: [add] })
    await runner.start()
    await runner.idle()
    expect(world.read(id, LastTurn)).toMatchObject({ stop: 'failed', failure: { kind: 'invalid-request' } })
    expect(server.bodies).toHaveLength(3)
    await runner.message(id, 'And now?')
    await runner.idle()
    expect(server.bodies).toHaveLength(5)
  })

  it('is not missed behind a compaction', async () => {
    const server = await startScriptedServer((body, count) => {
      if (count === 1) return calls('add', 'sealA')
      return count > 2 && hasSeal(body, 'sealA') ? refusal(words) : wire.text('Fine.')
    })
    const world = emptyWorld()
    const id = world.spawn(
      ...agent({
        model: `${wire.name}/m`,
        tools: [add],
        messages: [user('Hi.'), assistant('Hello.'), user('Add.')],
        config: {},
      }),
    )
    const { runner } = driven(world, { models: models(server.url), tools: [add] })
    await runner.start()
    await runner.idle()
    await runner.compact(id)
    await runner.message(id, 'And now?')
    await runner.idle()
    expect(world.read(id, LastTurn).stop).toBe('done')
    // The summary and the turn behind it: a conversation that is told as a text has no seals.
    expect(server.bodies.slice(2).some((body) => hasSeal(body, 'sealA'))).toBe(false)
    expect(server.bodies.length).toBeGreaterThan(3)
    expect(textOf(world.read(id, Conversation).at(-1))).toBe('Fine.')
  })
})
