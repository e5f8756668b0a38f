import { Conversation, type Entity, World } from 'entia'
import {
  Approval,
  AwaitingApproval,
  AwaitingReply,
  AwaitingSession,
  Due,
  Effect,
  GrantAwaited,
  Outcome,
  OwnedBy,
  Pending,
  Requested,
  Running,
  SessionQuery,
  ToolCall,
  WaitDeadline,
} from 'entia/components'
import { describe, expect, it } from 'vitest'
import { awaitedInView } from '../../../src/inspector/reading/awaited-in-view.ts'
import { rawComponents } from '../../../src/inspector/reading/raw-view.ts'
import { awaitedByAgent, awaitedInWorld } from '../../../src/rules/waiting/awaited-in.ts'
import { awakeAt, lendsSlot } from '../../../src/rules/waiting/awaited.ts'
import { RawWorld } from '../../../src/world/raw-world.ts'
import type { Part } from '../../systems/one-tick.ts'
import { sessionOf } from '../../systems/sessions/session-records.ts'

const call = (name: string) => ToolCall({ arguments: {}, callId: name, name })
const effect = (kind: string, more: Partial<Parameters<typeof Effect>[0]> = {}) =>
  Effect({ attempt: 1, kind, restart: 'pure', ...more })
const running = Running({ sinceMs: 0 })

/** Puts something open into a world. */
type Situation = (world: World, agent: Entity) => Entity

const thing =
  (...parts: readonly Part[]): Situation =>
  (world) =>
    world.spawn(...parts)
const asked = (more: Partial<Parameters<typeof Effect>[0]> = {}) =>
  thing(Approval({ arguments: {}, id: 'a', tool: 'buy' }), effect('approval', more), Pending)
const question =
  (...parts: readonly Part[]): Situation =>
  (world, agent) => {
    const session = sessionOf(world, agent, 'succeeded')
    return world.spawn(SessionQuery({ agent, id: 'q', prompt: 'And?', session }), ...parts)
  }
const queued: Situation = (world, agent) => sessionOf(world, agent, 'queued')

/** A world with an agent that owns what is open. */
function scene(situation: Situation) {
  const world = new World({ systems: [] })
  const agent = world.spawn(Conversation([]))
  const entity = situation(world, agent)
  world.add(entity, OwnedBy({ agent }))
  return { world, agent, entity }
}

const work = [undefined, undefined, undefined] as const

describe('what a world waits for', () => {
  // The columns: the instant that wakes it where answers are inputs and sessions run in a fleet; where answers are inputs; where a
  // callback answers. `undefined`: it is at work there. Then whether a session lends its slot meanwhile.
  it.each<[string, Situation, readonly (number | undefined)[], boolean]>([
    ['an approval', asked(), [Infinity, Infinity, undefined], true],
    ['an approval with a deadline', asked({ deadlineMs: 5 }), [5, 5, undefined], true],
    ['the next try of a call', thing(effect('model'), Due({ atMs: 7 })), [7, 7, 7], false],
    ['a timer', thing(effect('timer', { deadlineMs: 9 }), Pending), [9, 9, 9], false],
    ['a model call', thing(effect('model', { deadlineMs: 9 }), Pending), work, false],
    ['a tool that sleeps', thing(call('nap'), effect('tool', { timeoutMs: 9 }), Pending), work, false],
    [
      'a tool that runs and may run but once',
      thing(call('pay'), effect('tool', { restart: 'once' }), running),
      work,
      false,
    ],
    ['an effect that has not begun', thing(call('pay'), effect('tool', { restart: 'once' }), Pending), work, false],
    ['a write', thing(effect('transcript', { restart: 'keyed' }), Pending), work, false],
    ['a slot', thing(effect('slot'), Pending), work, false],
    ['a session in line', queued, work, true],
    [
      'a session that waits for budget',
      (world, agent) => {
        const session = queued(world, agent)
        world.add(session, GrantAwaited({ agent, sinceTick: 0 }))
        return session
      },
      work,
      true,
    ],
    [
      'a session that has begun, with a deadline',
      (world, agent) => {
        const session = sessionOf(world, agent, 'running')
        world.patch(session, Effect, { deadlineMs: 8 })
        return session
      },
      [8, undefined, undefined],
      true,
    ],
    ['a question to an ended session', question(effect('query'), Pending), work, true],
  ])('%s', (_, situation, [inFleet, byInput, byCallback], lends) => {
    const { agent, world } = scene(situation)
    const open = awaitedInWorld(world)
    expect([
      awakeAt(open, { hasFleet: true, isAnsweredByInput: true }),
      awakeAt(open, { hasFleet: false, isAnsweredByInput: true }),
      awakeAt(open, { hasFleet: false, isAnsweredByInput: false }),
    ]).toEqual([inFleet, byInput, byCallback])
    expect(awaitedByAgent(world, agent).map(lendsSlot)).toEqual([lends])
  })

  it('is the first instant of all, unless one of them is work', () => {
    const world = new World({ systems: [] })
    const agent = world.spawn(Conversation([]))
    for (const situation of [asked(), asked({ deadlineMs: 5 })]) situation(world, agent)
    world.spawn(effect('timer', { deadlineMs: 3 }), Pending)
    const place = { hasFleet: false, isAnsweredByInput: true }
    expect(awakeAt(awaitedInWorld(world), place)).toBe(3)
    world.spawn(call('nap'), effect('tool'), Pending)
    expect(awakeAt(awaitedInWorld(world), place)).toBeUndefined()
  })

  it('is nothing where all is settled', () => {
    const world = new World({ systems: [] })
    world.spawn(effect('model'), Outcome({ ok: true, value: null }))
    expect(awaitedInWorld(world)).toEqual([])
  })
})

describe('what a call of an agent waits for', () => {
  it.each<[string, Situation, readonly string[]]>([
    ['its approval', thing(call('buy'), AwaitingApproval), ['person']],
    ['its decision', thing(call('buy'), Requested), ['work']],
    ['a system of the program that answers it', thing(call('own')), ['work']],
    ['the result of a call before it', thing(call('buy'), effect('tool'), Outcome({ ok: true, value: null })), []],
    [
      'a session, until a time',
      (world, agent) => {
        const session = sessionOf(world, agent, 'running')
        const awaiting = AwaitingSession({ session })
        return world.spawn(call('subagent_result'), awaiting, effect('timer', { deadlineMs: 4 }), Pending)
      },
      ['session'],
    ],
    ['a reply', thing(call('query_subagent'), AwaitingReply), ['reply']],
    ['a question in line behind another', question(), ['reply']],
    [
      'a wait for sessions, whose deadline is no work',
      thing(WaitDeadline, effect('timer', { deadlineMs: 1 }), Pending),
      [],
    ],
  ])('%s', (_, situation, on) => {
    const { agent, world } = scene(situation)
    expect(awaitedByAgent(world, agent).map((awaited) => awaited.on)).toEqual(on)
  })
})

describe('an inspector', () => {
  it.each<[string, Situation]>([
    ['an approval with a deadline', asked({ deadlineMs: 5 })],
    ['a retry', thing(effect('model'), Due({ atMs: 7 }))],
    ['a session in line', queued],
    ['a question', question(effect('query'), Pending)],
    ['a tool', thing(call('nap'), effect('tool'), running)],
  ])('reads from a saved world what the world itself knows: %s', (_, situation) => {
    const { entity, world } = scene(situation)
    const saved = RawWorld.restore([...world.snapshot()], rawComponents([Effect, Due]))
    expect(awaitedInView(saved, entity)).toEqual(awaitedInWorld(world)[0])
  })
})
