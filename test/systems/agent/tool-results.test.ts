import { Conversation, type FileBlock, user } from 'entia'
import { Busy, Effect, Outcome, Policy, ToolCall, Unread } from 'entia/components'
import { toolResults } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { begin, caller, said, settleWith, tickAt, told, worldOf } from '../one-tick.ts'

const three = ['a', 'b', 'c'].map((name) => ({ name }))

describe('results of tools', () => {
  it('enter the conversation in the order of the calls: one waits for those before it', () => {
    const world = worldOf(toolResults)
    const { agent, calls } = caller(world, three)
    const [first, second = 0, third = 0] = calls
    for (const call of calls) begin(world, call)
    settleWith(world, third, said('C'))
    tickAt(world, 0)
    expect(transcript(world, agent).slice(2)).toEqual([])
    settleWith(world, first, said('A'))
    tickAt(world, 0)
    expect(transcript(world, agent).slice(2)).toEqual(['tool call-0: A'])
    expect(world.has(agent, Busy)).toBe(true)
    settleWith(world, second, said('B'))
    tickAt(world, 0)
    expect(transcript(world, agent).slice(2)).toEqual(['tool call-0: A', 'tool call-1: B', 'tool call-2: C'])
    expect([world.has(agent, Busy), world.has(agent, Unread)]).toEqual([false, true])
    expect(world.query(ToolCall)).toEqual([])
  })

  it('are emitted once each, in the tick in which they are there, whatever they wait for', () => {
    const world = worldOf(toolResults)
    const { agent, calls } = caller(world, three)
    for (const call of calls) begin(world, call)
    const answered = (callId: string, tool: string, { value }: ReturnType<typeof said>) => {
      return { type: 'tool-answered', agent, callId, tool, isError: false, result: value.content }
    }
    settleWith(world, calls[2] ?? 0, said('C'))
    expect(tickAt(world, 0).events).toEqual([answered('call-2', 'c', said('C'))])
    expect(tickAt(world, 0).events).toEqual([])
    settleWith(world, calls[0], said('A'))
    expect(tickAt(world, 0).events).toEqual([answered('call-0', 'a', said('A'))])
    settleWith(world, calls[1] ?? 0, said('B'))
    expect(tickAt(world, 0).events).toEqual([answered('call-1', 'b', said('B'))])
  })

  it('are the same to listeners and to the model, malformed ones as well', () => {
    const world = worldOf(toolResults)
    const { agent, calls } = caller(world, three)
    for (const call of calls) begin(world, call, 'keyed')
    world.patch(calls[1] ?? 0, Effect, { attempt: 2 })
    settleWith(world, calls[1] ?? 0, { ok: true, value: { content: [{ type: 'song' }] } })
    settleWith(world, calls[2] ?? 0, { ok: false, failure: { kind: 'timed-out', message: 'slow' } })
    const [second, third] = tickAt(world, 0).events
    settleWith(world, calls[0], said('A'))
    tickAt(world, 0)
    const read = world.read(agent, Conversation).slice(-2)
    expect([second?.['result'], third?.['result']]).toEqual(read.map(({ content }) => content))
    expect(read).toMatchObject([{ isError: true }, { isError: true }])
  })

  it('behind a call that is not decided yet are emitted after it: calls of a policy are numbered in call order', () => {
    const world = worldOf(toolResults)
    const { calls } = caller(world, three, Policy({ channel: 'cli', cwd: '/', home: '/', config: {} }))
    settleWith(world, calls[1] ?? 0, said('not run', true))
    expect(tickAt(world, 0).events).toEqual([])
    begin(world, calls[0])
    expect(told(tickAt(world, 0))).toEqual(['call-settled', 'tool-answered'])
  })

  it('stand before what was said while the tools ran, whenever they come', () => {
    const world = worldOf(toolResults)
    const { agent, calls } = caller(world, three)
    world.append(agent, Conversation, user('Hurry!'))
    for (const [index, call] of calls.entries()) {
      settleWith(world, call, said(`${index}`))
      tickAt(world, 0)
      world.append(agent, Conversation, user(`${index}?`))
    }
    expect(transcript(world, agent).slice(2)).toEqual([
      ...['tool call-0: 0', 'tool call-1: 1', 'tool call-2: 2'],
      ...['user: Hurry!', 'user: 0?', 'user: 1?', 'user: 2?'],
    ])
    expectValid(world, agent)
  })

  it('of several agents do not wait for each other', () => {
    const world = worldOf(toolResults)
    const [slow, quick] = [caller(world, three), caller(world, three)]
    begin(world, slow.calls[0])
    for (const call of quick.calls) settleWith(world, call, said('ok'))
    tickAt(world, 0)
    expect([world.has(slow.agent, Busy), world.has(quick.agent, Busy)]).toEqual([true, false])
  })
})

