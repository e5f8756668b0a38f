import { agent, Host, Llm, Runner, type RunnerOptions, scripted, VirtualClock } from 'entia'
import { ToolRegistry } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { addAgent, behaving, driven, emptyWorld, settled, worldWith } from '../../behaviour/turns/driving.ts'
import { tool } from '../../behaviour/turns/tools.ts'

const [a, b] = [tool('a', () => 'a'), tool('b', () => 'b')]

describe('a world that needs what its host lacks', () => {
  it.each<[string, Parameters<typeof worldWith>[0], RunnerOptions, string, RegExp]>([
    [
      'a tool',
      { tools: [a, b] },
      { tools: [a] },
      'missing-handler',
      /Entity 1 has the tool 'b', and the host has no handler for it/,
    ],
    [
      'a provider',
      { model: 'acme/x' },
      {},
      'unknown-provider',
      /Entity 1 has the model 'acme\/x', .*no provider 'acme'\. Known: .*scripted/,
    ],
    ['a provider of that very name', { model: 'constructor/x' }, {}, 'unknown-provider', /no provider 'constructor'/],
  ])('is not started, and %s is named before the first tick', async (_, options, host, code, message) => {
    const { world } = worldWith(options)
    const { models, requests } = behaving(() => 'Hi')
    const { runner } = driven(world, { models, ...host })
    await expect(runner.start()).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string })
    expect([world.tick, requests.length]).toEqual([0, 0])
    world.add(1, Llm({ model: 'scripted/x' }))
    world.add(1, ToolRegistry({ tools: [] }))
    const { runner: next } = driven(world, { models })
    await next.start()
    await next.idle()
    expect(requests).toHaveLength(1)
  })

  it('is looked at agent by agent', async () => {
    const { world } = worldWith()
    const wrong = addAgent(world, { model: 'acme/x' })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await expect(runner.start()).rejects.toMatchObject({ details: { entity: wrong, model: 'acme/x' } })
  })

  it('may have the built-in providers without naming them', async () => {
    const world = emptyWorld()
    for (const name of ['anthropic', 'openai', 'ollama', 'moonshot']) world.spawn(...agent({ model: `${name}/x` }))
    await settled(world)
    expect(world.tick).toBe(1)
  })
})

describe('a Runner', () => {
  it('starts once', async () => {
    const { runner } = driven(emptyWorld())
    await runner.start()
    await expect(runner.start()).rejects.toMatchObject({
      code: 'world-driven',
      message: expect.stringMatching(/starts once/) as string,
    })
  })

  it('takes its world’s date from its clock, and world time from where it stood', async () => {
    const world = emptyWorld()
    const first = driven(world, { clock: new VirtualClock({ dateMs: 1_000_000, auto: false }) })
    await first.runner.start()
    await first.runner.idle()
    expect([world.nowMs, world.dateMs]).toEqual([0, 1_000_000])
    ;(first.runner.host.clock as VirtualClock).advance(500)
    await first.runner.change(() => undefined)
    expect([world.nowMs, world.dateMs]).toEqual([500, 1_000_500])
    await first.runner.stop()
    const second = driven(world, { clock: new VirtualClock({ dateMs: 9_000_000, auto: false }) })
    await second.runner.start()
    await second.runner.idle()
    expect([world.nowMs, world.dateMs]).toEqual([500, 9_000_000])
  })

  it.each<[string, object, RegExp]>([
    ['an unknown option', { maxInflight: 3 }, /Runner: unknown option maxInflight\. Known: host, store/],
    ['an unknown option beside a host', { host: new Host(), speed: 3 }, /unknown option speed/],
    [
      'a host and what belongs to one',
      { host: new Host(), tools: [a], clock: new VirtualClock() },
      /tools, clock beside 'host'/,
    ],
    ['two tools of a name', { tools: [a, tool('a', () => 1)] }, /two tools are called 'a'/],
  ])('refuses %s', (_, options, message) => {
    expect(() => new Runner(emptyWorld(), options as RunnerOptions)).toThrow(message)
  })

  it('shares its host with others', async () => {
    const host = new Host({ clock: new VirtualClock(), models: { scripted: scripted(() => 'Hi') } })
    const worlds = ['a', 'b', 'c'].map((name) => worldWith({}, name).world)
    const ended: string[] = []
    const runners = worlds.map((world) => new Runner(world, { host }))
    for (const runner of runners) runner.on('turn-ended', ({ world }) => ended.push(world))
    await Promise.all(runners.map((runner) => runner.start()))
    await Promise.all(runners.map((runner) => runner.idle()))
    await Promise.all(runners.map((runner) => runner.stop()))
    expect(ended.toSorted()).toEqual(['a', 'b', 'c'])
  })
})

describe('a Host', () => {
  it('refuses options that there are not', () => {
    expect(() => new Host({ model: {} } as object)).toThrow(/Host: unknown option model\. Known: models, tools/)
  })
})

describe('an agent', () => {
  it('is not made of options that there are not', () => {
    const options = { model: 'acme/x', maxStep: 3 } as Parameters<typeof agent>[0]
    expect(() => agent(options)).toThrow(/agent\(\): unknown option maxStep\. Known: model, system/)
  })
})
