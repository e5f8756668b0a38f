import { Conversation, type Initial, LastTurn, outputSchema, user } from 'entia'
import { Answered, Busy, Turn, Unread } from 'entia/components'
import { turnEnd } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { transcript } from '../../transcript.ts'
import { saying, thinker, tickAt, told, worldOf } from '../one-tick.ts'

/** An agent whose model has just given its final text. */
function speaker(text: string, ...parts: Initial[]) {
  const world = worldOf(turnEnd)
  const { agent, call } = thinker(world, ...parts)
  world.despawn(call)
  world.append(agent, Conversation, saying(text))
  world.remove(agent, Busy)
  world.add(agent, Answered)
  return { world, agent }
}

const pair = outputSchema(z.object({ a: z.number(), b: z.string() }))

describe('a final text', () => {
  it('ends the turn', () => {
    const { world, agent } = speaker('Done.')
    const result = tickAt(world, 12)
    expect(world.read(agent, LastTurn)).toEqual({ stop: 'done', steps: 1, toolCalls: 0, startedAtMs: 0, endedAtMs: 12 })
    expect([world.has(agent, Turn), world.has(agent, Answered), world.has(agent, Unread)]).toEqual([
      false,
      false,
      false,
    ])
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: Done.'])
    expect(told(result)).toEqual(['turn-ended'])
  })

  it('that was cut off ends it all the same, and the turn says so', () => {
    const { world, agent } = speaker('Once upon')
    world.patch(agent, Turn, { truncated: true })
    tickAt(world, 0)
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'done', truncated: true })
  })

  it('does not end it if a message has come meanwhile: the turn goes on with that', () => {
    const { world, agent } = speaker('Done.')
    world.append(agent, Conversation, user('Not yet!'))
    const result = tickAt(world, 0)
    expect([world.has(agent, Turn), world.has(agent, Answered), world.has(agent, Unread)]).toEqual([true, false, true])
    expect(world.has(agent, LastTurn)).toBe(false)
    expect(told(result)).toEqual([])
  })
})

/** An agent whose model has just replied with nothing, so many times in a row. */
function silent(emptyReplies: number, ...parts: Initial[]) {
  const world = worldOf(turnEnd)
  const { agent, call } = thinker(world, ...parts)
  world.despawn(call)
  world.patch(agent, Turn, { emptyReplies })
  for (const token of [Busy, Unread]) world.remove(agent, token)
  world.add(agent, Answered)
  return { world, agent }
}

describe('an empty reply', () => {
  it('is no end of a turn: the model is asked once more', () => {
    const { world, agent } = silent(1)
    const { events } = tickAt(world, 0)
    expect([world.has(agent, Turn), world.has(agent, Unread), world.has(agent, LastTurn)]).toEqual([true, true, false])
    expect(transcript(world, agent)).toEqual([
      'user: Hello',
      'user: Your last reply was empty. Continue with the task, or say what its result is.',
    ])
    expect(events).toEqual([{ type: 'output-rejected', agent, problem: 'the reply is empty' }])
  })

  it.each([
    ['', []],
    [', whether its text would have had a schema or not', [pair]],
  ])('that is the second in a row ends the turn with a stop of its own%s', (_, parts: Initial[]) => {
    const { world, agent } = silent(2, ...parts)
    tickAt(world, 7)
    const failure = {
      kind: 'invalid-output',
      message: 'The model replied with neither text nor tool calls, 2 times in a row.',
    }
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'empty-reply', failure, endedAtMs: 7 })
    expect(transcript(world, agent).at(-1)).toBe('assistant: [turn ended: the model replied with nothing]')
  })

  it('is passed over if a message has come meanwhile: the turn goes on with that', () => {
    const { world, agent } = silent(2)
    world.append(agent, Conversation, user('Well?'))
    tickAt(world, 0)
    expect([world.has(agent, Turn), world.has(agent, Unread), world.has(agent, LastTurn)]).toEqual([true, true, false])
  })
})

describe('a final text that has a schema', () => {
  it.each([
    ['the JSON alone', '{"a":1,"b":"x"}'],
    ['with blanks around it', '\n  {"a":1,"b":"x"}\n'],
    ['in a fence', '```json\n{"a":1,"b":"x"}\n```'],
    ['in a fence without a language', ' ```\n{"a":1,\n"b":"x"}\n``` '],
  ])('is taken as data: %s', (_, text) => {
    const { world, agent } = speaker(text, pair)
    tickAt(world, 0)
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'done', output: { a: 1, b: 'x' } })
  })

  it.each([
    ['is no JSON', 'The answer is 1.', /it is no JSON/],
    ['is empty', '', /it is no JSON/],
    ['lacks a field', '{"a":1}', /b: .*expected string/],
    ['has a wrong one', '{"a":"1","b":"x"}', /a: expected number/],
    ['stands in a text', 'Here: {"a":1,"b":"x"}', /it is no JSON/],
  ])('and %s is asked for once more, with what is wrong', (_, text, problem) => {
    const { world, agent } = speaker(text, pair)
    const { events } = tickAt(world, 0)
    expect(events).toEqual([{ type: 'output-rejected', agent, problem: expect.stringMatching(problem) }])
    expect(transcript(world, agent).at(-1)).toMatch(problem)
    expect(world.read(agent, Conversation).at(-1)?.role).toBe('user')
    expect(world.read(agent, Turn).repairs).toBe(1)
    expect(world.has(agent, Unread)).toBe(true)
    expect(world.has(agent, LastTurn)).toBe(false)
  })

  it('and is wrong again fails the turn, saying what is wrong', () => {
    const { world, agent } = speaker('{"a":1}', pair)
    world.patch(agent, Turn, { repairs: 1 })
    tickAt(world, 0)
    const { stop, failure, output } = world.read(agent, LastTurn)
    expect([stop, failure?.kind, output]).toEqual(['failed', 'invalid-output', undefined])
    expect(failure?.message).toMatch(/after 1 repair: b: .*expected string/)
    expect(transcript(world, agent).at(-1)).toBe('assistant: [turn failed: invalid-output]')
  })

  it('that nothing can fit fails the turn as well', () => {
    const unreadable = { token: pair.token, initial: { schema: { type: 'string', pattern: '(' } } }
    const { world, agent } = speaker('"x"', unreadable)
    world.patch(agent, Turn, { repairs: 1 })
    tickAt(world, 0)
    expect(world.read(agent, LastTurn).failure?.message).toMatch(/its JSON Schema cannot be read/)
  })
})
