import {
  agent,
  type HostOptions,
  memoryStore,
  realClock,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  World,
  worlds as worldsOf,
} from 'entia'
import { Delegated, DelegationLimits, SubagentSession } from 'entia/components'
import type { SharedStore } from 'entia/stores'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Board } from '../../../src/engine/fleet/board.ts'
import { letterLine } from '../../../src/protocol/letter.ts'
import { FleetWorlds } from '../../../src/runtime/agents/fleet-worlds.ts'
import { tool } from '../turns/tools.ts'
import { fleet, known, place } from './fleet.ts'

const buy = tool('buy', () => 'bought', { approval: true })

/** The chief has a clerk do it, the clerk a buyer, and the buyer buys. */
const office = scripted(({ messages }) => {
  const last = messages.at(-1)
  const said = textOf(messages.at(0))
  if (last?.role === 'tool') return `${said}: ${textOf(last)}`
  if (said === 'Buy.') return { toolCalls: [{ name: 'buy' }] }
  const prompt = said === 'Tell the buyer.' ? 'Buy.' : 'Tell the buyer.'
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt } }] }
})

function make(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'office/clerk', tools: [buy] }),
    SubagentRegistry({
      subagents: { clerk: { name: 'clerk', inheritancePolicy: { inheritTools: ['subagent', 'buy'] } } },
    }),
    DelegationLimits({ depth: 3, tokens: 1_000_000 }),
  )
  return world
}

const host = (): HostOptions => ({ models: { office }, tools: [buy], approve: 'by-input' })

const bought = 'Get me one.: Tell the buyer.: Buy.: bought'

function offices() {
  const made = fleet({ host, make, cap: 3 })
  const worlds = new FleetWorlds({
    store: made.store,
    clock: realClock,
    known,
    make,
    place: (world) => place(made.store, world),
  })
  onTestFinished(() => worlds.close())
  return { ...made, desk: worlds.agent('desk') }
}

/** Puts a snapshot that is none in the place of a session's. */
async function damage(store: SharedStore, id: string): Promise<void> {
  const journal = await store.open(id, { root: 'desk' })
  await journal.commit({ snapshot: { tick: 0, lines: ['{"is":"broken"}'] } })
  await journal.close()
}

function depthOf(event: object): number {
  return 'path' in event && Array.isArray(event.path) ? event.path.length : 0
}

