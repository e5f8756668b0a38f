import { Conversation, defineTool, memoryStore, scripted, type Store, textOf, user, type World, worlds } from 'entia'
import { simulate } from 'entia/sim'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import {
  addAgent,
  driven,
  emptyWorld,
  gate,
  mortal,
  rejection,
  reopened,
  turns,
} from '../../behaviour/turns/driving.ts'

const tell = defineTool({
  name: 'tell',
  description: 'Tells another agent, and this one.',
  input: z.object({ to: z.int() }),
  restart: 'keyed',
  run: async ({ to }, { message, post }) => {
    await post({ kind: 'message', agent: to, message: user('A letter.') })
    await message('A note to myself.')
    return 'Told.'
  },
})

const clerk = scripted(({ messages }) => {
  const said = [...messages].filter(({ role }) => role === 'user').map((message) => textOf(message))
  if (said[0] !== 'Go') return `Read: ${said.join(', ')}`
  return messages.some(({ role }) => role === 'tool')
    ? 'Done.'
    : { toolCalls: [{ name: 'tell', arguments: { to: 2 } }] }
})

const saidTo = (world: World, entity: number) =>
  world
    .read(entity, Conversation)
    .slice()
    .filter(({ role }) => role === 'user')
    .map((message) => textOf(message))

function office(name = 'world'): World {
  const world = emptyWorld(name)
  addAgent(world, { model: 'clerk/x', tools: [tell], messages: [] })
  addAgent(world, { model: 'clerk/x', messages: [] })
  return world
}

describe('a tool that posts to the world of its call', () => {
  it('goes on once what it says is committed: to others, and to its own agent, whose turn it joins', async () => {
    const world = office()
    const { runner, told } = driven(world, { models: { clerk }, tools: [tell] })
    await runner.start()
    await runner.message(1, 'Go')
    await runner.idle()
    expect([saidTo(world, 1), saidTo(world, 2)]).toEqual([['Go', 'A note to myself.'], ['A letter.']])
    expect(
      told('turn-ended')
        .map(({ agent: whose }) => whose)
        .toSorted((a, b) => a - b),
    ).toEqual([1, 2])
  })

  it('says nothing twice when it runs again after a restart', async () => {
    const store = memoryStore()
    const held = gate()
    let runs = 0
    const slow = defineTool({
      ...{ name: 'tell', description: 'Tells.', input: z.object({ to: z.int() }), restart: 'keyed' as const },
      run: async (_, { message }) => {
        await message(`first`)
        if (++runs === 1) await held.promise
        await message('second')
        return 'Told.'
      },
    })
    const world = office()
    const options = { models: { clerk }, tools: [slow], store: store as Store }
    const first = mortal(world, options)
    await first.runner.start()
    await first.runner.message(1, 'Go')
    while (!saidTo(world, 1).includes('first')) await turns(1)
    await first.runner.stop()
    held.resolve()
    const later = await reopened(store, options)
    await later.runner.start()
    await later.runner.idle()
    expect(runs).toBe(2)
    expect(saidTo(later.world, 1)).toEqual(['Go', 'first', 'second'])
  })

  it('reads why an input is refused', async () => {
    const problems: unknown[] = []
    const wrong = defineTool({
      name: 'tell',
      description: 'Posts what is none.',
      input: z.object({ to: z.int() }),
      restart: 'pure',
      run: async (_, { post }) => {
        problems.push(await rejection(post({ kind: 'nonsense' } as never)))
        return 'Tried.'
      },
    })
    const { runner } = driven(office(), { models: { clerk }, tools: [wrong] })
    await runner.start()
    await runner.message(1, 'Go')
    await runner.idle()
    expect(problems).toMatchObject([{ code: 'invalid-input' }])
  })

  it('says nothing once it was called off', async () => {
    const [begun, goOn] = [gate(), gate()]
    const refused: unknown[] = []
    const late = defineTool({
      name: 'tell',
      description: 'Tells too late.',
      input: z.object({ to: z.int() }),
      restart: 'pure',
      run: async ({ to }, { message, post }) => {
        begun.resolve()
        await goOn.promise
        refused.push(await rejection(message('Too late.')))
        refused.push(await rejection(post({ kind: 'message', agent: to, message: user('Too late.') })))
      },
    })
    const world = office()
    const { runner } = driven(world, { models: { clerk }, tools: [late] })
    await runner.start()
    await runner.message(1, 'Go')
    await begun.promise
    await runner.cancel(1)
    goOn.resolve()
    await expect.poll(() => refused).toMatchObject([{ name: 'AbortError' }, { name: 'AbortError' }])
    await runner.idle()
    expect([saidTo(world, 1), saidTo(world, 2)]).toEqual([['Go'], []])
  })

  it('needs no Runner at hand, so it works in worlds by name and in simulations', async () => {
    const all = worlds(memoryStore(), {
      make: office,
      models: { clerk },
      tools: [tell],
      agent: () => 1,
    })
    onTestFinished(() => all.close())
    await all.agent('a').ask('Go')
    const seen: string[] = []
    const result = await simulate({
      seed: 3,
      models: { clerk },
      tools: [tell],
      world: () => {
        const world = office()
        world.append(1, Conversation, user('Go'))
        return world
      },
      faults: { crash: { perTick: 0.1 } },
    })
    seen.push(...saidTo(result.world, 2))
    expect(result.ok, JSON.stringify(result.violation)).toBe(true)
    expect(seen).toEqual(['A letter.'])
  })
})
