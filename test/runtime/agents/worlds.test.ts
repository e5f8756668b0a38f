import {
  agent,
  type AskPart,
  Conversation,
  fail,
  memoryStore,
  type RunnerEvent,
  scripted,
  sqliteStore,
  standardSystems,
  type Store,
  textOf,
  VirtualClock,
  World,
  worlds,
  type WorldsOptions,
} from 'entia'
import fc from 'fast-check'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gate, rejection, turns } from '../../behaviour/turns/driving.ts'
import { tool } from '../../behaviour/turns/tools.ts'

const held = { gate: gate<unknown>() }
const open = tool('open', () => held.gate.promise)
const shy = tool('shy', () => 'bought', { approval: true })

/** Answers with what was said so far, `hold` by waiting, `buy` by asking a person. */
const shop = scripted(({ messages }) => {
  const said = messages.filter(({ role }) => role === 'user').map(textOf)
  const last = messages.at(-1)
  if (last?.role === 'user' && said.at(-1) === 'hold') return { toolCalls: [{ name: 'open' }] }
  if (last?.role === 'user' && said.at(-1) === 'buy') return { toolCalls: [{ name: 'shy' }] }
  return `Heard: ${said.join(', ')}`
})

function make(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'shop/assistant', tools: [open, shy] }))
  return world
}