describe('a session that runs on another worker', () => {
  it('is heard in the events of its root world, in order, with its path', async () => {
    const { desk, worker } = offices()
    for (const name of ['one', 'two', 'three']) worker(name, { maxSessions: 1 })
    const events = desk.events()
    const seen: { readonly type: string }[] = []
    const asked = desk.ask('Get me one.')
    for await (const event of events) {
      seen.push(event)
      if (event.type === 'approval-requested') await desk.answer(event.approval as string, true)
      if (event.type === 'turn-ended' && depthOf(event) === 0) break
    }
    expect((await asked).text).toBe(bought)
    const told = new Set(['turn-started', 'turn-ended', 'session-ended'])
    const turns = seen.filter(({ type }) => told.has(type)).map((event) => `${event.type} ${depthOf(event)}`)
    expect(turns).toEqual([
      'turn-started 0',
      'turn-started 1',
      'turn-started 2',
      'turn-ended 2',
      'session-ended 1',
      'turn-ended 1',
      'session-ended 0',
      'turn-ended 0',
    ])
    expect(seen.filter(({ type }) => type === 'approval-requested').map(depthOf)).toEqual([2])
  })

  it('asks a person who was not there when it did, and takes the answer', async () => {
    const { desk, next, worker } = offices()
    for (const name of ['one', 'two']) worker(name, { maxSessions: 2 })
    const asked = next(({ type }) => type === 'approval-requested')
    await desk.message('Get me one.')
    await asked
    const open = await desk.approvals()
    expect(open).toMatchObject([{ tool: 'buy', arguments: {}, path: [expect.any(String), expect.any(String)] }])
    const answer = desk.attach()
    await desk.answer(open[0]?.approval ?? '', true)
    expect((await answer).text).toBe(bought)
    expect(await desk.approvals()).toEqual([])
  })

  it('has spent what its World says where it is given up, since who gives it up does not know', async () => {
    const { desk, next, read, store, worker } = offices()
    worker('one', { maxSessions: 2 })
    const asked = next(({ type }) => type === 'approval-requested')
    await desk.message('Get me one.')
    await asked
    const recordIn = (world: World) => {
      const [session = 0] = world.query(SubagentSession)
      return world.read(session, SubagentSession)
    }
    const { sessionId } = recordIn(await read('desk'))
    const ended = next((event) => event.type === 'turn-ended' && depthOf(event) === 0)
    const end = { ok: false as const, error: 'Its workers have died.', kind: 'internal' as const }
    const line = letterLine({ session: sessionId, news: { kind: 'end', end } })
    await store.post({ root: 'desk', world: 'desk', line, id: `${sessionId}/end` })
    await ended
    expect(recordIn(await read('desk'))).toMatchObject({ status: 'failed', usage: { calls: 1, sessions: 1 } })
  })

  it('tells an answer that is too long for a letter by its World, and its model is called once', async () => {
    let calls = 0
    const long = 'x'.repeat(5_000_000)
    const models = {
      office: scripted(({ messages }) => {
        const last = messages.at(-1)
        if (textOf(messages.at(0)) === 'Write.') return (calls++, long)
        if (last?.role === 'tool') return `It wrote ${textOf(last).length > 0 ? 'something' : 'nothing'}.`
        return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt: 'Write.' } }] }
      }),
    }
    const { board, desk, read, worker } = offices()
    worker('one', { has: { ...host(), models } })
    expect((await desk.ask('Have it written.')).text).toBe('It wrote something.')
    expect(calls).toBe(1)
    const world = await read('desk')
    const [session = 0] = world.query(SubagentSession)
    expect(world.read(session, SubagentSession)).toMatchObject({ status: 'succeeded', usage: { calls: 1 } })
    expect(board.unfinished).toEqual([])
  })

  it.each([
    ['is lost', (store: SharedStore, id: string) => store.delete(id)],
    ['is damaged', damage],
  ] as const)('ends as interrupted where its World %s, and its parent goes on', async (_, harm) => {
    const { board, desk, read, store, worker } = offices()
    worker('root', { maxSessions: 0 })
    const answer = desk.ask('Get me one.')
    await expect.poll(() => board.unfinished).toHaveLength(1)
    await harm(store, board.unfinished[0]?.sessionId ?? '')
    worker('one', { maxWorlds: 0 })
    expect((await answer).text).toMatch(/^Get me one\.: Error: Subagent 'clerk' failed: restored_without/)
    const world = await read('desk')
    const [session = 0] = world.query(SubagentSession)
    expect(world.read(session, SubagentSession)).toMatchObject({
      status: 'failed',
      error: 'restored_without_live_task_handle',
    })
  })

  it('emits its last events once more where its worker died just after its end, which who reads them has once', async () => {
    const models = {
      office: scripted(({ messages }) => {
        if (textOf(messages.at(0)) === 'Write.') return 'Written.'
        if (messages.at(-1)?.role === 'tool') return 'Done.'
        return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt: 'Write.' } }] }
      }),
    }
    const has = { ...host(), models }
    const { board, desk, next, worker } = offices()
    const isEnd = (event: { readonly type: string }): boolean => event.type === 'turn-ended' && depthOf(event) === 1
    const heard: string[] = []
    void (async () => {
      for await (const event of desk.events()) heard.push(`${event.type} ${depthOf(event)}`)
    })()
    const first = next(isEnd)
    worker('root', { has, maxSessions: 0 })
    // It dies: it takes nothing more, and never says that the session is finished.
    const dead = Promise.withResolvers<void>()
    onTestFinished(() => dead.resolve())
    let isDead = false
    const through = (line: Board): Board => ({
      ...line,
      next: async (asking) => (isDead ? [] : line.next(asking)),
      finished: () => ((isDead = true), dead.promise),
    })
    worker('one', { has, maxWorlds: 0, through })
    await desk.message('Have it written.')
    const seen = await first
    const second = next(isEnd)
    board.suspect('one')
    worker('two', { has, maxWorlds: 0 })
    expect(await second).toEqual(seen)
    // Who reads the events of the root world has each once, whichever worker emitted it.
    await expect.poll(() => heard).toContain('turn-ended 0')
    expect(heard.filter((event) => event === 'turn-ended 1')).toEqual(['turn-ended 1'])
  })

  it('has spent what its end says where it was cancelled before that was taken up', async () => {
    const ends = Promise.withResolvers<void>()
    const models = {
      office: scripted(async ({ messages }) => {
        if (textOf(messages.at(0)) === 'Write.')
          return (await ends.promise, { text: 'Written.', usage: { input: 10, output: 5 } })
        return { toolCalls: [{ name: 'subagent', arguments: { category: 'clerk', prompt: 'Write.' } }] }
      }),
    }
    const has = { ...host(), models }
    const { board, desk, next, post, read, worker } = offices()
    const root = worker('root', { has, maxSessions: 0 })
    worker('one', { has, maxWorlds: 0 })
    const writes = next((event) => event.type === 'model-called' && depthOf(event) === 1)
    await desk.message('Have it written.')
    await writes
    await root.stop()
    ends.resolve()
    await expect.poll(() => board.unfinished).toEqual([])
    await post('desk', { kind: 'cancel' })
    worker('other', { has, maxSessions: 0 })
    await expect
      .poll(async () => {
        const world = await read('desk')
        const [session = 0] = world.query(SubagentSession)
        return [world.read(session, SubagentSession).status, world.get(1, Delegated)?.spentTokens]
      })
      .toEqual(['cancelled', 15])
  })

  it('shows its question in the parts of the turn', async () => {
    const { desk, worker } = offices()
    worker('one')
    const asked = desk.ask('Get me one.')
    for await (const part of asked.parts)
      if (part.type === 'approval-requested') await desk.answer(part.approval, { approved: false, reason: 'too dear' })
    expect((await asked).text).toMatch('too dear')
  })
})

