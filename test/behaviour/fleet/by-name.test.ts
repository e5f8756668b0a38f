import {
  agent,
  type AskPart,
  createAgent,
  type HostOptions,
  memoryStore,
  type OwnAgent,
  type Agent,
  realClock,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  World,
  worlds as worldsOf,
} from 'entia'
import type { SharedStore, Streams } from 'entia/stores'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { FleetWorlds } from '../../../src/runtime/agents/fleet-worlds.ts'
import { tool } from '../turns/tools.ts'
import { fleet, known, place } from './fleet.ts'
import { Pen } from './pen.ts'

const buy = tool('buy', () => 'bought', { approval: true })

const never = new Promise(() => undefined)

const shop = scripted(async ({ messages }) => {
  const said = messages.filter(({ role }) => role === 'user').map(textOf)
  const last = messages.at(-1)
  if (last?.role === 'user' && said.at(-1) === 'buy') return { toolCalls: [{ name: 'buy' }] }
  if (said.at(-1) === 'delegate' && last?.role === 'user')
    return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt: 'help' } }] }
  if (said.at(-1) === 'wait') await never
  if (said.at(-1) === 'number') return '{"number":7}'
  if (last?.role === 'tool') return `It said: ${textOf(last)}`
  return `Heard: ${said.join(', ')}`
})

const host = (): HostOptions => ({ models: { shop }, tools: [buy], approve: 'by-input' })

/** What its agents are, and what their Hosts have. */
interface Shop {
  readonly host: () => HostOptions
  readonly model: string
  /** Of the subagent `clerk`. @default the agent's */
  readonly clerk?: string
  /** A world was made. */
  readonly made?: (name: string) => void
}

const theShop: Shop = { host, model: 'shop/assistant' }

function team({ clerk }: Shop) {
  return SubagentRegistry({ subagents: { clerk: { name: 'clerk', ...(clerk !== undefined && { model: clerk }) } } })
}

function makerOf(shop: Shop): (name: string) => World {
  return (name) => {
    shop.made?.(name)
    const world = new World({ name, systems: standardSystems() })
    world.spawn(...agent({ model: shop.model, tools: shop.host().tools ?? [] }), team(shop))
    return world
  }
}

