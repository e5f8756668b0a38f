import { type Input, memoryStore, type StandardInput, standardSystems, type System, World } from 'entia'
import { tick } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { behaving, driven, emptyWorld, gate, rejection, reopened, turns, worldWith } from './driving.ts'
import { watchedStore } from '../stores/watched-store.ts'

declare module 'entia' {
  interface OwnInputs {
    weather: { readonly degrees: number }
  }
}

const message = (agent: number, text: string) => ({
  kind: 'message' as const,
  agent,
  message: { role: 'user' as const, content: [{ type: 'text' as const, text }] },
})

describe('an input that is posted', () => {
  it('resolves once it is committed, and not before', async () => {
    const held = gate()
    let hold = false
    const store = watchedStore(memoryStore(), { before: () => (hold ? held.promise : undefined) })
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models, store })
    await runner.start()
    await runner.idle()
    hold = true
    let committed = false
    const posted = runner.post(message(agent, 'Hello')).then(() => (committed = true))
    await turns(10)
    expect(committed).toBe(false)
    hold = false
    held.resolve()
    await posted
    expect(transcript(world, agent)[0]).toBe('user: Hello')
  })

  it('reaches the systems as data of its own: what the poster does to it later changes nothing', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    const content = [{ type: 'text' as const, text: 'Hello' }]
    const posted = runner.message(agent, { role: 'user', content })
    content[0] = { type: 'text', text: 'Goodbye' }
    await posted
    expect(transcript(world, agent)[0]).toBe('user: Hello')
  })

  it('of a kind of the program’s own is there for its systems', async () => {
    const seen: unknown[] = []
    const watching: System = {
      name: 'watching',
      priority: 0,
      inputs: ['weather'],
      run: ({ inputs }) => void seen.push(...inputs),
    }
    const { runner } = driven(new World({ systems: [...standardSystems(), watching] }))
    await runner.start()
    await runner.post({ kind: 'weather', degrees: -3 })
    expect(seen).toMatchObject([{ kind: 'started' }, { kind: 'weather', degrees: -3 }])
  })

  it('before the start, or after the stop, is refused', async () => {
    const { world, agent } = worldWith()
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await expect(runner.post(message(agent, 'a'))).rejects.toMatchObject({
      code: 'world-driven',
      message: expect.stringMatching(/await start\(\) first/) as string,
    })
    await runner.start()
    await runner.stop()
    await expect(runner.post(message(agent, 'a'))).rejects.toMatchObject({
      code: 'world-driven',
      message: expect.stringMatching(/was stopped/) as string,
    })
    await expect(runner.change(() => 1)).rejects.toMatchObject({ code: 'world-driven' })
    await expect(runner.idle()).rejects.toMatchObject({ code: 'world-driven' })
  })

  it('and is not taken before the Runner stops is rejected', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await runner.idle()
    const rejected = rejection(runner.post(message(agent, 'Hello')))
    await runner.stop()
    expect(await rejected).toMatchObject({
      code: 'world-driven',
      message: expect.stringMatching(/before this was committed/) as string,
    })
    expect(transcript(world, agent)).toEqual([])
  })
})