function shops(store: Store, options: Partial<WorldsOptions> = {}) {
  const made: string[] = []
  const clock = new VirtualClock({ auto: false })
  const all = worlds(store, {
    make: (name) => (made.push(name), make(name)),
    models: { shop },
    tools: [open, shy],
    approve: 'by-input',
    clock,
    ...options,
  })
  onTestFinished(() => all.close())
  return { all, clock, made, world: (name: string) => all.agent(name) }
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'entia-worlds-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

/** Waits until something is so, while everything goes on that can. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !isSo(); turn++) await turns(1)
  expect(isSo()).toBe(true)
}

describe('a world by name', () => {
  it('is made when it is first spoken to, and remembers what was said to it', async () => {
    const { made, world } = shops(memoryStore())
    expect((await world('alice').ask('one')).text).toBe('Heard: one')
    expect((await world('bob').ask('two')).text).toBe('Heard: two')
    expect((await world('alice').ask('three')).text).toBe('Heard: one, three')
    expect(made).toEqual(['alice', 'bob'])
  })

  it('is opened once for all who speak to it at the same time', async () => {
    const { made, world } = shops(memoryStore())
    const answers = await Promise.all(['a', 'b', 'c'].map((text) => world('alice').ask(text)))
    expect(answers[0]?.text).toContain('a')
    expect(made).toEqual(['alice'])
  })

  it('is closed when it was idle for long enough, and opened again from the store', async () => {
    const { all, clock, made, world } = shops(memoryStore(), { idleMs: 1_000 })
    await world('alice').ask('one')
    await turns()
    clock.advance(999)
    await turns()
    expect(all.openCount).toBe(1)
    clock.advance(1)
    await until(() => all.openCount === 0)
    expect((await world('alice').ask('two')).text).toBe('Heard: one, two')
    expect(made).toEqual(['alice'])
  })

  it('stays open while it is at work, however long that takes', async () => {
    held.gate = gate()
    const { all, clock, world } = shops(memoryStore(), { idleMs: 1_000 })
    const called = new Promise((resolve) => void all.on('tool-called', resolve))
    const asking = world('alice').ask('hold')
    await called
    await world('alice').message('more')
    await turns()
    clock.advance(10_000)
    await turns()
    expect(all.openCount).toBe(1)
    held.gate.resolve('opened')
    expect((await asking).text).toBe('Heard: hold, more')
  })

  it('gives the parts of a turn, in the order in which they happen', async () => {
    const { world } = shops(memoryStore())
    const parts: AskPart[] = []
    for await (const part of world('alice').ask('one').parts) parts.push(part)
    expect(parts.map(({ type }) => type)).toEqual(['step', 'text', 'end'])
  })

  it('takes answers to what it has asked, cancels, and tells its sessions', async () => {
    held.gate = gate()
    const { world } = shops(memoryStore())
    const alice = world('alice')
    const parts: AskPart[] = []
    for await (const part of alice.ask('buy').parts) {
      parts.push(part)
      if (part.type === 'approval-requested')
        await alice.answer(part.approval, { approved: false, reason: 'Too dear.' })
    }
    const declined = [{ type: 'text', text: '[user declined: Too dear.]' }]
    expect(parts).toContainEqual(expect.objectContaining({ type: 'tool-result', result: declined }))
    const asking = alice.ask('hold')
    await turns()
    await alice.cancel('enough')
    expect(await asking).toMatchObject({ stop: 'cancelled' })
    expect(await alice.sessions()).toEqual([])
  })

  it('gives its events to a reader across closing and opening, and no other world gives any', async () => {
    const { all, clock, world } = shops(memoryStore(), { idleMs: 1 })
    const events = world('alice').events()
    await world('alice').ask('one')
    await world('bob').ask('two')
    await turns()
    clock.advance(1)
    await until(() => all.openCount === 0)
    await world('alice').ask('three')
    const seen: string[] = []
    for await (const event of events) {
      if (event.type === 'turn-ended') seen.push((event as { world: string }).world)
      if (seen.length === 2) break
    }
    expect(seen).toEqual(['alice', 'alice'])
  })
})

describe('places', () => {
  it('are few: the world that was used longest ago is closed for the next', async () => {
    const { all, world } = shops(memoryStore(), { maxOpen: 2 })
    for (const name of ['a', 'b', 'c', 'd', 'a']) {
      await world(name).ask('hi')
      expect(all.openCount).toBeLessThanOrEqual(2)
    }
    expect((await world('a').ask('again')).text).toBe('Heard: hi, hi, again')
  })

  it('are waited for in order while all worlds are at work', async () => {
    held.gate = gate()
    const { world } = shops(memoryStore(), { maxOpen: 1 })
    const order: string[] = []
    const first = world('a').ask('hold')
    const others = ['b', 'c', 'd'].map(async (name) => {
      await world(name).ask('hi')
      order.push(name)
    })
    await turns(20)
    expect(order).toEqual([])
    held.gate.resolve('opened')
    await Promise.all([first, ...others])
    expect(order).toEqual(['b', 'c', 'd'])
  })

  it('are given up by a world that only waits for a person, who is asked again when it is opened', async () => {
    const { world } = shops(memoryStore(), { maxOpen: 1 })
    await world('a').message('buy')
    await turns()
    expect((await world('b').ask('hi')).text).toBe('Heard: hi')
    const attached = world('a').attach()
    for await (const part of attached.parts) {
      if (part.type === 'approval-requested') await world('a').answer(part.approval, true)
    }
    expect((await attached).text).toBe('Heard: buy')
  })

  it('are given up by a world whose question has a deadline, which comes all the same, at its instant', async () => {
    const late = tool('late', () => 'bought', { approval: true, approvalTimeoutMs: 60_000 })
    const impatient = scripted(({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'user' ? { toolCalls: [{ name: 'late' }] } : textOf(last)
    })
    const { all, clock, world } = shops(memoryStore(), {
      make: (name) => {
        const made = new World({ name, systems: standardSystems() })
        made.spawn(...agent({ model: name === 'alice' ? 'impatient/x' : 'shop/x', tools: [late] }))
        return made
      },
      models: { impatient, shop },
      tools: [late],
      maxOpen: 1,
    })
    const ends: string[] = []
    const asked: string[] = []
    all.on('turn-ended', ({ nowMs, world: name }) => ends.push(`${name} ${nowMs}`))
    all.on('approval-requested', ({ world: name }) => asked.push(name))
    await world('alice').message('go')
    await until(() => asked.length === 1)
    clock.advance(10_000)
    expect((await world('bob').ask('hello')).text).toBe('Heard: hello')
    expect(all.openCount).toBe(1)
    clock.advance(49_999)
    await turns(20)
    expect(ends).toEqual(['bob 0'])
    clock.advance(1)
    // The deadline is past when the world is open again: it comes without time.
    await until(() => (clock.advance(0), ends.length === 2))
    expect(ends[1]).toBe('alice 60000')
  })

  it.each(['asks a person', 'waits for its next try'])(
    'are given up by a world that %s while another waits for one',
    async (what) => {
      const [begun, goOn] = [gate(), gate()]
      let tries = 0
      const busy = scripted(
        async ({ messages }) => {
          if (messages.at(-1)?.role === 'tool') return 'Done.'
          if (tries++ > 0) return 'Done.'
          begun.resolve()
          await goOn.promise
          return what === 'asks a person' ? { toolCalls: [{ name: 'shy' }] } : fail('overloaded')
        },
        { retry: { maxAttempts: 2, firstDelayMs: 60_000, maxDelayMs: 60_000, kinds: ['overloaded'] } },
      )
      const { all, clock, world } = shops(memoryStore(), {
        make: (name) => {
          const made = new World({ name, systems: standardSystems() })
          made.spawn(...agent({ model: name === 'alice' ? 'busy/x' : 'shop/x', tools: [shy] }))
          return made
        },
        models: { busy, shop },
        maxOpen: 1,
      })
      await world('alice').message('go')
      await begun.promise
      const asked = world('bob').ask('hello')
      await turns()
      goOn.resolve()
      expect((await asked).text).toBe('Heard: hello')
      const ended = new Promise<RunnerEvent>((resolve) => void all.on('turn-ended', resolve))
      for (const { approval } of await world('alice').approvals()) await world('alice').answer(approval, true)
      clock.advance(120_000)
      await until(() => (clock.advance(0), tries === 2 || what === 'asks a person'))
      expect(await ended).toMatchObject({ world: 'alice', stop: 'done' })
    },
  )

  it('are enough for many more worlds than are open', async () => {
    const { all, world } = shops(memoryStore(), { maxOpen: 50 })
    const names = Array.from({ length: 500 }, (_, index) => `user-${index}`)
    const answers = await Promise.all(names.map((name) => world(name).ask(`I am ${name}`)))
    expect(answers.map(({ text }) => text)).toEqual(names.map((name) => `Heard: I am ${name}`))
    expect(all.openCount).toBeLessThanOrEqual(50)
  })
})

describe('closing and speaking at once', () => {
  it('lose nothing, and take nothing twice, in whatever order they come', async () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      waits: fc.nat(6),
      advanceMs: fc.constantFrom(0, 1, 5),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), async (steps, maxOpen) => {
        const { all, clock, world } = shops(memoryStore(), { idleMs: 2, maxOpen })
        const said = new Map<string, string[]>()
        const answers = steps.map(() => Promise.resolve(''))
        for (const [index, { advanceMs, name, waits }] of steps.entries()) {
          said.set(name, [...(said.get(name) ?? []), `${index}`])
          answers[index] = world(name)
            .ask(`${index}`)
            .then(({ text }) => text)
          await turns(waits)
          clock.advance(advanceMs)
        }
        await Promise.all(answers)
        for (const [name, texts] of said) {
          expect((await world(name).ask('end')).text).toBe(`Heard: ${[...texts, 'end'].join(', ')}`)
        }
        await all.close()
      }),
      { numRuns: 60 },
    )
  })
})

describe('at the next start', () => {
  it('worlds that had work in flight go on by themselves, and the others stay closed', async () => {
    const path = await folder()
    held.gate = gate()
    const first = shops(sqliteStore({ folder: path }))
    await first.world('idle').ask('one')
    await first.world('busy').message('hold')
    await turns()
    await first.all.close()

    held.gate.resolve('opened')
    const second = shops(sqliteStore({ folder: path }))
    const ended = new Promise<RunnerEvent>((resolve) => void second.all.on('turn-ended', resolve))
    await second.all.ready()
    expect(await ended).toMatchObject({ world: 'busy', stop: 'done' })
    expect(second.all.openCount).toBe(1)
    expect((await second.world('busy').attach()).text).toBe('Heard: hold')
  })

  it('those that another program has open stay there', async () => {
    const path = await folder()
    held.gate = gate()
    const first = shops(sqliteStore({ folder: path }))
    await first.world('busy').message('hold')
    await turns()
    const warnings: unknown[] = []
    const hear = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', hear)
    onTestFinished(() => void process.off('warning', hear))

    const second = shops(sqliteStore({ folder: path }))
    await second.all.ready()
    await turns()
    expect(second.all.openCount).toBe(0)
    expect(warnings).toEqual([])
    expect(await rejection(second.world('busy').message('and?'))).toMatchObject({ code: 'world-locked' })
  })
})

describe('what goes wrong in one world', () => {
  it('leaves the others alone, and the next call tries again', async () => {
    let isBroken = true
    const { world } = shops(memoryStore(), {
      make: (name) => {
        if (name === 'broken' && isBroken) throw new Error('No such customer.')
        return make(name)
      },
    })
    expect(await rejection(world('broken').ask('hi'))).toMatchObject({ message: 'No such customer.' })
    expect((await world('fine').ask('hi')).text).toBe('Heard: hi')
    isBroken = false
    expect((await world('broken').ask('hi')).text).toBe('Heard: hi')
  })

  it.each<[string, Partial<WorldsOptions>, RegExp]>([
    ['no World', { make: () => 5 as never }, /must return a World, got 5/],
    ['a World of another name', { make: () => make('other') }, /returned a World named 'other'/],
    ['a World without agents', { make: (name) => new World({ name, systems: standardSystems() }) }, /has 0 agents/],
  ])('says what is expected of make, given %s', async (_, options, message) => {
    const { world } = shops(memoryStore(), options)
    expect(await rejection(world('a').ask('hi'))).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringMatching(message),
    })
  })

  it('frees its place', async () => {
    const { world } = shops(memoryStore(), { maxOpen: 1, make: (name) => (name === 'a' ? (5 as never) : make(name)) })
    await rejection(world('a').ask('hi'))
    expect((await world('b').ask('hi')).text).toBe('Heard: hi')
  })

  it('speaks to the agent that is named where there are several', async () => {
    const { world } = shops(memoryStore(), {
      make: (name) => {
        const twins = make(name)
        twins.spawn(...agent({ model: 'shop/assistant' }))
        return twins
      },
      agent: (twins) => twins.query(Conversation)[1] ?? 0,
    })
    expect((await world('a').ask('hi')).agent).toBe(2)
  })
})

describe('whether there is a world of a name', () => {
  it('is known without making it, also of one that is being made, and of one that is closed', async () => {
    const { all, clock, made, world } = shops(sqliteStore({ folder: await folder() }), { idleMs: 10 })
    expect(await all.exists('alice')).toBe(false)
    const asked = world('alice').ask('one')
    expect(await all.exists('alice')).toBe(true)
    await asked
    await until(() => (clock.advance(10), all.openCount === 0))
    expect([await all.exists('alice'), await all.exists('bob')]).toEqual([true, false])
    expect(all.openCount).toBe(0)
    expect(made).toEqual(['alice'])
    await expect(all.exists('')).rejects.toMatchObject({ code: 'invalid-argument' })
  })
})

describe('what cannot be asked for', () => {
  it.each<[string, () => unknown]>([
    ['an option that does not exist', () => worlds(memoryStore(), { make, idelMs: 5 } as never)],
    ['no make', () => worlds(memoryStore(), {} as never)],
    ['a store that is none', () => worlds({} as never, { make })],
    ['no place at all', () => worlds(memoryStore(), { make, maxOpen: 0 })],
    ['an empty name', () => shops(memoryStore()).world('')],
  ])('%s', (_, call) => {
    expect(call).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
  })

  it('anything after it was closed', async () => {
    const { all, world } = shops(memoryStore())
    await all.close()
    expect(await rejection(world('a').ask('hi'))).toMatchObject({ code: 'store-closed' })
  })
})
