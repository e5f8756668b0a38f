import {
  agent,
  fail,
  type HostOptions,
  lastText,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  World,
} from 'entia'
import { Conversation } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { letterLine } from '../../../src/protocol/letter.ts'
import { tool } from '../turns/tools.ts'
import { fleet } from './fleet.ts'

const say = (text: string) => ({
  kind: 'message',
  message: { role: 'user', content: [{ type: 'text', text }] },
})
const endOf = (world: string) => (event: { readonly type: string; readonly world?: unknown }) =>
  event.type === 'turn-ended' && event.world === world
const stopOf = (world: string) => (event: { readonly type: string; readonly world?: unknown }) =>
  event.type === 'runner-stopped' && event.world === world

const words = (world: World): string | undefined => lastText(world, world.query(Conversation)[0] ?? 0)

describe('a world that only waits for an instant', () => {
  it('is parked, is opened when it has come, and has slept that long', async () => {
    let tries = 0
    const retry = { maxAttempts: 2, firstDelayMs: 2_500, maxDelayMs: 2_500, kinds: ['overloaded' as const] }
    const late = scripted(() => (++tries > 1 ? 'there' : fail('overloaded')), { retry })
    const host = (): HostOptions => ({ models: { late } })
    const make = (name: string): World => {
      const world = new World({ name, systems: standardSystems() })
      world.spawn(...agent({ model: 'late/one' }))
      return world
    }
    const { next, post, read, store, worker } = fleet({ host, make })
    worker('one')
    const [stopped, ended] = [next(stopOf('desk')), next(endOf('desk'))]
    await post('desk', say('Go.'))
    await stopped
    const [parked] = await store.list()
    expect(parked).toMatchObject({ isBusy: true, wakeAtMs: expect.any(Number) })
    expect(parked).not.toHaveProperty('heldBy')
    const before = await read('desk')
    await ended
    const world = await read('desk')
    expect(words(world)).toBe('there')
    expect(world.nowMs - before.nowMs).toBeGreaterThan(2_000)
  })
})

describe('a world that only waits for its sessions', () => {
  it('is parked, and woken by their end', async () => {
    const release = Promise.withResolvers<void>()
    const office = scripted(async ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool') return `It said: ${textOf(last)}`
      if (textOf(messages.at(0)) !== 'Work.')
        return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt: 'Work.' } }] }
      await release.promise
      return 'worked'
    })
    const host = (): HostOptions => ({ models: { office } })
    const make = (name: string): World => {
      const world = new World({ name, systems: standardSystems() })
      world.spawn(...agent({ model: 'office/chief' }), SubagentRegistry({ subagents: { clerk: { name: 'clerk' } } }))
      return world
    }
    const { events, next, post, read, store, worker } = fleet({ host, make })
    worker('one')
    worker('two')
    const [stopped, ended] = [next(stopOf('desk')), next(endOf('desk'))]
    await post('desk', say('Have it done.'))
    await stopped
    const held = (await store.list()).filter(({ heldBy }) => heldBy !== undefined)
    expect(held.map(({ root }) => root)).toEqual(['desk'])
    release.resolve()
    await ended
    expect(words(await read('desk'))).toBe('It said: worked')
    expect(events.filter(({ type }) => type === 'letter-refused')).toEqual([])
  })
})

describe('a session that only waits for its own sessions', () => {
  it('is parked without a slot, and goes on where there is room when they have ended', async () => {
    const release = Promise.withResolvers<void>()
    const office = scripted(async ({ messages }) => {
      const last = messages.at(-1)
      const said = textOf(messages.at(0))
      if (last?.role === 'tool') return `${said} ${textOf(last)}`
      const prompt = said === 'Pass it on.' ? 'Work.' : 'Pass it on.'
      if (said !== 'Work.') return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt } }] }
      await release.promise
      return 'worked'
    })
    const host = (): HostOptions => ({ models: { office } })
    const make = (name: string): World => {
      const world = new World({ name, systems: standardSystems() })
      const clerk = { name: 'clerk', inheritancePolicy: { inheritTools: ['subagent'] } }
      world.spawn(...agent({ model: 'office/chief' }), SubagentRegistry({ subagents: { clerk } }))
      return world
    }
    const { board, events, next, post, read, store, worker } = fleet({ host, make, cap: 1 })
    worker('one', { maxSessions: 1 })
    const parked = next((event) => event.type === 'runner-stopped' && 'path' in event && event.path?.length === 1)
    const ended = next(endOf('desk'))
    await post('desk', say('Have it done.'))
    await parked
    expect((await store.list()).filter(({ heldBy }) => heldBy !== undefined)).toHaveLength(1)
    expect(board.running).toBe(1)
    release.resolve()
    await ended
    expect(words(await read('desk'))).toBe('Have it done. Pass it on. worked')
    expect(events.filter(({ type }) => type === 'letter-refused')).toEqual([])
  })
})

describe('a session that only waits for a person', () => {
  it('is parked without a slot, which others use, and does what was approved where there is room again', async () => {
    const bought: string[] = []
    const buy = tool('buy', () => void bought.push('bought'), { approval: true })
    const office = scripted(({ messages }) => {
      const last = messages.at(-1)
      const said = textOf(messages.at(0))
      if (last?.role === 'tool') return said === 'Buy it.' ? 'Bought.' : 'Both do.'
      if (said === 'Buy it.') return { toolCalls: [{ name: 'buy' }] }
      if (said === 'Work.') return 'worked'
      const inBackground = (category: string, prompt: string) => ({
        name: 'subagent',
        arguments: { category, prompt, background: true },
      })
      return messages.length > 1
        ? 'Well.'
        : { toolCalls: [inBackground('buyer', 'Buy it.'), inBackground('clerk', 'Work.')] }
    })
    const host = (): HostOptions => ({ models: { office }, tools: [buy], approve: 'by-input' })
    const make = (name: string): World => {
      const world = new World({ name, systems: standardSystems() })
      const subagents = { buyer: { name: 'buyer', tools: ['buy'] }, clerk: { name: 'clerk' } }
      world.spawn(...agent({ model: 'office/chief', tools: [buy] }), SubagentRegistry({ subagents }))
      return world
    }
    const { board, events, next, post, store, worker } = fleet({ host, make, cap: 1 })
    worker('one', { maxSessions: 1 })
    const type = (name: string) => (event: { readonly type: string }) => event.type === name
    const [asked, worked] = [next(type('approval-requested')), next(type('session-ended'))]
    await post('desk', say('Have it done.'))
    const { approval, world } = (await asked) as unknown as { approval: string; world: string }
    // The other one has the only slot meanwhile.
    await Promise.all([next(stopOf(world)), worked])
    expect((await store.list()).find(({ name }) => name === world)).not.toHaveProperty('heldBy')
    expect([bought, board.running]).toEqual([[], 0])
    const ended = next(type('session-ended'))
    await store.post({ root: 'desk', world, line: letterLine({ input: { kind: 'answer', approval, approved: true } }) })
    await ended
    expect(bought).toEqual(['bought'])
    expect(events.filter(({ type }) => type === 'letter-refused')).toEqual([])
  })
})
