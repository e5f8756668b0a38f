import { agent, type HostOptions, lastText, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { Conversation, DelegationLimits, SubagentSession } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { fleet } from './fleet.ts'

const parts: Readonly<Record<string, string>> = { house: 'wall', wall: 'brick', brick: 'grain of sand' }

/** Each has another one make the main part of its thing, and then makes the thing. */
const builder = scripted(({ messages }) => {
  const thing = textOf(messages.at(0)).replace('Make a ', '').replace('.', '')
  const last = messages.at(-1)
  if (last?.role === 'tool') return `${thing} made (${textOf(last)})`
  const part = parts[thing]
  if (part === undefined) return `${thing} made`
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'builder', prompt: `Make a ${part}.` } }] }
})

function builders(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'script/builder' }),
    SubagentRegistry({
      subagents: { builder: { name: 'builder', inheritancePolicy: { inheritTools: ['subagent'] } } },
    }),
    DelegationLimits({ depth: 3 }),
  )
  return world
}

const host = (): HostOptions => ({ models: { script: builder } })
const message = {
  kind: 'message',
  agent: 1,
  message: { role: 'user', content: [{ type: 'text', text: 'Make a house.' }] },
}

const ended = (event: { readonly type: string; readonly path?: unknown }): boolean =>
  event.type === 'turn-ended' && event.path === undefined

describe('a fleet', () => {
  it('makes a world at its first letter, drives it, and parks it', async () => {
    const { next, post, read, store, worker } = fleet({ host, make: builders })
    worker('one')
    const end = next(ended)
    const stopped = next(({ type }) => type === 'runner-stopped')
    await post('desk', {
      ...message,
      message: { ...message.message, content: [{ type: 'text', text: 'Make a crystal.' }] },
    })
    await end
    await stopped
    const world = await read('desk')
    expect(lastText(world, world.query(Conversation)[0] ?? 0)).toBe('crystal made')
    expect((await store.list())[0]).not.toHaveProperty('letters')
  })

  it('runs sessions of sessions on whichever worker has room, with one slot for all of them', async () => {
    const { board, events, next, post, read, worker } = fleet({ host, make: builders, cap: 1 })
    for (const name of ['one', 'two', 'three']) worker(name, { maxSessions: 1 })
    const end = next(ended)
    await post('desk', message)
    await end
    const world = await read('desk')
    expect(lastText(world, world.query(Conversation)[0] ?? 0)).toBe(
      'house made (wall made (brick made (grain of sand made)))',
    )
    expect(world.query(SubagentSession).map((session) => world.read(session, SubagentSession).status)).toEqual([
      'succeeded',
    ])
    expect(events.filter(({ type }) => type === 'letter-refused')).toEqual([])
    expect(board.running).toBe(0)
  })
})

describe('a worker that is thought dead and is not', () => {
  it.each(Array.from({ length: 40 }, (_, seed) => seed))('is succeeded, and tells nothing (seed %i)', async (seed) => {
    const { board, events, next, post, read, worker } = fleet({ host, make: builders, cap: 2 })
    const names = ['one', 'two', 'three']
    for (const name of names) worker(name, { maxSessions: 2 })
    const end = next(ended)
    let count = 0
    const suspected = next((event) => {
      count++
      if (count % (seed % 7 === 0 ? 5 : seed + 3) !== 0 || count > 60) return false
      board.lost(names[(count + seed) % 3] ?? 'one')
      expect(board.running, event.type).toBeLessThanOrEqual(2)
      return false
    })
    void suspected
    await post('desk', message)
    await end
    const world = await read('desk')
    expect(lastText(world, world.query(Conversation)[0] ?? 0)).toBe(
      'house made (wall made (brick made (grain of sand made)))',
    )
    expect(events.filter(({ type }) => type === 'letter-refused')).toEqual([])
  })
})
