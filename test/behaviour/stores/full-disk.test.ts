import { memoryStore, sqliteStore, user, VirtualClock } from 'entia'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { behaving, driven, rejection, reopened, turns, worldWith } from '../turns/driving.ts'
import { watchedStore } from './watched-store.ts'

describe('a disk that is full', () => {
  it('ends the run after three tries: nothing begins, and what was committed is the world', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'entia-disk-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const small = sqliteStore({ folder, synchronous: 'normal', maxSizeBytes: 200_000 })
    const { world, agent } = worldWith({ messages: [] })
    const { models, requests } = behaving(() => 'Hi')
    const clock = new VirtualClock()
    const { runner, told } = driven(world, { models, store: small, clock })
    await runner.start()
    await runner.message(agent, 'small')
    await runner.idle()
    const [hash, calls] = [world.hash(), requests.length]

    const posted = runner.message(agent, 'x'.repeat(400_000))
    await expect(posted).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringMatching(
        /^Tick \d+ of world 'world' could not be committed in 3 tries: .+ Nothing of it has begun\./,
      ) as string,
    })
    await expect(runner.idle()).rejects.toMatchObject({ code: 'store-failed' })
    expect(told('commit-failed').map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(clock.now()).toBe(550)
    await turns()
    expect(requests).toHaveLength(calls)

    await runner.stop()
    expect(() => world.spawn()).toThrow(expect.objectContaining({ code: 'world-driven' }))
    await expect(driven(world, { models }).runner.start()).rejects.toMatchObject({ code: 'world-driven' })
    await small.close()

    const large = sqliteStore({ folder, synchronous: 'normal' })
    const again = await reopened(large, { models })
    expect(again.world.hash()).toBe(hash)
    await again.runner.start()
    await again.runner.message(agent, 'x'.repeat(400_000))
    await again.runner.idle()
    expect(transcript(again.world, agent).map((line) => line.slice(0, 13))).toEqual([
      'user: small',
      'assistant: Hi',
      'user: xxxxxxx',
      'assistant: Hi',
    ])
    expectValid(again.world, agent)
    await again.runner.stop()
    await large.close()
  })

  it('at the start refuses it, and the world is as it was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'entia-disk-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const store = sqliteStore({ folder, synchronous: 'normal', maxSizeBytes: 100_000 })
    const { world, agent } = worldWith({ messages: [user('x'.repeat(400_000))] })
    const { models } = behaving(() => 'Hi')
    const { runner } = driven(world, { models, store })
    await expect(runner.start()).rejects.toMatchObject({ code: 'store-failed' })
    await runner.stop()
    await store.close()
    const { runner: without } = driven(world, { models })
    await without.start()
    await without.idle()
    expect(transcript(world, agent).at(-1)).toBe('assistant: Hi')
  })
})

describe('a commit that fails', () => {
  it('once and then not is told of, and the run goes on', async () => {
    let failures = 2
    const store = watchedStore(memoryStore(), {
      before: (ticks) => {
        if (ticks.length > 0 && failures-- > 0) throw new Error('busy')
      },
    })
    const { world, agent } = worldWith()
    const { models, requests } = behaving(() => 'Hi')
    const { runner, told } = driven(world, { models, store })
    await runner.start()
    await runner.idle()
    expect(told('commit-failed')).toMatchObject([
      { tick: 1, attempt: 1, message: 'busy' },
      { tick: 1, attempt: 2, message: 'busy' },
    ])
    expect(requests).toHaveLength(1)
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
    await runner.stop()
    expect((await reopened(store, { models })).world.hash()).toBe(world.hash())
  })

  it('while the Runner is stopped is not tried forever', async () => {
    let isBroken = false
    const store = watchedStore(memoryStore(), {
      before: () => {
        if (isBroken) throw new Error('gone')
      },
    })
    const { world, agent } = worldWith({ messages: [] })
    const clock = new VirtualClock({ auto: false })
    const { runner, next } = driven(world, { models: behaving(() => 'Hi').models, store, clock })
    await runner.start()
    await runner.idle()
    isBroken = true
    const failed = next('commit-failed')
    const posted = rejection(runner.message(agent, 'a'))
    await failed
    const stopping = runner.stop()
    await turns()
    clock.advance(50)
    await stopping
    expect(await posted).toMatchObject({ code: 'store-failed' })
  })
})
