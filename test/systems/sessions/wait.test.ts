import {
  Conversation,
  type Entity,
  LastTurn,
  type Stop,
  SubagentRegistry,
  type ToolDeclaration,
  type World,
} from 'entia'
import {
  Busy,
  Effect,
  EndedInWait,
  Notified,
  Outcome,
  OwnedBy,
  Permissions,
  SubagentNotification,
  SubagentSession,
  SubagentWait,
  Terminal,
  ToolRegistry,
  Turn,
  Unread,
  UnreadBy,
  WaitDeadline,
} from 'entia/components'
import { wait } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { listener, tickAt, worldOf } from '../one-tick.ts'
import { sessionOf } from './session-records.ts'

type WaitData = Parameters<typeof SubagentWait>[0]

/** An agent in the middle of a turn that has nothing to answer. */
function working(): { world: World; agent: Entity } {
  const world = worldOf(wait)
  const registry = SubagentRegistry({ subagents: {} })
  const agent = listener(world, registry, Turn({ startedAtMs: 0, steps: 1, toolCalls: 0 }))
  world.append(agent, Conversation, { role: 'assistant', content: [{ type: 'text', text: 'Well.' }] })
  world.remove(agent, Unread)
  return { world, agent }
}

function waitOf(world: World, agent: Entity, changes: Partial<WaitData> = {}, ended: readonly Entity[] = []): void {
  world.set(agent, SubagentWait, {
    deadlineMs: null,
    mode: 'any',
    sessions: null,
    startedAtMs: 0,
    timeoutMs: null,
    ...changes,
  })
  for (const session of ended) world.add(session, EndedInWait({ agent }))
}

/** The agent's wait has a deadline, which has come. */
function deadlineOf(world: World, agent: Entity): Entity {
  const deadline = world.spawn(OwnedBy({ agent }), WaitDeadline)
  world.set(deadline, Effect, { attempt: 1, deadlineMs: 60_000, kind: 'timer', restart: 'pure' })
  world.add(deadline, Outcome({ ok: false, failure: { kind: 'timed-out', message: '' } }))
  return deadline
}

/** What the agent is told in the next tick. */
function told(world: World, agent: Entity, nowMs = 0): string[] {
  const before = transcript(world, agent).length
  tickAt(world, nowMs)
  return transcript(world, agent).slice(before)
}

function idOf(world: World, session: Entity): string {
  return world.read(session, SubagentSession).sessionId
}

function line(world: World, session: Entity): string {
  const { sessionId, status, error } = world.read(session, SubagentSession)
  const call = `Call subagent_result(session_id="${sessionId}") for`
  if (status === 'cancelled') return `- ${sessionId} cancelled.`
  return status === 'succeeded'
    ? `- ${sessionId} succeeded. ${call} the full result.`
    : `- ${sessionId} failed: ${error ?? 'Unknown error'}. ${call} details.`
}

function updates(world: World, ...sessions: readonly Entity[]): string {
  return ['system: Background subagent updates:', ...sessions.map((session) => line(world, session))].join('\n')
}

describe('an agent with news of its sessions', () => {
  it('is told all of it in one message, in order of finishing, which it then has read', () => {
    const { world, agent } = working()
    const late = sessionOf(world, agent, 'succeeded', { finishedSequence: 3 })
    const early = sessionOf(world, agent, 'failed', { finishedSequence: 1, error: 'boom' })
    const silent = sessionOf(world, agent, 'timed_out', { finishedSequence: 2 })
    world.add(agent, Unread)
    expect(told(world, agent)).toEqual([updates(world, early, silent, late)])
    expect(world.query(UnreadBy)).toEqual([])
    expect(world.query(SubagentNotification).map((one) => world.read(one, SubagentNotification).state)).toEqual(
      Array.from({ length: 3 }, () => 'read'),
    )
    expect(world.has(agent, Notified)).toBe(false)
    expect(told(world, agent)).toEqual([])
  })

  it.each<[string, readonly Partial<ToolDeclaration>[], readonly string[], string | undefined]>([
    ['one', [{ name: 'collect_subagent' }], [], 'Call collect_subagent(id="%s") for'],
    [
      'the better of two',
      [{ name: 'collect_subagent' }, { name: 'subagent_result' }],
      [],
      'Call subagent_result(session_id="%s") for',
    ],
    [
      'one that its model finds by a search',
      [{ name: 'collect_subagent', deferred: true }],
      [],
      'Call call_tool(name="collect_subagent", arguments={"id":"%s"}) for',
    ],
    [
      'the one of two that it may run',
      [{ name: 'collect_subagent' }, { name: 'subagent_result' }],
      ['subagent_result'],
      'Call collect_subagent(id="%s") for',
    ],
    ['none that it has', [{ name: 'look' }], [], undefined],
    ['none that it may run', [{ name: 'collect_subagent' }], ['collect_subagent'], undefined],
  ])('reads the name of a tool that it can call: %s', (_, declared, denied, call) => {
    const { world, agent } = working()
    world.remove(agent, SubagentRegistry)
    const tools = declared.map((tool) => ({
      description: '',
      inputSchema: { type: 'object' },
      name: '',
      restart: 'pure' as const,
      ...tool,
    }))
    world.set(agent, ToolRegistry, { tools })
    world.set(agent, Permissions, { denied: [...denied] })
    const done = sessionOf(world, agent, 'succeeded', { finishedSequence: 1 })
    const failed = sessionOf(world, agent, 'failed', { finishedSequence: 2, error: 'boom' })
    world.add(agent, Unread)
    const line = (session: Entity, text: string, end: string): string => {
      const id = idOf(world, session)
      return `- ${id} ${text}${call === undefined ? '' : ` ${call.replace('%s', id)} ${end}`}`
    }
    const lines = [line(done, 'succeeded.', 'the full result.'), line(failed, 'failed: boom.', 'details.')]
    expect(told(world, agent)).toEqual([['system: Background subagent updates:', ...lines].join('\n')])
  })

  it('is not told while a step is under way', () => {
    const { world, agent } = working()
    sessionOf(world, agent, 'succeeded')
    world.add(agent, Unread)
    world.add(agent, Busy)
    expect(told(world, agent)).toEqual([])
    expect(world.has(agent, Notified)).toBe(true)
  })

  it('is not told in the middle of a turn that does not go on', () => {
    const { world, agent } = working()
    sessionOf(world, agent, 'succeeded')
    expect(told(world, agent)).toEqual([])
  })

  it('is not told once it has ended for good', () => {
    const { world, agent } = working()
    sessionOf(world, agent, 'succeeded')
    world.add(agent, Unread)
    world.add(agent, Terminal)
    expect(told(world, agent)).toEqual([])
  })

  it.each([
    ['done', true],
    ['max-steps', true],
    ['failed', false],
    ['cancelled', false],
    ['budget-spent', false],
  ] as [Stop, boolean][])('after a turn that ended as %s is woken: %s', (stop, isWoken) => {
    const { world, agent } = working()
    const session = sessionOf(world, agent, 'succeeded')
    world.remove(agent, Turn)
    world.set(agent, LastTurn, { stop, steps: 1, toolCalls: 0, startedAtMs: 0, endedAtMs: 0 })
    expect(told(world, agent)).toEqual(isWoken ? [updates(world, session)] : [])
    expect(world.has(agent, Unread)).toBe(isWoken)
  })

  it('after its turn is left alone where its registry says so', () => {
    const { world, agent } = working()
    sessionOf(world, agent, 'succeeded')
    world.remove(agent, Turn)
    world.set(agent, SubagentRegistry, { subagents: {}, wakeIdle: false })
    expect(told(world, agent)).toEqual([])
    expect(world.query(UnreadBy)).toHaveLength(1)
  })
})