describe('an input under an id', () => {
  it('is taken once: the same id again is dropped and counted', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await Promise.all([runner.message(agent, 'a', { id: '1' }), runner.message(agent, 'a', { id: '1' })])
    await runner.post({ ...message(agent, 'b'), id: '1' })
    await runner.message(agent, 'c', { id: '2' })
    await runner.idle()
    const said = transcript(world, agent).filter((line) => line.startsWith('user'))
    expect(said).toEqual(['user: a', 'user: c'])
    expect(runner.stats.dropped).toBe(2)
  })

  it('is taken once from the world’s own inbox as well', async () => {
    const { world, agent } = worldWith({ messages: [] })
    for (const text of ['a', 'b']) world.post({ ...message(agent, text), id: '1' })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    world.post({ ...message(agent, 'c'), id: '1' })
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: a', 'assistant: Hi'])
    expect(runner.stats.dropped).toBe(2)
  })

  it('is known over a restart', async () => {
    const store = memoryStore()
    const { models } = behaving(() => 'Hi')
    const { world, agent } = worldWith({ messages: [] })
    const first = driven(world, { models, store })
    await first.runner.start()
    await first.runner.message(agent, 'a', { id: '1' })
    await first.runner.idle()
    await first.runner.stop()
    const second = await reopened(store, { models })
    await second.runner.start()
    await second.runner.message(agent, 'a', { id: '1' })
    await second.runner.idle()
    expect(transcript(second.world, agent)).toEqual(['user: a', 'assistant: Hi'])
    expect(second.runner.stats.dropped).toBe(1)
  })

  it('that comes again before the first is committed resolves with that one', async () => {
    const held = gate()
    let hold = false
    const store = watchedStore(memoryStore(), { before: () => (hold ? held.promise : undefined) })
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models, store })
    await runner.start()
    await runner.idle()
    hold = true
    const first = runner.message(agent, 'a', { id: '1' })
    await turns(10)
    let committed = false
    const second = runner.message(agent, 'a', { id: '1' }).then(() => (committed = true))
    await turns(10)
    expect(committed).toBe(false)
    hold = false
    held.resolve()
    await Promise.all([first, second])
    expect(runner.stats.dropped).toBe(1)
  })

  it('whose tick could not be committed is refused when it comes again, and taken after a restart', async () => {
    const inner = memoryStore()
    let isFull = false
    const store = watchedStore(inner, {
      before: () => {
        if (isFull) throw new Error('disk full')
      },
    })
    const { models } = behaving(() => 'Hi')
    const { world, agent } = worldWith({ messages: [] })
    const first = driven(world, { models, store })
    await first.runner.start()
    await first.runner.idle()
    isFull = true
    const refused = { code: 'store-failed' }
    await expect(first.runner.message(agent, 'a', { id: '1' })).rejects.toMatchObject(refused)
    await expect(first.runner.message(agent, 'a', { id: '1' })).rejects.toMatchObject(refused)
    await first.runner.stop()
    isFull = false
    const second = await reopened(inner, { models })
    await second.runner.start()
    await second.runner.message(agent, 'a', { id: '1' })
    expect(transcript(second.world, agent)[0]).toBe('user: a')
  })

  it('that comes before the start is refused, and taken when it comes again', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await expect(runner.message(agent, 'a', { id: '1' })).rejects.toMatchObject({ code: 'world-driven' })
    await runner.start()
    await runner.message(agent, 'a', { id: '1' })
    expect(transcript(world, agent)[0]).toBe('user: a')
  })

  it('that was refused may come again, as it should be', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await expect(runner.post({ kind: 'message', agent } as StandardInput, { id: '1' })).rejects.toMatchObject({
      code: 'invalid-input',
    })
    await runner.message(agent, 'a', { id: '1' })
    expect(transcript(world, agent)[0]).toBe('user: a')
  })
})

const cyclic: Record<string, unknown> = { kind: 'news' }
cyclic['self'] = cyclic
const change = { kind: 'change', header: { tick: 9, nowMs: 0, dateOffsetMs: 0, next: 1, ids: 0, random: [1, 2, 3, 4] } }

