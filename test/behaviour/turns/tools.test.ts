import { type EffectKind, LastTurn, type Tool, type ToolOutput, VirtualClock } from 'entia'
import { Effect, Outcome, Pending, ToolRegistry } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { behaving, calling, driven, gate, settled, turns, worldWith } from './driving.ts'
import { tool, wait } from './tools.ts'

/** What the model reads of a call of this tool. */
async function readOf(made: Tool, args: object | string = {}): Promise<string> {
  const { world, agent } = worldWith({ tools: [made] })
  const { models } = behaving(calling({ name: made.declaration.name, arguments: args }))
  await settled(world, { models, tools: [made] })
  expect(world.read(agent, LastTurn).stop).toBe('done')
  expectValid(world, agent)
  return transcript(world, agent)[2]?.replace('tool call-1-0', '') ?? ''
}

describe('a tool call', () => {
  it('of an unknown tool is answered so', async () => {
    const { world, agent } = worldWith({ tools: [wait] })
    await settled(world, { models: behaving(calling({ name: 'fly' })).models, tools: [wait] })
    expect(transcript(world, agent)[2]).toBe('tool call-1-0!: Error: there is no tool named fly.')
  })

  it('that fails its schema says where and what was expected', async () => {
    expect(await readOf(wait, { n: 'soon' })).toBe(
      "!: Error: Invalid arguments for 'wait': n: expected number, received string",
    )
  })

  it.each([['{"n": 5'], ['5'], ['null'], ['["n", 5]']])(
    'whose arguments are %s is told that they are no object',
    async (args) => {
      expect(await readOf(wait, args)).toBe("!: Error: Invalid arguments for 'wait': they are no JSON object.")
    },
  )

  it.each([
    `{"n":${'['.repeat(250)}${']'.repeat(250)}}`,
    `{"n":${'['.repeat(9_999)}${']'.repeat(9_999)}}`,
    '{"n": 1e999}',
  ])('whose arguments no World can hold is told why', async (args) => {
    expect(await readOf(wait, args)).toBe(
      "!: Error: Invalid arguments for 'wait': they must nest at most 240 levels deep, and have no number beyond " +
        '1.8e308. Write deep structures and larger numbers as text.',
    )
  })

  it('whose arguments nest as deep as they may runs', async () => {
    const { world, agent } = worldWith({ tools: [wait] })
    const args = `{"n":1,"x":${'['.repeat(239)}${']'.repeat(239)}}`
    await settled(world, { models: behaving(calling({ name: 'wait', arguments: args })).models, tools: [wait] })
    expect(transcript(world, agent)[2]).not.toContain('Error')
  })
})

