import { type Entity, Conversation, Llm, type Message, user, World, assistant, textOf } from 'entia'
import { project } from 'entia/models'
import {
  Approval,
  Boundary,
  Context,
  Effect,
  Outcome,
  OwnedBy,
  Pending,
  Permissions,
  ToolRegistry,
  Turn,
} from 'entia/components'
import { Archival } from 'entia/context'
import { querySubagentDeclaration, spawnSubagentDeclaration } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { liveState, liveTail } from '../../../src/rules/projection/live-tail.ts'
import { recordHolder } from '../../../src/rules/delegation/record-holder.ts'
import { sessionOf } from '../../systems/sessions/session-records.ts'

/** An agent with a boundary up to the message of that `seq`, whose turn was opened by the second. */
function agentWith({ seq = 3, opening = user('Do it'), fromSeq = 2 } = {}): { world: World; agent: Entity } {
  const world = new World()
  const messages: Message[] = [user('Hello'), opening, assistant('At it'), user('And?')]
  const turn = Turn({ fromSeq, startedAtMs: 0, steps: 1, toolCalls: 0 })
  const agent = world.spawn(Llm({ model: 'a/b' }), Context({}), Conversation(messages), turn)
  if (seq > 0) world.add(agent, Boundary([boundary(seq)]))
  return { world, agent }
}

function boundary(seq: number) {
  const facts = { atMs: 0, by: 'auto', kind: 'summary', missingHeadings: [], text: 'T', truncated: false } as const
  return { ...facts, seq, usage: {} }
}

function approvalOf(world: World, agent: Entity): Entity {
  const effect = Effect({ attempt: 1, kind: 'approval', restart: 'pure' })
  return world.spawn(Approval({ id: 'approval-1', tool: 'send', arguments: {} }), OwnedBy({ agent }), effect, Pending)
}

describe('the live state of an agent', () => {
  it('is told only while a boundary is in force', () => {
    const { world, agent } = agentWith({ seq: 0 })
    approvalOf(world, agent)
    expect(liveState(world, agent)).toBeUndefined()
    world.add(agent, Boundary([]))
    expect(liveTail(world, agent)).toEqual([])
  })

  it('has the message that opened the turn, if the boundary covers that', () => {
    const { world, agent } = agentWith()
    expect(liveState(world, agent)).toBe('# Live state\n\n- request: Do it')
    expect(liveState(agentWith({ seq: 1 }).world, 1)).toBeUndefined()
  })

  it('has no request between two turns', () => {
    const { world, agent } = agentWith()
    world.remove(agent, Turn)
    expect(liveTail(world, agent)).toEqual([])
  })

  it('has the request in one line, and its first 2,000 characters', () => {
    const { world, agent } = agentWith({ opening: user(`one\ntwo\r\nthree${'x'.repeat(3_000)}`) })
    const row = liveState(world, agent)?.split('\n').at(-1) ?? ''
    expect(row.startsWith('- request: one two three')).toBe(true)
    expect(row).toHaveLength('- request: '.length + 1_999)
  })

  it('ends the request before the middle of a character', () => {
    const { world, agent } = agentWith({ opening: user(`${'x'.repeat(1_999)}😀`) })
    expect(liveState(world, agent)?.endsWith('xx')).toBe(true)
  })

  it('leaves out a request that has no text', () => {
    const file = { type: 'file', mediaType: 'image/png', data: 'AA==' } as const
    const { world, agent } = agentWith({ opening: { role: 'user', content: [file] } as never })
    expect(liveState(world, agent)).toBeUndefined()
  })

  it('has the sessions under way and the open approvals, behind the request', () => {
    const { world, agent } = agentWith()
    sessionOf(world, agent, 'running', { prompt: 'Look\nclosely' })
    const queued = sessionOf(world, agent, 'queued')
    sessionOf(world, agent, 'succeeded')
    const approval = approvalOf(world, agent)
    expect(liveState(world, agent)?.split('\n').slice(2)).toEqual([
      '- request: Do it',
      '- session session-0000000000000001 (researcher): running, Look',
      '- session session-0000000000000002 (researcher): queued, Task 2',
      '- approval approval-1: send, waiting for a person',
    ])
    world.remove(approval, Pending)
    world.add(approval, Outcome({ ok: true, value: { approved: true } }))
    expect(
      liveState(world, agent, new Set([queued]))
        ?.split('\n')
        .slice(3),
    ).toEqual(['- session session-0000000000000001 (researcher): running, Look'])
  })

  it('ends the request, as a user’s message behind the conversation', () => {
    const { world, agent } = agentWith()
    const { messages, tail } = project(world, agent)
    expect(messages.map(textOf).slice(1)).toEqual(['And?'])
    expect(tail).toEqual([{ role: 'user', content: [{ type: 'text', text: '# Live state\n\n- request: Do it' }] }])
  })
})

describe('the list of live subagents', () => {
  const [query, spawn] = [querySubagentDeclaration, spawnSubagentDeclaration]
  const deferred = { deferred: true } as const

  it.each([
    [
      'asks by a tool that it has',
      [query],
      '. Use the `query_subagent(id, prompt)` tool to retrieve detail. Do not query',
    ],
    [
      'asks and spawns by tools that it has',
      [query, spawn],
      '. Use the `query_subagent(id, prompt)` tool to retrieve detail; spawn a new one with `spawn_subagent(task)` to fan out. Do not query',
    ],
    [
      'asks by one that its model finds by a search',
      [{ ...query, ...deferred }, spawn],
      '. Use the `query_subagent(id, prompt)` tool by way of `call_tool` to retrieve detail; spawn a new one with `spawn_subagent(task)` to fan out. Do not query',
    ],
    ['spawns alone', [spawn], '. Spawn a new one with `spawn_subagent(task)` to fan out.\n'],
    ['does neither', [], '.\n'],
  ])('says how an agent reaches them that %s', (_, tools, how) => {
    const { world, agent } = agentWith()
    world.add(agent, Archival({ enabled: true }))
    world.add(agent, ToolRegistry({ tools }))
    recordHolder(world, agent, { model: 'a/b', sessionId: 'session-00000000000000aa', task: 'Archive: b' })
    const text = textOf(liveTail(world, agent)[0])
    expect(text).toContain(`These subagents hold archived prior turns of this conversation${how}`)
    world.add(agent, Permissions({ denied: [query.name, spawn.name] }))
    expect(textOf(liveTail(world, agent)[0])).not.toMatch(/(query|spawn)_subagent/)
  })
})