describe('a root world that only waits for a person', () => {
  it('is parked, and goes on when the answer comes', async () => {
    const { desk, next, store, worker } = offices()
    worker('one')
    const stopped = next((event) => event.type === 'runner-stopped' && event.world === 'shop')
    const shop = new FleetWorlds({
      store,
      clock: realClock,
      known,
      make,
      place: (world) => place(store, world),
    }).agent('shop')
    await shop.message('Buy.')
    await stopped
    expect((await store.list()).find(({ name }) => name === 'shop')?.heldBy).toBeUndefined()
    const [open] = await shop.approvals()
    const answer = shop.attach()
    await shop.answer(open?.approval ?? '', true)
    expect((await answer).text).toBe('Buy.: bought')
    expect(await desk.approvals()).toEqual([])
  })
})

describe('a world of one process, by its name', () => {
  it('lists the approvals that its sessions ask for, and takes the answers', async () => {
    const store = memoryStore()
    const chats = worldsOf(store, { make, models: { office }, tools: [buy], approve: 'by-input' })
    onTestFinished(() => chats.close())
    const asked = new Promise((resolve) => chats.on('approval-requested', resolve))
    const desk = chats.agent('desk')
    const answer = desk.ask('Get me one.')
    await asked
    const [open, ...more] = await desk.approvals()
    expect(more).toEqual([])
    expect(open).toMatchObject({ tool: 'buy', arguments: {}, path: [expect.any(String), expect.any(String)] })
    await desk.answer(open?.approval ?? '', true)
    expect((await answer).text).toBe(bought)
  })
})