describe('an agent that waits', () => {
  it('for all sleeps on, even if something was said to it, until the last has ended', () => {
    const { world, agent } = working()
    const ended = sessionOf(world, agent, 'succeeded')
    const open = sessionOf(world, agent, 'running')
    waitOf(world, agent, { mode: 'all', sessions: [ended, open] }, [ended])
    world.add(agent, Unread)
    expect(told(world, agent)).toEqual([])
    expect(world.has(agent, SubagentWait)).toBe(true)
  })

  it('for a named session sleeps on when another one has ended', () => {
    const { world, agent } = working()
    sessionOf(world, agent, 'succeeded')
    const open = sessionOf(world, agent, 'running')
    waitOf(world, agent, { sessions: [open] })
    expect(told(world, agent)).toEqual([])
  })

  it('for any sleeps on when one of two was cancelled', () => {
    const { world, agent } = working()
    const cancelled = sessionOf(world, agent, 'cancelled')
    sessionOf(world, agent, 'running')
    waitOf(world, agent, {}, [cancelled])
    world.add(agent, Notified)
    expect(told(world, agent)).toEqual([])
    expect(world.has(agent, SubagentWait)).toBe(true)
  })

  it('is told as well of those that ended in the wait and tell of themselves in no other way', () => {
    const { world, agent } = working()
    const cancelled = sessionOf(world, agent, 'cancelled')
    const succeeded = sessionOf(world, agent, 'succeeded')
    waitOf(world, agent, { sessions: [cancelled, succeeded] }, [cancelled, succeeded])
    expect(told(world, agent)).toEqual([updates(world, cancelled, succeeded)])
    expect(world.has(agent, SubagentWait)).toBe(false)
  })

  it('is woken by its deadline, and told of what has not ended by sequence and of what has', () => {
    const { world, agent } = working()
    const ended = sessionOf(world, agent, 'failed', { error: 'boom' })
    const queued = sessionOf(world, agent, 'queued')
    const running = sessionOf(world, agent, 'running')
    const sessions = [running, queued, ended]
    waitOf(world, agent, { mode: 'all', sessions, deadlineMs: 60_000, timeoutMs: 60_000 }, [ended])
    deadlineOf(world, agent)
    const still = [`- ${idOf(world, queued)} is still queued.`, `- ${idOf(world, running)} is still running.`]
    expect(told(world, agent, 60_000)).toEqual([
      ['system: Subagent wait timed out after 60s.', ...still, line(world, ended)].join('\n'),
    ])
    expect(world.has(agent, SubagentWait)).toBe(false)
    expect(world.has(agent, Unread)).toBe(true)
    expect(world.query(WaitDeadline)).toEqual([])
  })

  it('wakes as always if what it waits for has ended in the tick of the deadline', () => {
    const { world, agent } = working()
    const ended = sessionOf(world, agent, 'succeeded')
    waitOf(world, agent, { deadlineMs: 60_000, timeoutMs: 60_000 }, [ended])
    deadlineOf(world, agent)
    expect(told(world, agent, 60_000)).toEqual([updates(world, ended)])
    expect(world.query(WaitDeadline)).toEqual([])
  })
})
