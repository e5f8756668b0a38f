import { agent, type HostOptions, realClock, scripted, standardSystems, textOf, World } from 'entia'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { FleetWorlds } from '../../../src/runtime/worlds/fleet-worlds.ts'
import { tool } from '../turns/tools.ts'
import { fleet, known, place } from './fleet.ts'

const buy = tool('buy', () => 'bought', { approval: true })

const shop = scripted(({ messages }) => {
  const said = messages.filter(({ role }) => role === 'user').map(textOf)
  const last = messages.at(-1)
  if (last?.role === 'user' && said.at(-1) === 'buy') return { toolCalls: [{ name: 'buy' }] }
  if (said.at(-1) === 'number') return '{"number":7}'
  if (last?.role === 'tool') return `It said: ${textOf(last)}`
  return `Heard: ${said.join(', ')}`
})

function make(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'shop/assistant', tools: [buy] }))
  return world
}

const host = (): HostOptions => ({ models: { shop }, tools: [buy], approve: 'by-input' })

function shops() {
  const made = fleet({ host, make })
  const worlds = new FleetWorlds({
    store: made.store,
    clock: realClock,
    known,
    make,
    place: (world) => place(made.store, world),
  })
  onTestFinished(() => worlds.close())
  return { ...made, worlds }
}

describe('a world of a fleet, by its name', () => {
  it('answers, though another process drives it, and knows what was said before', async () => {
    const { worker, worlds } = shops()
    worker('one')
    expect((await worlds.world('desk').ask('one')).text).toBe('Heard: one')
    expect((await worlds.world('desk').ask('two')).text).toBe('Heard: one, two')
    expect((await worlds.world('desk').attach()).text).toBe('Heard: one, two')
  })

  it('takes a message while no worker lives, and answers when there is one', async () => {
    const { worker, worlds } = shops()
    await worlds.world('desk').message('hello')
    const asked = worlds.world('desk').ask('there?')
    worker('one')
    expect((await asked).text).toMatch('there?')
  })

  it('counts a message once under an id', async () => {
    const { worker, worlds } = shops()
    worker('one')
    const desk = worlds.world('desk')
    const [one, two] = await Promise.all([desk.ask('once', { id: 'a' }), desk.ask('once', { id: 'a' })])
    expect([one.text, two.text]).toEqual(['Heard: once', 'Heard: once'])
    expect((await desk.ask('once', { id: 'a' })).text).toBe('Heard: once')
    expect((await desk.ask('more')).text).toBe('Heard: once, more')
  })

  it('gives an output as its schema says', async () => {
    const { worker, worlds } = shops()
    worker('one')
    const { output } = await worlds.world('desk').ask('number', { output: z.object({ number: z.number() }) })
    expect(output?.number).toBe(7)
  })

  it('shows the parts of its turn, and takes the answer of a person', async () => {
    const { worker, worlds } = shops()
    worker('one')
    const desk = worlds.world('desk')
    const asked = desk.ask('buy')
    const seen: string[] = []
    for await (const part of asked.parts) {
      seen.push(part.type)
      if (part.type === 'approval-requested') await desk.answer(part.approval, true)
    }
    expect(seen).toContain('approval-requested')
    expect((await asked).text).toBe('It said: bought')
  })

  it('is told by its events, until the reader has enough', async () => {
    const { worker, worlds } = shops()
    worker('one')
    const desk = worlds.world('desk')
    await desk.ask('one')
    const events = desk.events()
    await desk.message('two')
    const types: string[] = []
    for await (const event of events) {
      types.push(event.type)
      if (event.type === 'turn-ended') break
    }
    expect(types).toContain('turn-started')
  })
})
