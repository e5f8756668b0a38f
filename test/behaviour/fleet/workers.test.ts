import {
  agent,
  type HostOptions,
  lastText,
  memoryStore,
  scripted,
  type ScriptedBehaviour,
  standardSystems,
  SubagentRegistry,
  textOf,
  World,
} from 'entia'
import { Conversation, DelegationLimits, SubagentSession } from 'entia/components'
import type { SharedStore } from 'entia/stores'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Board } from '../../../src/engine/fleet/board.ts'
import { fleet } from './fleet.ts'

const parts: Readonly<Record<string, string>> = { house: 'wall', wall: 'brick', brick: 'grain of sand' }

/** Each has another one make the main part of its thing, and then makes the thing. */
const build: ScriptedBehaviour = ({ messages }) => {
  const thing = textOf(messages.at(0)).replace('Make a ', '').replace('.', '')
  const last = messages.at(-1)
  if (last?.role === 'tool') return `${thing} made (${textOf(last)})`
  const part = parts[thing]
  if (part === undefined) return `${thing} made`
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'builder', prompt: `Make a ${part}.` } }] }
}
const builder = scripted(build)

function builders(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'script/builder' }),
    SubagentRegistry({
      subagents: { builder: { name: 'builder', inheritancePolicy: { inheritTools: ['subagent', 'subagent_wait'] } } },
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

describe('a worker with room for one session', () => {
  it('runs sessions of sessions, since one that only waits takes no room', async () => {
    const { next, post, read, worker } = fleet({ host, make: builders, cap: 1 })
    worker('one', { maxSessions: 1 })
    const end = next(ended)
    await post('desk', message)
    await end
    const world = await read('desk')
    expect(lastText(world, world.query(Conversation)[0] ?? 0)).toBe(
      'house made (wall made (brick made (grain of sand made)))',
    )
  })
})

describe('a session that has a slot and waits for its parent to grant what it may spend', () => {
  it('lets its parent go first, which has lost its worker and finds no room but there', async () => {
    const hangs = Promise.withResolvers<void>()
    let tries = 0
    /** One has another one work in the background, and is at work meanwhile. */
    const office = scripted(async ({ messages }) => {
      const said = textOf(messages.at(0))
      if (said === 'Work.') return 'worked'
      const answers = messages.filter(({ role }) => role === 'tool').length
      if (answers === 0) {
        const more = said === 'Pass it on.' ? { prompt: 'Work.', background: true } : { prompt: 'Pass it on.' }
        return { toolCalls: [{ name: 'subagent', arguments: { category: 'builder', ...more } }] }
      }
      if (said !== 'Pass it on.') return `it ${textOf(messages.at(-1))}`
      if (answers > 1) return 'is done'
      tries++
      if (tries === 1) await hangs.promise
      return { toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all' } }] }
    })
    const store = memoryStore()
    const stuck = new Set<string>()
    const hanging: SharedStore = {
      ...store,
      open: async (world, options) => {
        const journal = await store.open(world, options)
        const commit = journal.commit.bind(journal)
        journal.commit = async (batch) => {
          if (stuck.has(world) && options?.holder === 'one') await hangs.promise
          await commit(batch)
        }
        return journal
      },
    }
    const host = (): HostOptions => ({ models: { script: office } })
    const { board, next, post, read, worker } = fleet({ host, make: builders, cap: 2, store: hanging })
    onTestFinished(() => hangs.resolve())
    worker('one', { maxSessions: 1 })
    const launched = next((event) => event.type === 'model-called' && 'path' in event && event.step === 2)
    const end = next(ended)
    await post('desk', message)
    await launched
    await expect.poll(() => board.unfinished).toHaveLength(2)
    const [mid, last] = board.unfinished
    stuck.add(mid?.sessionId ?? '')
    worker('two', { maxSessions: 1 })
    await expect.poll(() => last && board.holderOf(last)).toBe('two')
    board.suspect('one')
    await end
    const world = await read('desk')
    expect(lastText(world, world.query(Conversation)[0] ?? 0)).toBe('it is done')
  })
})

describe('a session that only waits', () => {
  it('is taken over without a slot, as long as another one has the only one', async () => {
    const hangs = Promise.withResolvers<void>()
    onTestFinished(() => hangs.resolve())
    const slow = scripted(async (request, call) => {
      if (textOf(request.messages.at(0)) === 'Make a brick.') await hangs.promise
      return build(request, call)
    })
    const host = (): HostOptions => ({ models: { script: slow } })
    const { board, next, post, read, worker } = fleet({ host, make: builders, cap: 1 })
    const patient = { idleMs: 1e9, maxSessions: 1 }
    let isTaken = false
    /** Takes the first session alone. */
    const through = (its: Board): Board => ({
      ...its,
      next: async (asking) => {
        const claims = isTaken ? [] : await its.next(asking)
        isTaken ||= claims.length > 0
        return claims
      },
    })
    const one = worker('one', { ...patient, through })
    const end = next(ended)
    await post('desk', message)
    const holders = () => board.unfinished.map((order) => board.holderOf(order))
    await expect.poll(holders).toEqual(['one', undefined])
    worker('two', patient)
    await expect.poll(holders).toEqual(['one', 'two'])
    await one.stop()
    await expect.poll(holders).toEqual(['two', 'two'])
    expect(board.running).toBe(1)
    hangs.resolve()
    await end
    const world = await read('desk')
    expect(lastText(world, world.query(Conversation)[0] ?? 0)).toMatch(/^house made/)
  })
})

describe('a worker that is thought dead and is not', () => {
  it.each(Array.from({ length: 6 }, (_, seed) => seed))('is succeeded, and tells nothing (seed %i)', async (seed) => {
    const { board, events, next, post, read, worker } = fleet({ host, make: builders, cap: 2 })
    const names = ['one', 'two', 'three']
    for (const name of names) worker(name, { maxSessions: 2 })
    const end = next(ended)
    let count = 0
    const suspected = next((event) => {
      count++
      if (count % (seed % 7 === 0 ? 5 : seed + 3) !== 0 || count > 60) return false
      board.suspect(names[(count + seed) % 3] ?? 'one')
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

describe('a session of a fleet whose budget others have reserved', () => {
  /** Has three researchers at work at once, and says what came of them. */
  const office = scripted(
    ({ messages }) => {
      if (textOf(messages.at(0)) !== 'Find out.') return 'found'
      const answers = messages.filter(({ role }) => role === 'tool').map((message) => textOf(message))
      if (answers.length > 0) return answers.join(', ')
      const call = { name: 'subagent', arguments: { category: 'researcher', prompt: 'Look.' } }
      return { toolCalls: [call, call, call] }
    },
    { usage: { input: 2 } },
  )

  function desk(name: string): World {
    const world = new World({ name, systems: standardSystems() })
    world.spawn(
      ...agent({ model: 'script/office' }),
      SubagentRegistry({ subagents: { researcher: { name: 'researcher', limits: { tokens: 10 } } } }),
      DelegationLimits({ tokens: 14 }),
    )
    return world
  }

  it.each([1, 3])('rests without a slot, and runs once they have left enough, with %i slots for all', async (cap) => {
    const { board, next, post, read, worker } = fleet({ host: () => ({ models: { script: office } }), make: desk, cap })
    for (const name of ['one', 'two']) worker(name)
    const end = next(ended)
    await post('desk', {
      ...message,
      message: { ...message.message, content: [{ type: 'text', text: 'Find out.' }] },
    })
    await end
    const world = await read('desk')
    expect(lastText(world, world.query(Conversation)[0] ?? 0)).toBe('found, found, found')
    expect(board.running).toBe(0)
  })
})