/** @param store that of other shops, where there are some */
function shops(shop: Shop = theShop, store?: SharedStore) {
  const { host } = shop
  const make = makerOf(shop)
  const made = fleet({ host, make, ...(store !== undefined && { store }) })
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

type AgentNamed = (name: string) => Agent | Promise<Agent>

/** Worlds that this process drives, each with what opens it. */
function inOneProcess(shop: Shop = theShop): (name: string) => Agent {
  const worlds = worldsOf(memoryStore(), { make: makerOf(shop), ...shop.host() })
  onTestFinished(() => worlds.close())
  return (name) => worlds.agent(name)
}

/** Worlds that others drive, here two workers. */
function inAFleet(shop: Shop = theShop): (name: string) => Agent {
  const { worker, worlds } = shops(shop)
  worker('one')
  worker('two')
  return (name) => worlds.agent(name)
}

/** Agents that this program has made, one a world. */
function created(shop: Shop = theShop): AgentNamed {
  const agents = new Map<string, Promise<OwnAgent>>()
  return (name) => {
    const known = agents.get(name)
    if (known !== undefined) return known
    const { tools = [], ...rest } = shop.host()
    const made = createAgent({ name, model: shop.model, tools, with: [team(shop)], ...rest })
    agents.set(name, made)
    onTestFinished(async () => (await made).close())
    return made
  }
}

describe('a world of a fleet, by its name', () => {
  it('takes a message while no worker lives, and answers when there is one', async () => {
    const { worker, worlds } = shops()
    await worlds.agent('desk').message('hello')
    const asked = worlds.agent('desk').ask('there?')
    worker('one')
    expect((await asked).text).toMatch('there?')
  })

  it('is written while its model writes only if somebody reads that', async () => {
    const pen = new Pen()
    const { store, worker, worlds } = shops(writers(pen))
    const written = vi.spyOn(store.streams as Streams, 'write')
    const watched = vi.spyOn(store.streams as Streams, 'watched')
    worker('one')
    const unread = worlds.agent('desk').ask('Write.')
    const first = await pen.next()
    first.write('Once ')
    await expect.poll(() => watched).toHaveBeenCalledTimes(2)
    first.end()
    await unread
    expect(written).not.toHaveBeenCalled()
    const asked = worlds.agent('desk').ask('Again.')
    const reader = new Reader(asked.parts)
    const second = await pen.next()
    second.write('Twice ')
    await reader.until('text', 'Twice ')
    second.end()
    await asked
    expect(written).toHaveBeenCalled()
  })
})

describe('the events of a world of a fleet that is not there', () => {
  it('begin with its first one, once another process has it made, and make none', async () => {
    const { store, worker, worlds } = shops()
    const looked = vi.spyOn(store, 'ticks')
    const events = worlds.agent('desk').events()
    await expect.poll(() => looked.mock.calls.length).toBeGreaterThan(2)
    expect(await store.list()).toEqual([])
    const elsewhere = shops(theShop, store)
    await elsewhere.worlds.agent('desk').message('hello')
    worker('one')
    const read: string[] = []
    for await (const event of events) if (read.push(event.type) && event.type === 'turn-ended') break
    expect(read.filter((type) => type !== 'model-delta').slice(0, 3)).toEqual([
      'turn-started',
      'model-called',
      'model-replied',
    ])
  })

  it('are waited for no more once the reader has left, or the worlds are closed', async () => {
    const { store, worlds } = shops()
    const looked = vi.spyOn(store, 'ticks')
    const [left, open] = [worlds.agent('desk').events(), worlds.agent('desk').events()]
    await expect.poll(() => looked.mock.calls.length).toBeGreaterThan(0)
    expect(looked.mock.lastCall?.[0]).toHaveLength(2)
    await left.return?.()
    await expect.poll(() => looked.mock.lastCall?.[0].length).toBe(1)
    await worlds.close()
    const count = looked.mock.calls.length
    await worlds.exists('desk')
    expect(open).toBeDefined()
    expect(looked.mock.calls.length - count).toBeLessThan(2)
  })
})

describe('the events of a world by its name', () => {
  const closable: Readonly<
    Record<string, () => { readonly world: (name: string) => Agent; readonly close: () => Promise<void> }>
  > = {
    'of one process': () => {
      const all = worldsOf(memoryStore(), { make: makerOf(theShop), ...host() })
      return { world: (name) => all.agent(name), close: () => all.close() }
    },
    'of a fleet': () => {
      const { worker, worlds } = shops()
      worker('one')
      return { world: (name) => worlds.agent(name), close: () => worlds.close() }
    },
  }

  it.each(Object.entries(closable))(
    '%s end when all worlds are closed, for a reader that waits and for one that begins later',
    async (_, begin) => {
      const { close, world } = begin()
      const [events, none] = [world('desk').events(), world('none').events()]
      const waiting = none.next()
      await world('desk').ask('hello')
      await close()
      const read: string[] = []
      for await (const { type } of events) read.push(type)
      expect(read).toContain('turn-ended')
      expect([await waiting, await world('desk').events().next()]).toEqual([
        { done: true, value: undefined },
        { done: true, value: undefined },
      ])
    },
  )

  it.each(Object.entries(closable))('%s, once it is closed: it refuses all that is asked of it', async (_, begin) => {
    const { close, world } = begin()
    await world('desk').ask('hello')
    await close()
    const desk = world('desk')
    const asked = [() => desk.ask('more'), () => desk.message('more'), () => desk.approvals(), () => desk.sessions()]
    for (const ask of asked) await expect(ask()).rejects.toMatchObject({ code: 'store-closed' })
  })
})

describe.each([
  ['of one process', inOneProcess],
  ['of a fleet', inAFleet],
])('a world %s', (_, open) => {
  it('that there is not is made by no one who only looks, and is there for all once it was spoken to', async () => {
    const made: string[] = []
    const desk = open({ ...theShop, made: (name) => made.push(name) })('nobody')
    expect([await desk.approvals(), await desk.sessions()]).toEqual([[], []])
    for (const refused of [desk.attach(), desk.cancel(), desk.answer('approval-1', true)])
      await expect(refused).rejects.toMatchObject({ code: 'no-such-world', details: { world: 'nobody' } })
    const parts = desk.attach().parts
    await expect(parts.next()).rejects.toMatchObject({ code: 'no-such-world' })
    const unheard = desk.events()
    const events = desk.events()
    expect(await desk.sessions()).toEqual([])
    expect(made).toEqual([])
    await unheard.return?.()
    const asked = desk.ask('hello')
    expect(await desk.sessions()).toEqual([])
    expect((await asked).text).toBe('Heard: hello')
    expect((await desk.attach()).text).toBe('Heard: hello')
    const types: string[] = []
    for await (const { type } of events) if (types.push(type) && type === 'turn-ended') break
    expect(types).toEqual(expect.arrayContaining(['turn-started', 'model-called', 'model-replied', 'turn-ended']))
  })
})

describe.each<[string, (shop?: Shop) => AgentNamed]>([
  ['that a program has made', created],
  ['of a world of one process', inOneProcess],
  ['of a world of a fleet', inAFleet],
])('an agent %s', (_, open) => {
  it('answers, and knows what was said before', async () => {
    const named = open()
    expect((await (await named('desk')).ask('one')).text).toBe('Heard: one')
    expect((await (await named('desk')).ask('two')).text).toBe('Heard: one, two')
    expect((await (await named('desk')).attach()).text).toBe('Heard: one, two')
    expect((await (await named('other')).ask('three')).text).toBe('Heard: three')
  })

  it('gives its conversation, and what it does', async () => {
    const desk = await open()('desk')
    expect(await desk.history()).toEqual([])
    expect(await desk.state()).toMatchObject({ isBusy: false, waitsFor: [] })
    await desk.ask('one')
    expect((await desk.history()).map((message) => `${message.role}: ${textOf(message)}`)).toEqual([
      'user: one',
      'assistant: Heard: one',
    ])
    expect(await desk.state()).toMatchObject({
      isBusy: false,
      waitsFor: [],
      last: { text: 'Heard: one', stop: 'done' },
    })
  })

  it('says what it waits for: its model, a person', async () => {
    const desk = await open()('desk')
    for await (const { type } of desk.ask('wait').parts) {
      if (type !== 'step') continue
      expect(await desk.state()).toMatchObject({ isBusy: true, waitsFor: ['model'] })
      await desk.cancel()
    }
    for await (const part of desk.ask('buy').parts) {
      if (part.type !== 'approval-requested') continue
      expect(await desk.state()).toMatchObject({ isBusy: true, waitsFor: ['people'], last: { stop: 'cancelled' } })
      await desk.answer(part.approval, false)
    }
  })

  it('takes back what was said last', async () => {
    const desk = await open()('desk')
    await desk.ask('one')
    await desk.ask('two')
    await desk.ask('three')
    await desk.rewind(2)
    expect((await desk.ask('four')).text).toBe('Heard: one, four')
    await desk.rewind()
    expect((await desk.history()).length).toBe(2)
    await expect(desk.rewind(2)).rejects.toMatchObject({ code: 'invalid-argument' })
    await expect(desk.rewind(0)).rejects.toMatchObject({ code: 'invalid-argument' })
  })

  it('goes on with a turn whose step was stopped', async () => {
    const desk = await open()('desk')
    const asked = desk.ask('wait')
    const parts = asked.parts
    for await (const { type } of parts) if (type === 'step') break
    await desk.stopStep('enough')
    expect(await desk.state()).toMatchObject({ isBusy: true, waitsFor: [] })
    await desk.message('more')
    expect((await asked).text).toBe('Heard: wait, more')
  })

  it('calls a listener for its events of one kind, or of all, until that ends', async () => {
    const desk = await open()('desk')
    await desk.ask('one')
    const heard: string[] = []
    const end = desk.on('turn-ended', ({ type }) => heard.push(type))
    const all: string[] = []
    const endAll = desk.on('*', ({ type }) => void all.push(type))
    await desk.ask('two')
    await expect.poll(() => heard).toEqual(['turn-ended'])
    expect(all).toEqual(expect.arrayContaining(['turn-started', 'model-called', 'turn-ended']))
    end()
    endAll()
    await desk.ask('three')
    expect(heard).toEqual(['turn-ended'])
  })

  it('takes a message without waiting for its answer, once under an id', async () => {
    const desk = await open()('desk')
    await desk.message('one', { id: 'a' })
    await desk.message('one', { id: 'a' })
    expect((await desk.attach()).text).toBe('Heard: one')
    await desk.message('one', { id: 'a' })
    expect((await desk.ask('two')).text).toBe('Heard: one, two')
  })

  it('ends a turn that is cancelled, and takes the next message', async () => {
    const desk = await open()('desk')
    const asked = desk.ask('wait')
    for await (const part of asked.parts) if (part.type === 'step') await desk.cancel('enough')
    expect((await asked).stop).toBe('cancelled')
    expect((await desk.ask('more')).text).toMatch('more')
  })

  it('ends a turn whose caller has left', async () => {
    const desk = await open()('desk')
    const caller = new AbortController()
    const asked = desk.ask('wait', { signal: caller.signal })
    for await (const part of asked.parts) if (part.type === 'step') caller.abort()
    expect((await asked).stop).toBe('cancelled')
  })

  it('lists its sessions, and shows them in the parts of the turn', async () => {
    const desk = await open()('desk')
    const asked = desk.ask('delegate')
    const seen: string[] = []
    for await (const part of asked.parts) seen.push(part.type)
    expect(seen).toEqual(
      expect.arrayContaining(['tool-call', 'session-started', 'session-ended', 'tool-result', 'end']),
    )
    expect(await desk.sessions()).toMatchObject([{ status: 'succeeded', category: 'clerk', prompt: 'help' }])
  })

  it('counts a message once under an id', async () => {
    const desk = await open()('desk')
    const [one, two] = await Promise.all([desk.ask('once', { id: 'a' }), desk.ask('once', { id: 'a' })])
    expect([one.text, two.text]).toEqual(['Heard: once', 'Heard: once'])
    expect((await desk.ask('once', { id: 'a' })).text).toBe('Heard: once')
    expect((await desk.ask('more')).text).toBe('Heard: once, more')
  })

  it('has the turn so far in the parts of a message that was taken before, open or over', async () => {
    const desk = await open()('desk')
    const types = async (parts: AsyncIterable<AskPart>, until: string) => {
      const read: string[] = []
      for await (const { type } of parts) {
        read.push(type)
        if (type === until) return read
      }
      return read
    }
    const first = await types(desk.ask('buy', { id: 'a' }).parts, 'approval-requested')
    expect(first).toContain('tool-call')
    expect(await types(desk.ask('buy', { id: 'a' }).parts, 'approval-requested')).toEqual([
      'tool-call',
      'approval-requested',
    ])
    const [asked] = await desk.approvals()
    await desk.answer(asked?.approval ?? '', true)
    expect((await desk.attach()).text).toBe('It said: bought')
    expect(await types(desk.ask('buy', { id: 'a' }).parts, 'end')).toEqual(['tool-call', 'tool-result', 'text', 'end'])
    expect(await types(desk.ask('again', { id: 'b' }).parts, 'end')).not.toContain('tool-call')
  })

  it('gives an output as its schema says', async () => {
    const { output } = await (await open()('desk')).ask('number', { output: z.object({ number: z.number() }) })
    expect(output?.number).toBe(7)
  })

  it('shows the parts of its turn, and takes the answer of a person', async () => {
    const desk = await open()('desk')
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
    const desk = await open()('desk')
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

  it('shows text before the answer is committed, and none of it twice', async () => {
    const pen = new Pen()
    const asked = (await open(writers(pen))('desk')).ask('Write.')
    const reader = new Reader(asked.parts)
    const writing = await pen.next()
    writing.think('What did ')
    expect(await reader.until('thinking', 'What did ')).toEqual([])
    writing.think('he say? ')
    writing.write('Once ')
    expect(await reader.until('text', 'Once ')).toEqual([])
    writing.write('upon ')
    writing.write('a ')
    expect(await reader.until('text', 'Once upon a ')).toEqual([])
    writing.write('ti')
    writing.end('')
    const { text } = await asked
    expect(text).toBe('Once upon a ti')
    expect(await reader.until('end')).toEqual([])
    expect([reader.thinking, reader.text]).toEqual(['What did he say? ', text])
  })

  it('voids the text of a call that was cut off', async () => {
    const pen = new Pen()
    const asked = (await open(writers(pen))('desk')).ask('Write.')
    const reader = new Reader(asked.parts)
    const cut = await pen.next()
    cut.write('Once ')
    await reader.until('text', 'Once ')
    cut.fail('overloaded')
    expect(await reader.until('retry')).toEqual(['discarded'])
    const again = await pen.next()
    again.write('Twice ')
    await reader.until('text', 'Twice ')
    again.write('upon')
    again.end()
    expect((await asked).text).toBe('Twice upon')
    await reader.until('end')
    expect(reader.text).toBe('Twice upon')
  })

  it('voids the text of a turn that is cancelled', async () => {
    const pen = new Pen()
    const desk = await open(writers(pen))('desk')
    const asked = desk.ask('Write.')
    const reader = new Reader(asked.parts)
    const writing = await pen.next()
    writing.write('Once ')
    await reader.until('text', 'Once ')
    await desk.cancel()
    expect(await reader.until('end')).toContain('discarded')
    expect(reader.text).toBe('')
  })

  it('shows who comes in the midst of a text all of it', async () => {
    const pen = new Pen()
    const desk = await open(writers(pen))('desk')
    const first = new Reader(desk.ask('Write.').parts)
    const writing = await pen.next()
    writing.write('Once ')
    await first.until('text', 'Once ')
    const asked = desk.attach()
    const second = new Reader(asked.parts)
    // It is there once it has been told of what is there.
    await desk.sessions()
    writing.write('upon ')
    await second.until('text', 'Once upon ')
    writing.write('a time')
    writing.end()
    expect((await asked).text).toBe('Once upon a time')
    await second.until('end')
    expect(second.text).toBe('Once upon a time')
  })

  it('tells by its events what models stream in its sessions', async () => {
    const pen = new Pen()
    const desk = await open({ ...theShop, host: () => ({ ...host(), models: { shop, pen } }), clerk: 'pen/clerk' })(
      'desk',
    )
    const events = desk.events()
    await desk.message('delegate')
    const writing = await pen.next()
    writing.write('Once ')
    for await (const event of events) {
      if (event.type !== 'model-delta' || !('path' in event)) continue
      expect(event).toMatchObject({ index: 0, attempt: 1, delta: { type: 'text', text: 'Once ' } })
      break
    }
    writing.end()
    expect((await desk.attach()).text).toBe('It said: Once ')
  })
})

/** Worlds whose model a test writes for. */
function writers(pen: Pen): Shop {
  return { host: () => ({ models: { pen } }), model: 'pen/writer' }
}

/** Reads the parts of a turn, and keeps what counts of the text. */
class Reader {
  readonly #parts: AsyncIterator<AskPart>
  text = ''
  thinking = ''

  constructor(parts: AsyncIterator<AskPart>) {
    this.#parts = parts
  }

  /** Reads up to a part of a type, with so much text by then. Gives the types of all before it that are no text. */
  async until(type: AskPart['type'], text = ''): Promise<readonly string[]> {
    const before: string[] = []
    for (;;) {
      const { done, value: part } = await this.#parts.next()
      if (done === true) throw new Error(`There is no further ${type} in the turn.`)
      if (part.type === 'text' || part.type === 'thinking') this[part.type] += part.text
      else if (part.type !== type && part.type !== 'step') before.push(part.type)
      if (part.type === 'discarded') [this.text, this.thinking] = ['', '']
      if (part.type === type && (part.type === 'text' || part.type === 'thinking' ? this[part.type] : '') === text)
        return before
    }
  }
}
