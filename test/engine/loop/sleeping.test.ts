import { type Clock, fail, Host, memoryStore, Paused, realClock, Runner, scripted, user, Conversation } from 'entia'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addAgent, behaving, calling, turns, worldWith } from '../../behaviour/turns/driving.ts'
import { tool } from '../../behaviour/turns/tools.ts'

/** Real time, and how many timers a Runner has on it. */
function watchedClock(): Clock & { readonly timers: number } {
  let timers = 0
  return {
    ...realClock,
    get timers() {
      return timers
    },
    at(instantMs, fire) {
      timers++
      let isOver = false
      const end = (): void => {
        if (!isOver) timers--
        isOver = true
      }
      const cancel = realClock.at(instantMs, () => {
        end()
        fire()
      })
      return () => {
        end()
        cancel()
      }
    },
  }
}

/** Waits until no immediate is left: what polls by them never lets that happen. */
async function expectNoImmediate(): Promise<void> {
  await expect.poll(() => process.getActiveResourcesInfo()).not.toContain('Immediate')
}

async function started(runner: Runner): Promise<void> {
  onTestFinished(() => runner.stop())
  await runner.start()
}

describe('a Runner on real time', () => {
  it('has no timer of a tool that has ended before what it raced', async () => {
    const hasty = tool('hasty', ({ sleep }) => {
      // One sleep is raced, another is forgotten.
      void sleep(1e9)
      setImmediate(() => void sleep(1e9))
      return Promise.race([Promise.resolve('Quick.'), sleep(1e9)])
    })
    const { world, agent } = worldWith({ tools: [hasty] })
    const { models } = behaving(calling({ name: 'hasty' }))
    const clock = watchedClock()
    const runner = new Runner(world, { models, tools: [hasty], store: memoryStore(), clock })
    await started(runner)
    await runner.message(agent, 'Go')
    await runner.idle()
    await turns()
    expect(clock.timers).toBe(0)
  })

  it('with nothing to do has no timer and no immediate, and wakes for what comes in', async () => {
    const { world, agent } = worldWith()
    const clock = watchedClock()
    const runner = new Runner(world, { models: behaving(() => 'Hi').models, store: memoryStore(), clock })
    await started(runner)
    await runner.idle()
    await turns()
    expect(clock.timers).toBe(0)
    await expectNoImmediate()
    const { tick } = world
    await turns()
    expect(world.tick).toBe(tick)
    await runner.message(agent, 'Hello')
    await runner.idle()
    expect(world.read(agent, Conversation)).toHaveLength(4)
    await turns()
    expect(clock.timers).toBe(0)
    await expectNoImmediate()
  })

  it('with an agent that is paused, and one that waits for a person, sleeps as well', async () => {
    const send = tool('send', () => 'sent', { approval: true })
    const { world } = worldWith({ tools: [send] })
    world.add(addAgent(world), Paused)
    const { models } = behaving(calling({ name: 'send' }))
    const clock = watchedClock()
    const runner = new Runner(world, { models, tools: [send], approve: 'by-input', clock })
    const asked = new Promise((resolve) => void runner.on('approval-requested', resolve))
    await started(runner)
    await asked
    await turns()
    expect(clock.timers).toBe(0)
    await expectNoImmediate()
  })

  it('with a retry due has that one timer, and none once it is stopped', async () => {
    const { world } = worldWith()
    const retry = { maxAttempts: 2, firstDelayMs: 60_000, maxDelayMs: 60_000, kinds: ['overloaded' as const] }
    const clock = watchedClock()
    const runner = new Runner(world, { models: behaving(() => fail('overloaded'), { retry }).models, clock })
    const scheduled = new Promise((resolve) => void runner.on('retry-scheduled', resolve))
    await started(runner)
    await scheduled
    await turns()
    expect(clock.timers).toBe(1)
    await runner.stop()
    expect(clock.timers).toBe(0)
    await expectNoImmediate()
  })

  it('that is done lets the process end, even if a provider asked to be left alone', async () => {
    const { world } = worldWith()
    const { models } = behaving(() => fail('rate-limited', { retryAfterMs: 60_000 }))
    const clock = watchedClock()
    const runner = new Runner(world, { models, clock })
    await started(runner)
    await runner.idle()
    await runner.stop()
    await turns()
    expect(clock.timers).toBe(0)
    await expectNoImmediate()
  })

  it('keeps its host’s holds for others that share it', async () => {
    const clock = watchedClock()
    const host = new Host({
      clock,
      models: { scripted: scripted(() => fail('rate-limited', { retryAfterMs: 60_000 })) },
    })
    onTestFinished(() => host.close())
    const { world } = worldWith()
    const runner = new Runner(world, { host })
    await started(runner)
    await runner.idle()
    await runner.stop()
    expect(clock.timers).toBe(1)
    host.close()
    expect(clock.timers).toBe(0)
    await expectNoImmediate()
  })

  it('gives a tool that takes its time that much of it', async () => {
    const nap = tool('nap', async ({ sleep }) => sleep(15), { timeoutMs: 5_000 })
    const { world, agent } = worldWith({ tools: [nap], messages: [user('Sleep')] })
    const clock = watchedClock()
    const runner = new Runner(world, { models: behaving(calling({ name: 'nap' })).models, tools: [nap], clock })
    await started(runner)
    await runner.idle()
    await turns()
    expect(world.nowMs).toBeGreaterThanOrEqual(14)
    expect(world.read(agent, Conversation)).toHaveLength(4)
    expect(clock.timers).toBe(0)
    await expectNoImmediate()
  })
})