const hostile: readonly [string, unknown, string, RegExp][] = [
  ['nothing', undefined, 'not-json', /expected JSON/],
  ['null', null, 'invalid-input', /with a text in 'kind'/],
  ['a text', 'hello', 'invalid-input', /with a text in 'kind'/],
  ['a list', [{ kind: 'news' }], 'invalid-input', /with a text in 'kind'/],
  ['no kind', {}, 'invalid-input', /with a text in 'kind'/],
  ['a kind that is no text', { kind: 7 }, 'invalid-input', /with a text in 'kind'/],
  ['a cycle', cyclic, 'not-json', /a cycle/],
  ['a bigint', { kind: 'news', count: 5n }, 'not-json', /an input at count: expected JSON, got a bigint/],
  ['a function', { kind: 'news', run: () => 1 }, 'not-json', /a function/],
  ['a Date', { kind: 'news', at: new Date(0) }, 'not-json', /an instance of Date/],
  ['NaN', { kind: 'news', count: Number.NaN }, 'not-json', /NaN/],
  ['an id that is no text', { kind: 'news', id: 7 }, 'invalid-input', /Input 'news' at id/],
  ['an empty id', { kind: 'news', id: '' }, 'invalid-input', /Input 'news' at id/],
  ['a message without its text', { kind: 'message', agent: 1 }, 'invalid-input', /Input 'message' at message/],
  ['a message to nobody', { ...message(1, 'a'), agent: 'you' }, 'invalid-input', /Input 'message' at agent/],
  [
    'a message of the model',
    { kind: 'message', agent: 1, message: { role: 'assistant', content: [] } },
    'invalid-input',
    /at message\.role/,
  ],
  ['a message with more to it', { ...message(1, 'a'), urgent: true }, 'invalid-input', /Input 'message': .*urgent/],
  ['half an answer', { kind: 'answer', approval: 'a' }, 'invalid-input', /Input 'answer' at approved/],
  [
    'an outcome that is none',
    { kind: 'outcome', effect: 1, attempt: 1, outcome: { ok: 'yes' } },
    'invalid-input',
    /at outcome/,
  ],
  ['a start', { kind: 'started', dateMs: 0, retry: {} }, 'invalid-input', /'started' are the Runner's own/],
  ['an admission', { kind: 'admitted', effect: 1, attempt: 1 }, 'invalid-input', /'admitted' are the Runner's own/],
  ['a timer', { kind: 'due', effect: 1, attempt: 1 }, 'invalid-input', /'due' are the Runner's own/],
  ['a change', change, 'invalid-input', /use runner\.change/],
]

describe('what is no input', () => {
  it.each(hostile)('is refused, and nothing has happened: %s', async (_, input, code, text) => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await runner.idle()
    const before = world.hash()
    await expect(runner.post(input as StandardInput)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(text) as string,
    })
    expect(() => world.post(input as Input)).toThrow(expect.objectContaining({ code }))
    await runner.idle()
    expect(world.hash()).toBe(before)
    await runner.message(agent, 'Still there?')
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Still there?', 'assistant: Hi'])
  })

  it.each([
    ['a message to what does not exist', message(999, 'a'), 'input-refused'],
    ['a cancel of what does not exist', { kind: 'cancel', agent: 999 }, 'input-refused'],
    ['an answer to what nobody asked', { kind: 'answer', approval: 'x', approved: true }, 'input-dropped'],
    [
      'an outcome of what does not exist',
      { kind: 'outcome', effect: 999, attempt: 1, outcome: { ok: true, value: 1 } },
      'input-dropped',
    ],
  ] as const)('by what it says is told of: %s', async (_, input, type) => {
    const { runner, told } = driven(emptyWorld())
    await runner.start()
    await runner.post(input)
    expect(told(type)).toHaveLength(1)
  })

  it('is refused when no system takes its kind, with the names that are near', async () => {
    const { runner } = driven(emptyWorld())
    await runner.start()
    const refused = {
      code: 'invalid-input',
      message: expect.stringMatching(/'mesage'.*Did you mean 'message'.*inputs:/) as string,
    }
    await expect(runner.post({ kind: 'mesage' } as never)).rejects.toMatchObject(refused)
  })

  it('to an agent that is not there rejects: a message, a cancel, a reset of the watchdog', async () => {
    const { world, runner } = driven(emptyWorld())
    await runner.start()
    await runner.change((each) => each.spawn())
    const before = world.tick
    for (const nobody of [999, 1]) {
      const refused = { code: 'unknown-entity', message: expect.stringContaining(`Entity ${nobody}`) as string }
      await expect(runner.message(nobody, 'Hello')).rejects.toMatchObject(refused)
      await expect(runner.cancel(nobody)).rejects.toMatchObject(refused)
      await expect(runner.resetWatchdog(nobody)).rejects.toMatchObject(refused)
    }
    expect(world.tick).toBe(before)
  })

  it('does not matter by the names it has', async () => {
    const watching: System = { name: 'watching', priority: 0, inputs: ['weather'], run: () => undefined }
    const { world, runner } = driven(new World({ systems: [...standardSystems(), watching] }))
    await runner.start()
    for (const kind of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      await expect(runner.post({ kind } as never)).rejects.toThrow(`No system takes inputs of kind '${kind}'`)
    }
    await runner.post(JSON.parse('{"kind":"weather","__proto__":{"polluted":true}}') as never)
    expect('polluted' in {}).toBe(false)
    expect(world.entities()).toEqual([])
  })

  it('and forges a reply fails the turn, not the world', async () => {
    const { world, agent } = worldWith()
    const begun = gate()
    const { models } = behaving(() => (begun.resolve(), new Promise<never>(() => undefined)))
    const { runner, next } = driven(world, { models })
    const called = next('model-called')
    await runner.start()
    const { effect } = await called
    await begun.promise
    await runner.post({ kind: 'outcome', effect, attempt: 1, outcome: { ok: true, value: 'gotcha' } })
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: [turn failed: internal]'])
  })
})

describe('what is posted to a world', () => {
  it('before the start comes in with it, in order', async () => {
    const { world, agent } = worldWith({ messages: [] })
    world.post(message(agent, 'a'))
    world.post(message(agent, 'b'))
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: a', 'user: b', 'assistant: Hi'])
  })

  it('and is no input keeps it from starting, once', async () => {
    const { world, agent } = worldWith({ messages: [] })
    world.post(message(agent, 'a'))
    world.post({ kind: 'message', agent })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await expect(runner.start()).rejects.toMatchObject({ code: 'invalid-input' })
    expect(world.tick).toBe(0)
    await runner.start()
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: a', 'assistant: Hi'])
  })

  it('while it is driven goes to its Runner', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    world.post(message(agent, 'a'))
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: a', 'assistant: Hi'])
  })

  it('and is not taken before its Runner stops waits for the next', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { models } = behaving(() => 'Hi')
    const first = driven(world, { models })
    await first.runner.start()
    await first.runner.idle()
    world.post(message(agent, 'a'))
    await first.runner.stop()
    expect(transcript(world, agent)).toEqual([])
    const second = driven(world, { models })
    await second.runner.start()
    await second.runner.idle()
    expect(transcript(world, agent)).toEqual(['user: a', 'assistant: Hi'])
  })
})

describe('a world that is driven', () => {
  it('is ticked by nobody else', async () => {
    const { world, runner } = driven(emptyWorld())
    await runner.start()
    expect(() => tick(world)).toThrow(expect.objectContaining({ code: 'world-driven' }))
    await runner.stop()
    expect(tick(world).delta.tick).toBe(world.tick)
  })
})
