import { Conversation, type Entity, Limits, Permissions, textOf, type ToolDeclaration, type World } from 'entia'
import {
  Ancestry,
  Approval,
  ApprovalOf,
  AwaitingApproval,
  AwaitingJudgement,
  Effect,
  Inspection,
  Outcome,
  OwnedBy,
  Pending,
  Policy,
  Requested,
  SlotReleased,
  SlotRequest,
  ToolRegistry,
  Turn,
} from 'entia/components'
import { slots, toolExecution } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { caller, declaration, settleWith, tickAt, told, type Wish, worldOf } from '../one-tick.ts'

const ask = (name: string): Wish => ({ name, arguments: { n: 1 } })

/** An agent with these tools that has asked for some of them. */
function scene(tools: readonly ToolDeclaration[], wishes: readonly Wish[], limit = 256) {
  const world = worldOf(toolExecution({ maxStartsPerTick: limit, worldTools: new Map() }))
  return { world, ...caller(world, wishes, ToolRegistry({ tools })) }
}

/** What is wrong with a call, if it was answered at once: in the conversation, unless others stand before it. */
function answerAtOnce(world: World, call: Entity): string | undefined {
  const [agent = 0] = world.query(Conversation)
  const last = world.read(agent, Conversation).at(-1)
  if (!world.exists(call) && last?.role === 'tool') return last.isError === true ? textOf(last) : undefined
  const outcome = world.get(call, Outcome)
  if (outcome?.ok !== true) return undefined
  const { content, isError } = outcome.value as { content: readonly { text: string }[]; isError: boolean }
  expect(isError).toBe(true)
  return content.map(({ text }) => text).join()
}

