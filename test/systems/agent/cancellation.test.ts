import { Conversation, LastTurn } from 'entia'
import { Approval, ApprovalOf, Busy, Due, Effect, OwnedBy, Pending, ToolCall, Turn } from 'entia/components'
import { cancellation, toolResults } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { begin, caller, listener, said, settleWith, thinker, tickAt, told, worldOf } from '../one-tick.ts'

const cancel = (agent: number, reason?: string) => ({ kind: 'cancel', agent, ...(reason !== undefined && { reason }) })

describe('an agent that is cancelled', () => {
  it('while its model is asked has nothing under way, and a conversation that ends', () => {
    const world = worldOf(cancellation)
    const { agent, call } = thinker(world)
    const result = tickAt(world, 30, cancel(agent))
    expect(world.exists(call)).toBe(false)
    expect([world.has(agent, Busy), world.has(agent, Turn)]).toEqual([false, false])
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: [turn cancelled]'])
    expect(world.read(agent, LastTurn)).toEqual({
      stop: 'cancelled',
      steps: 1,
      usage: { calls: 1 },
      toolCalls: 0,
      startedAtMs: 0,
      endedAtMs: 30,
      failure: { kind: 'cancelled', message: 'The turn was cancelled.' },
    })
    expect(told(result)).toEqual(['work-cancelled', 'turn-ended'])
  })

  it('while its call waits for another try has no such call any more', () => {
    const world = worldOf(cancellation)
    const { agent, call } = thinker(world)
    world.remove(call, Pending)
    world.add(call, Due({ atMs: 9_000 }))
    tickAt(world, 0, cancel(agent, 'enough'))
    expect(world.exists(call)).toBe(false)
    expect(world.read(agent, LastTurn).failure).toEqual({ kind: 'cancelled', message: 'enough' })
  })

  it('while tools run tells of each call what may have come of it', () => {
    const world = worldOf(cancellation)
    const names = ['undecided', 'pure', 'keyed', 'waiting', 'sent', 'ended']
    const { agent, calls } = caller(
      world,
      names.map((name) => ({ name })),
    )
    const [, pure = 0, keyed = 0, waiting = 0, sent = 0, ended = 0] = calls
    begin(world, pure, 'pure')
    begin(world, keyed, 'keyed')
    begin(world, waiting, 'once')
    begin(world, sent, 'once', 'running')
    settleWith(world, ended, said('42'))
    tickAt(world, 0, cancel(agent))
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-0!: [cancelled by the user]',
      'tool call-1!: [cancelled by the user]',
      'tool call-2!: [cancelled by the user; it may have taken effect]',
      'tool call-3!: [cancelled by the user]',
      'tool call-4!: [cancelled by the user; it may have taken effect]',
      'tool call-5: 42',
      'assistant: [turn cancelled]',
    ])
    expectValid(world, agent)
    expect(world.query(ToolCall)).toEqual([])
    expect(world.query(Effect)).toEqual([])
  })

  it('while a person is asked is asked about no more', () => {
    const world = worldOf(cancellation, toolResults)
    const { agent, calls } = caller(world, [{ name: 'send' }])
    const question = Approval({ id: 'a', tool: 'send', arguments: {} })
    world.spawn(question, ApprovalOf({ call: calls[0] }), OwnedBy({ agent }), Pending)
    tickAt(world, 0, cancel(agent))
    expect(world.query(Approval)).toEqual([])
    expectValid(world, agent)
  })

  it('keeps what was said to it meanwhile, behind the results', () => {
    const world = worldOf(cancellation)
    const { agent } = caller(world, [{ name: 'dig' }])
    world.append(agent, Conversation, { role: 'user', content: [{ type: 'text', text: 'Wait!' }] })
    tickAt(world, 0, cancel(agent))
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-0!: [cancelled by the user]',
      'user: Wait!',
      'assistant: [turn cancelled]',
    ])
    expectValid(world, agent)
  })

  it('leaves all others at work', () => {
    const world = worldOf(cancellation)
    const [first, second] = [thinker(world), thinker(world)]
    tickAt(world, 0, cancel(first.agent))
    expect(world.has(second.agent, Busy)).toBe(true)
    expect(world.has(second.call, Pending)).toBe(true)
  })
})

describe('a cancel', () => {
  it('is refused where no turn is open, and where there is no agent', () => {
    const world = worldOf(cancellation)
    const [idle, nobody] = [listener(world), world.spawn()]
    const { delta, events } = tickAt(world, 0, cancel(idle), cancel(nobody), cancel(999))
    expect(delta.set).toBeUndefined()
    expect(events).toEqual([
      { type: 'input-refused', kind: 'cancel', agent: idle, reason: 'no turn is open' },
      { type: 'input-refused', kind: 'cancel', agent: nobody, reason: 'there is no such agent' },
      { type: 'input-refused', kind: 'cancel', agent: 999, reason: 'there is no such agent' },
    ])
  })

  it('that comes twice cancels once', () => {
    const world = worldOf(cancellation)
    const { agent } = thinker(world)
    expect(told(tickAt(world, 0, cancel(agent), cancel(agent)))).toEqual([
      'work-cancelled',
      'turn-ended',
      'input-refused',
    ])
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: [turn cancelled]'])
  })
})