describe('a tool', () => {
  const cyclic: Record<string, unknown> = { name: 'me' }
  cyclic['self'] = cyclic

  it.each<[string, unknown, string | RegExp]>([
    ['nothing', undefined, ': [no output]'],
    ['a cycle', cyclic, /^!: Error: The tool ran, but its result is no JSON: .*self/],
    ['a bigint', { count: 5n }, /^!: Error: The tool ran, but its result is no JSON: .*count/],
    ['a function', () => 1, /^!: Error: The tool ran, but its result is no JSON/],
    ['half of a ToolOutput', { content: [{ type: 'text' }] }, /^!: Error: The tool ran, but its result is malformed/],
  ])('that gives %s is answered with what is wrong with it', async (_, result, line) => {
    expect(await readOf(tool('give', () => result))).toMatch(line)
  })

  it('that gives 50 MB is cut, and says how much is missing', async () => {
    const line = await readOf(tool('give', () => 'x'.repeat(50_000_000)))
    expect(line).toMatch(/^: x+\n\[49950000 characters left out\]$/)
    expect(line.length).toBeLessThan(50_100)
  })

  it.each<[string, unknown, string]>([
    ['an error', new TypeError('boom'), '!: Error: TypeError: boom'],
    ['a text', 'boom', '!: Error: boom'],
    ['nothing', undefined, '!: Error: undefined was thrown'],
    ['an object', { code: 7 }, '!: Error: { code: 7 } was thrown'],
    [
      'what cannot be read',
      {
        get message() {
          throw new Error('ha')
        },
      },
      '!: Error: something was thrown that cannot be read',
    ],
  ])('that throws %s has failed, at once or later', async (_, thrown, line) => {
    const throwing = () => {
      throw thrown
    }
    expect(await readOf(tool('now', throwing))).toBe(line)
    expect(await readOf(tool('later', async ({ sleep }) => sleep(1).then(throwing)))).toBe(line)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no blocks', { isError: true }],
    ['blocks that there are not', { content: [{ type: 'song' }] }],
    ['what is no JSON', { content: () => [] }],
  ])('made by hand that gives %s has failed, and nothing else has', async (_, output) => {
    const { declaration } = wait
    expect(await readOf({ declaration, call: async () => output as ToolOutput }, { n: 1 })).toMatch(/^!: Error: /)
  })

  it('made by hand that throws before it gives a promise has failed', async () => {
    const call = () => {
      throw new Error('not even begun')
    }
    expect(await readOf({ declaration: wait.declaration, call }, { n: 1 })).toBe('!: Error: not even begun')
  })

  it('that is gone from the host when it is called is answered so', async () => {
    const { world, agent } = worldWith({ tools: [wait] })
    const { models } = behaving(calling({ name: 'fly' }))
    const { runner } = driven(world, { models, tools: [wait] })
    await runner.start()
    const fly = tool('fly', () => 'up')
    await runner.change((world) => world.set(agent, ToolRegistry, { tools: [fly.declaration] }))
    await runner.idle()
    expect(transcript(world, agent)[2]).toBe("tool call-1-0!: Error: Tool 'fly' has no handler on this host.")
  })
})

describe('a tool that hangs', () => {
  it('is given up after its time, which is the world’s', async () => {
    const hanging = tool('hang', ({ sleep }) => sleep(1e9), { timeoutMs: 60_000 })
    const { world, agent } = worldWith({ tools: [hanging] })
    await settled(world, { models: behaving(calling({ name: 'hang' })).models, tools: [hanging] })
    expect(world.nowMs).toBe(60_000)
    expect(transcript(world, agent)[2]).toBe('tool call-1-0!: Error: The tool effect did not end within 60000 ms.')
  })

  it('and ignores its signal frees its slot; what it gives in the end is dropped and counted', async () => {
    const clock = new VirtualClock({ auto: false })
    const [end, begun] = [gate<string>(), gate()]
    const deaf = tool('deaf', () => (begun.resolve(), end.promise), { timeoutMs: 40 })
    const { world, agent } = worldWith({ tools: [deaf, wait] })
    const next = { name: 'wait', arguments: { n: 5 } }
    const { models } = behaving(calling({ name: 'deaf' }, next))
    const { runner, next: heard } = driven(world, { models, tools: [deaf, wait], clock, maxInFlight: 1 })
    await runner.start()
    await begun.promise
    await turns()
    clock.advance(40)
    await turns()
    clock.advance(5)
    await heard('turn-ended')
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-1-0!: Error: The tool effect did not end within 40 ms.',
      'tool call-1-1: waited 5',
      'assistant: Done.',
    ])
    expect(runner.stats).toMatchObject({ dropped: 0, inFlight: 0 })
    const { length } = transcript(world, agent)
    end.resolve('at last')
    await turns()
    expect(runner.stats.dropped).toBe(1)
    expect(transcript(world, agent)).toHaveLength(length)
  })

  it('sees its signal abort', async () => {
    const aborted = gate<unknown>()
    const listening = tool(
      'listen',
      async ({ signal, sleep }) => {
        signal.addEventListener('abort', () => aborted.resolve(signal.reason))
        await sleep(1e9)
      },
      { timeoutMs: 10 },
    )
    const { world } = worldWith({ tools: [listening] })
    await settled(world, { models: behaving(calling({ name: 'listen' })).models, tools: [listening] })
    expect(await aborted.promise).toMatchObject({ name: 'AbortError' })
  })
})