describe('a tool call', () => {
  it('that is in order becomes an effect of its tool’s kind', () => {
    const { world, agent, calls } = scene([declaration('a', { restart: 'once', timeoutMs: 70 })], [ask('a')])
    const { events, again } = tickAt(world, 0)
    expect(world.read(calls[0], Effect)).toEqual({ kind: 'tool', restart: 'once', attempt: 1, timeoutMs: 70 })
    expect([world.has(calls[0], Pending), world.has(calls[0], Requested)]).toEqual([true, false])
    expect(world.read(agent, Turn).toolCalls).toBe(1)
    expect(events).toEqual([
      { type: 'tool-called', agent, effect: calls[0], callId: 'call-0', tool: 'a', arguments: { n: 1 } },
    ])
    expect(again).toBe(false)
  })

  it('may take ten minutes where its tool says nothing', () => {
    const { world, calls } = scene([declaration('a')], [ask('a')])
    tickAt(world, 0)
    expect(world.read(calls[0], Effect).timeoutMs).toBe(600_000)
  })

  it('starts at the same time as those beside it', () => {
    const { world, calls } = scene([declaration('a'), declaration('b')], [ask('a'), ask('b'), ask('a')])
    tickAt(world, 0)
    expect(world.query(Pending)).toEqual(calls)
  })

  it.each<[string, Wish, string]>([
    ['of an unknown tool', ask('nope'), 'Error: there is no tool named nope.'],
    [
      'whose arguments do not follow the schema',
      { name: 'a', arguments: { n: 'one' } },
      "Error: Invalid arguments for 'a': n: expected number, received string",
    ],
    [
      'without its arguments',
      { name: 'a' },
      "Error: Invalid arguments for 'a': n: expected number, received undefined",
    ],
    [
      'whose arguments are no JSON',
      { name: 'a', malformed: '{"n":' },
      "Error: Invalid arguments for 'a': they are no JSON object.",
    ],
  ])('%s is answered at once with what is wrong', (_, wish, text) => {
    const { world, calls } = scene([declaration('a')], [wish])
    const result = tickAt(world, 0)
    expect(answerAtOnce(world, calls[0])).toBe(text)
    expect(world.has(calls[0], Effect)).toBe(false)
    expect(told(result)).toEqual(['tool-answered'])
    expect(result.again).toBe(true)
  })

  it('whose schema cannot be read is answered so, and does not run', () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'string', pattern: '(' } } }
    const { world, calls } = scene([declaration('a', { inputSchema })], [ask('a')])
    tickAt(world, 0)
    expect(answerAtOnce(world, calls[0])).toMatch(/^Error: Invalid arguments for 'a': its JSON Schema cannot be read/)
  })

  it('of an agent without tools is answered so', () => {
    const world = worldOf(toolExecution({ maxStartsPerTick: 256, worldTools: new Map() }))
    const { calls } = caller(world, [ask('a')])
    tickAt(world, 0)
    expect(answerAtOnce(world, calls[0])).toBe('Error: there is no tool named a.')
  })

  it.each([
    ['is denied', { denied: ['a'] }],
    ['is not allowed', { allowed: ['b'] }],
    ['is denied although it is allowed', { allowed: ['a'], denied: ['a'] }],
    ['is one of no tools at all', { allowed: [] }],
  ])('that %s does not run', (_, permissions) => {
    const { world, agent, calls } = scene([declaration('a')], [ask('a')])
    world.add(agent, Permissions(permissions))
    tickAt(world, 0)
    expect(answerAtOnce(world, calls[0])).toBe("Error: tool 'a' is not permitted.")
  })

  it('that is allowed runs', () => {
    const { world, agent, calls } = scene([declaration('a')], [ask('a')])
    world.add(agent, Permissions({ allowed: ['a'], denied: ['b'] }))
    tickAt(world, 0)
    expect(world.has(calls[0], Pending)).toBe(true)
  })

  it('past the limit of its turn is refused; those before it, in the same message too, run', () => {
    const { world, agent, calls } = scene([declaration('a')], [ask('a'), ask('a'), ask('a'), ask('nope')])
    world.add(agent, Limits({ maxToolCalls: 3 }))
    world.patch(agent, Turn, { toolCalls: 1 })
    tickAt(world, 0)
    expect(world.query(Pending)).toEqual(calls.slice(0, 2))
    expect(answerAtOnce(world, calls[2] ?? 0)).toBe(
      'Error: the limit of 3 tool calls a turn is reached; answer with what you have.',
    )
    expect(world.read(agent, Turn).toolCalls).toBe(5)
  })

  it('never runs where the limit is none', () => {
    const { world, agent, calls } = scene([declaration('a')], [ask('a')])
    world.add(agent, Limits({ maxToolCalls: 0 }))
    tickAt(world, 0)
    expect(answerAtOnce(world, calls[0])).toMatch(/the limit of 0 tool calls/)
  })
})

describe('a crowd of calls', () => {
  it('is decided about so many a tick; the rest asks for another tick', () => {
    const { world, calls } = scene(
      [declaration('a')],
      Array.from({ length: 5 }, () => ask('a')),
      2,
    )
    expect(tickAt(world, 0).again).toBe(true)
    expect(world.query(Pending)).toEqual(calls.slice(0, 2))
    expect(tickAt(world, 0).again).toBe(true)
    expect(tickAt(world, 0).again).toBe(false)
    expect(world.query(Pending)).toEqual(calls)
  })
})