describe('what a model reads of a call', () => {
  const failed = (kind: 'tool-threw' | 'interrupted' | 'tool-denied' | 'timed-out', message: string) =>
    ({ ok: false, failure: { kind, message } }) as const

  it.each([
    ['the text of its tool', said('42'), 'tool call-0: 42'],
    ['the text of a tool that could not do it', said('no such file', true), 'tool call-0!: no such file'],
    ['that it threw', failed('tool-threw', 'boom'), 'tool call-0!: Error: boom'],
    ['that it took too long', failed('timed-out', 'too slow'), 'tool call-0!: Error: too slow'],
    ['that it may have happened', failed('interrupted', 'who knows'), 'tool call-0!: [interrupted] who knows'],
    ['the words of a person', failed('tool-denied', '[user declined: no]'), 'tool call-0!: [user declined: no]'],
  ])('is %s', (_, outcome, line) => {
    const world = worldOf(toolResults)
    const { agent, calls } = caller(world, [{ name: 'a' }])
    settleWith(world, calls[0], outcome)
    tickAt(world, 0)
    expect(transcript(world, agent).at(-1)).toBe(line)
  })

  const again =
    '[The process ended while an earlier run of this call was under way: it may have happened, or not, or in part.]'
  const late = '[It was under way until then: it may have happened, or not, or in part.]'

  it.each([
    ['it threw', failed('tool-threw', 'boom'), 'keyed', 2, ['Error: boom', again]],
    ['it could not do it', said('full', true), 'keyed', 3, ['full', again]],
    [
      'it gave what is malformed',
      { ok: true, value: { text: 1 } },
      'keyed',
      2,
      [expect.stringContaining('malformed'), again],
    ],
    ['it took too long', failed('timed-out', 'slow'), 'keyed', 1, ['Error: slow', late]],
    ['it took too long', failed('timed-out', 'slow'), 'once', 1, ['Error: slow', late]],
    ['it took too long', failed('timed-out', 'slow'), 'pure', 1, ['Error: slow']],
    ['it threw', failed('tool-threw', 'boom'), 'keyed', 1, ['Error: boom']],
    ['it did it', said('42'), 'keyed', 2, ['42']],
  ] as const)('that %s say if it may be done all the same: %j, %s, try %i', (_, outcome, restart, attempt, texts) => {
    const world = worldOf(toolResults)
    const { agent, calls } = caller(world, [{ name: 'a' }])
    begin(world, calls[0], restart)
    world.patch(calls[0], Effect, { attempt })
    settleWith(world, calls[0], outcome)
    tickAt(world, 0)
    const content = world.read(agent, Conversation).at(-1)?.content ?? []
    expect(content.map((block) => 'text' in block && block.text)).toEqual(texts)
  })

  it('are its files as well', () => {
    const world = worldOf(toolResults)
    const { agent, calls } = caller(world, [{ name: 'a' }])
    const plot: FileBlock = { type: 'file', mediaType: 'image/png', data: 'AAAA' }
    settleWith(world, calls[0], { ok: true, value: { content: [plot] } })
    tickAt(world, 0)
    expect(world.read(agent, Conversation).at(-1)?.content).toEqual([plot])
  })

  it.each([
    ['nothing', null],
    ['a text', 'done'],
    ['no blocks', { text: 'done' }],
    ['blocks that there are not', { content: [{ type: 'song' }] }],
  ])('is an error where the tool gave %s, and the tick goes on', (_, value) => {
    const world = worldOf(toolResults)
    const { agent, calls } = caller(world, [{ name: 'a' }])
    world.remove(calls[0], Outcome)
    settleWith(world, calls[0], { ok: true, value })
    const { events } = tickAt(world, 0)
    expect(transcript(world, agent).at(-1)).toMatch(/^tool call-0!: Error: The result of 'a' is malformed: /)
    expect(events).toMatchObject([{ type: 'tool-answered', isError: true }])
    expectValid(world, agent)
  })
})