describe('what a tool tells', () => {
  it('reaches listeners while it runs, and no more once it has ended', async () => {
    const lingering = tool('linger', async ({ progress, sleep }) => {
      progress('half way', 0.5)
      void sleep(50).then(() => progress('too late'))
      await sleep(20)
    })
    const { world, agent } = worldWith({ tools: [lingering, wait] })
    const { models } = behaving(calling({ name: 'linger' }, { name: 'wait', arguments: { n: 90 } }))
    const { told } = await settled(world, { models, tools: [lingering, wait] })
    expect(told('tool-progressed')).toMatchObject([{ agent, world: 'world', message: 'half way', fraction: 0.5 }])
  })
})

describe('a key', () => {
  it('is one call’s alone', async () => {
    const keys: string[] = []
    const keyed = tool('book', ({ key, attempt }) => void keys.push(`${key} ${attempt}`), { restart: 'keyed' })
    const { world } = worldWith({ tools: [keyed] }, 'hotel')
    await settled(world, { models: behaving(calling({ name: 'book' }, { name: 'book' })).models, tools: [keyed] })
    expect(new Set(keys).size).toBe(2)
    expect(keys.every((key) => /^hotel\/\d+ 1$/.test(key))).toBe(true)
  })
})

describe('an effect of a program’s own', () => {
  const effect = (kind: string) => Effect({ kind, restart: 'pure', attempt: 1 })

  it.each<[string, EffectKind | undefined, string]>([
    ['of which nothing is known', undefined, "Nothing on this host does effects of kind 'odd'"],
    [
      'that cannot be prepared',
      {
        prepare: () => {
          throw new Error('no world for it')
        },
      },
      'no world for it',
    ],
    ['that throws', { prepare: () => () => Promise.reject(new Error('no luck')) }, 'no luck'],
    ['that gives no outcome', { prepare: () => async () => undefined as never }, 'The outcome is malformed'],
    ['that gives half an outcome', { prepare: () => async () => ({ ok: false }) as never }, 'The outcome is malformed'],
    [
      'whose outcome is no JSON',
      { prepare: () => async () => ({ ok: true, value: 5n }) as never },
      'expected JSON, got a bigint',
    ],
  ])('%s fails, and the world goes on', async (_, kind, message) => {
    const { world } = worldWith({ messages: [], model: 'ollama/x' })
    const odd = world.spawn(effect('odd'), Pending)
    await settled(world, kind === undefined ? {} : { effects: { odd: kind } })
    expect(world.read(odd, Outcome)).toMatchObject({
      ok: false,
      failure: { kind: 'internal', message: expect.stringContaining(message) as string },
    })
  })

  it('with nothing to do waits for the input that ends it, and the clock does not wait with it', async () => {
    const { world } = worldWith({ messages: [], model: 'ollama/x' })
    const open = world.spawn(effect('letter'), Pending)
    const late = world.spawn(Effect({ kind: 'letter', restart: 'pure', attempt: 1, deadlineMs: 500 }), Pending)
    const { runner } = driven(world, { effects: { letter: { prepare: () => undefined } } })
    await runner.start()
    await turns(20)
    expect(world.get(late, Outcome)).toMatchObject({ ok: false, failure: { kind: 'timed-out' } })
    expect(world.has(open, Pending)).toBe(true)
    await runner.post({ kind: 'outcome', effect: open, attempt: 1, outcome: { ok: true, value: 'it came' } })
    await runner.idle()
    expect(world.read(open, Outcome)).toEqual({ ok: true, value: 'it came' })
    expect(runner.stats.dropped).toBe(0)
  })
})
