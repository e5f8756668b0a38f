import { fail, Host, memoryStore, Paused, realClock, Runner, scripted, user, Conversation } from 'entia'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addAgent, behaving, calling, turns, worldWith } from './driving.ts'
import { tool } from './tools.ts'

/** What keeps the process awake besides what kept it awake before. */
function awake(): (before?: readonly string[]) => string[] {
  const before = timers()
  return () => {
    const now = timers()
    for (const name of before) now.splice(now.indexOf(name), now.includes(name) ? 1 : 0)
    return now
  }
}

function timers(): string[] {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'Immediate')
}

async function started(runner: Runner): Promise<void> {
  onTestFinished(() => runner.stop())
  await runner.start()
}

describe('a Runner on real time', () => {
  it('with nothing to do has no timer and no immediate, and wakes for what comes in', async () => {
    const { world, agent } = worldWith()
    const runner = new Runner(world, { models: behaving(() => 'Hi').models, store: memoryStore(), clock: realClock })
    const since = awake()
    await started(runner)
    await runner.idle()
    await turns()
    expect(since()).toEqual([])
    const { tick } = world
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(world.tick).toBe(tick)
    await runner.message(agent, 'Hello')
    await runner.idle()
    expect(world.read(agent, Conversation)).toHaveLength(4)
    await turns()
    expect(since()).toEqual([])
  })

  it('with an agent that is paused, and one that waits for a person, sleeps as well', async () => {
    const send = tool('send', () => 'sent', { approval: true })
    const { world } = worldWith({ tools: [send] })
    world.add(addAgent(world), Paused)
    const { models } = behaving(calling({ name: 'send' }))
    const runner = new Runner(world, { models, tools: [send], approve: 'by-input' })
    const since = awake()
    const asked = new Promise((resolve) => void runner.on('approval-requested', resolve))
    await started(runner)
    await asked
    await turns()
    expect(since()).toEqual([])
  })

  it('with a retry due has that one timer, and none once it is stopped', async () => {
    const { world } = worldWith()
    const retry = { maxAttempts: 2, firstDelayMs: 60_000, maxDelayMs: 60_000, kinds: ['overloaded' as const] }
    const runner = new Runner(world, { models: behaving(() => fail('overloaded'), { retry }).models })
    const since = awake()
    const scheduled = new Promise((resolve) => void runner.on('retry-scheduled', resolve))
    await started(runner)
    await scheduled
    await turns()
    expect(since()).toEqual(['Timeout'])
    await runner.stop()
    expect(since()).toEqual([])
  })

  it('that is done lets the process end, even if a provider asked to be left alone', async () => {
    const { world } = worldWith()
    const { models } = behaving(() => fail('rate-limited', { retryAfterMs: 60_000 }))
    const runner = new Runner(world, { models })
    const since = awake()
    await started(runner)
    await runner.idle()
    await runner.stop()
    await turns()
    expect(since()).toEqual([])
  })

  it('keeps its host’s holds for others that share it', async () => {
    const host = new Host({ models: { scripted: scripted(() => fail('rate-limited', { retryAfterMs: 60_000 })) } })
    onTestFinished(() => host.close())
    const { world } = worldWith()
    const runner = new Runner(world, { host })
    const since = awake()
    await started(runner)
    await runner.idle()
    await runner.stop()
    expect(since()).toEqual(['Timeout'])
    host.close()
    expect(since()).toEqual([])
  })

  it('gives a tool that takes its time that much of it', async () => {
    const nap = tool('nap', async ({ sleep }) => sleep(15), { timeoutMs: 5_000 })
    const { world, agent } = worldWith({ tools: [nap], messages: [user('Sleep')] })
    const runner = new Runner(world, { models: behaving(calling({ name: 'nap' })).models, tools: [nap] })
    const since = awake()
    await started(runner)
    await runner.idle()
    await turns()
    expect(world.nowMs).toBeGreaterThanOrEqual(14)
    expect(world.read(agent, Conversation)).toHaveLength(4)
    expect(since()).toEqual([])
  })
})