describe('a call that a person has to agree to', () => {
  const careful = declaration('send', { approval: true, approvalTimeoutMs: 500, restart: 'once' })

  function question(world: World): Entity {
    const [entity = 0, ...others] = world.query(Approval)
    expect(others).toEqual([])
    return entity
  }

  it('waits, and the question is an effect with a deadline', () => {
    const { world, agent, calls } = scene([careful], [ask('send')])
    const { events } = tickAt(world, 100)
    const asked = question(world)
    const { id } = world.read(asked, Approval)
    expect(world.read(asked, Approval)).toEqual({
      id: expect.stringMatching(/^approval-/),
      tool: 'send',
      arguments: { n: 1 },
    })
    expect(world.read(asked, ApprovalOf)).toEqual({ call: calls[0], shown: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(world.read(asked, OwnedBy)).toEqual({ agent })
    expect(world.read(asked, Effect)).toEqual({ kind: 'approval', restart: 'pure', attempt: 1, deadlineMs: 600 })
    expect(world.has(asked, Pending)).toBe(true)
    expect([world.has(calls[0], AwaitingApproval), world.has(calls[0], Effect)]).toEqual([true, false])
    expect(events).toEqual([
      { type: 'approval-requested', agent, approval: id, tool: 'send', arguments: expect.anything() },
    ])
  })

  it('has no deadline where its tool names none', () => {
    const { world } = scene([declaration('send', { approval: true })], [ask('send')])
    tickAt(world, 100)
    expect(world.read(question(world), Effect)).not.toHaveProperty('deadlineMs')
  })

  it('is not asked about if it is wrong anyway', () => {
    const { world, calls } = scene([careful], [{ name: 'send' }])
    tickAt(world, 0)
    expect(world.query(Approval)).toEqual([])
    expect(answerAtOnce(world, calls[0])).toMatch(/Invalid arguments/)
  })

  it('starts when the answer is yes', () => {
    const { world, agent, calls } = scene([careful], [ask('send')])
    tickAt(world, 0)
    const asked = question(world)
    const approval = world.read(asked, Approval).id
    settleWith(world, asked, { ok: true, value: { approved: true } })
    const { events } = tickAt(world, 1)
    expect(world.read(calls[0], Effect).restart).toBe('once')
    expect(world.has(calls[0], AwaitingApproval)).toBe(false)
    expect(world.exists(asked)).toBe(false)
    expect(events).toEqual([
      { type: 'approval-answered', agent, approval, tool: 'send', approved: true },
      { type: 'tool-called', agent, effect: calls[0], callId: 'call-0', tool: 'send', arguments: { n: 1 } },
    ])
  })

  describe('in a session without a slot', () => {
    const given = { ok: true as const, value: { approved: true } }

    it('waits for one when the answer is there, which is then taken', () => {
      const { world, agent, calls } = scene([careful], [ask('send')])
      tickAt(world, 0)
      world.add(agent, SlotReleased)
      settleWith(world, question(world), given)
      expect(told(tickAt(world, 1))).toEqual([])
      expect([world.has(calls[0], AwaitingApproval), world.has(calls[0], Pending)]).toEqual([true, false])
      world.remove(agent, SlotReleased)
      expect(told(tickAt(world, 2))).toEqual(['approval-answered', 'tool-called'])
      expect(world.has(calls[0], Pending)).toBe(true)
    })

    it('asks for one when the answer is there, or what an inspection has found', () => {
      const world = worldOf(slots)
      const ancestry = Ancestry({ sessions: [{ kind: 'named', sessionId: 'session-1' }] })
      const { agent, calls } = caller(world, [ask('send')], ancestry)
      world.remove(calls[0], Requested)
      world.add(calls[0], AwaitingApproval)
      const approval = Approval({ id: 'a', tool: 'send', arguments: {} })
      const asked = world.spawn(
        approval,
        OwnedBy({ agent }),
        Effect({ kind: 'approval', restart: 'pure', attempt: 1 }),
        Pending,
      )
      expect(told(tickAt(world, 0))).toEqual(['slot-released'])
      tickAt(world, 1)
      expect(world.query(SlotRequest)).toEqual([])
      settleWith(world, asked, given)
      tickAt(world, 2)
      const [request = 0] = world.query(SlotRequest)
      expect(world.read(request, Effect).kind).toBe('slot')
      world.despawn(request)
      world.despawn(asked)
      const inspection = world.spawn(Inspection({ call: calls[0], declaration: 1 }), OwnedBy({ agent }))
      tickAt(world, 3)
      expect(world.query(SlotRequest)).toEqual([])
      world.add(inspection, Outcome({ ok: true, value: {} }))
      tickAt(world, 4)
      expect(world.query(SlotRequest)).toHaveLength(1)
    })

    it('is judged once it has one', () => {
      const { world, agent, calls } = scene([declaration('a')], [ask('a')])
      world.add(agent, Policy({ channel: 'cli', cwd: '/work', home: '/home', configFolder: '/home/.config' }))
      world.add(agent, SlotReleased)
      tickAt(world, 0)
      const [inspection = 0] = world.query(Inspection)
      settleWith(world, inspection, { ok: false, failure: { kind: 'internal', message: 'No.' } })
      tickAt(world, 1)
      expect(world.has(calls[0], AwaitingJudgement)).toBe(true)
      world.remove(agent, SlotReleased)
      tickAt(world, 2)
      expect(world.exists(calls[0]) && world.has(calls[0], AwaitingJudgement)).toBe(false)
    })
  })

  it.each([
    ['is no', { ok: true as const, value: { approved: false } }, 'no reason given'],
    ['is no, and why', { ok: true as const, value: { approved: false, reason: 'too late' } }, 'too late'],
    ['is no clear yes', { ok: true as const, value: { approved: 'yes' } }, 'no reason given'],
    ['says nothing', { ok: true as const, value: {} }, 'no reason given'],
    ['is nothing', { ok: true as const, value: null }, 'no reason given'],
    ['did not come', { ok: false as const, failure: { kind: 'timed-out' as const, message: 'nobody' } }, 'nobody'],
  ])('does not run if the answer %s', (_, outcome, reason) => {
    const { world, calls } = scene([careful], [ask('send')])
    tickAt(world, 0)
    settleWith(world, question(world), outcome)
    const { again } = tickAt(world, 0)
    expect(answerAtOnce(world, calls[0])).toBe(`[user declined: ${reason}]`)
    expect(again).toBe(true)
  })

  it.each<[string, (world: World, agent: Entity) => void, string]>([
    [
      'its tool was taken away',
      (world, agent) => world.set(agent, ToolRegistry, { tools: [] }),
      'Error: there is no tool named send.',
    ],
    [
      'it is not permitted any more',
      (world, agent) => world.add(agent, Permissions({ denied: ['send'] })),
      "Error: tool 'send' is not permitted.",
    ],
  ])('does not run, whatever the answer, if %s meanwhile', (_, change, text) => {
    const { world, agent, calls } = scene([careful], [ask('send')])
    tickAt(world, 0)
    change(world, agent)
    settleWith(world, question(world), { ok: true, value: { approved: true } })
    const { again } = tickAt(world, 0)
    expect(world.get(calls[0], Effect)).toBeUndefined()
    expect(answerAtOnce(world, calls[0])).toBe(text)
    expect(again).toBe(true)
  })

  it('is asked about after those before it; what needs nobody runs meanwhile', () => {
    const wishes = [ask('send'), ask('free'), ask('send')]
    const { world, calls } = scene([careful, declaration('free')], wishes)
    const [first, free = 0, second = 0] = calls
    tickAt(world, 0)
    expect(world.read(question(world), ApprovalOf).call).toBe(first)
    expect(world.has(free, Pending)).toBe(true)
    settleWith(world, question(world), { ok: true, value: { approved: false } })
    tickAt(world, 300)
    const asked = question(world)
    expect(world.read(asked, ApprovalOf).call).toBe(second)
    expect(world.read(asked, Effect).deadlineMs).toBe(800)
  })

  it('does not hold up the questions of other agents', () => {
    const { world } = scene([careful], [ask('send')])
    caller(world, [ask('send')], ToolRegistry({ tools: [careful] }))
    tickAt(world, 0)
    expect(world.query(Approval)).toHaveLength(2)
  })
})
