import { describe, expect, it } from 'vitest'
import { rejection } from '../turns/driving.ts'
import { call, calls, delegate, stepwise, team } from './team.ts'

describe('a call of the tool subagent', () => {
  it.each([
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: ' \n ' }],
    ['prompt', { prompt: null }],
    ['prompt', { prompt: 5 }],
    ['category', { category: '' }],
    ['category', { category: 7 }],
    ['load_skills', { load_skills: 'a' }],
    ['load_skills', { load_skills: 3 }],
    ['load_skills', { load_skills: [''] }],
    ['load_skills', { load_skills: ['a', 1] }],
    ['background', { background: 'yes' }],
    ['background', { background: 1 }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: -1 }],
    ['timeout', { timeout: '0' }],
    ['timeout', { timeout: 'NaN' }],
    ['timeout', { timeout: 'Infinity' }],
    ['timeout', { timeout: 'soon' }],
    ['timeout', { timeout: '' }],
    ['timeout', { timeout: true }],
    ['timeout', { timeout: 1e306 }],
  ])('with a wrong %s, %o, is told so; no session begins, and the turn goes on', async (field, input) => {
    const made = team({ lead: stepwise(calls(delegate('a', input))) })
    await made.run()
    const { a: result = '' } = made.results()
    expect(result).toMatch(/^Error: Invalid arguments for 'subagent': /)
    expect(result.slice("Error: Invalid arguments for 'subagent': ".length)).toMatch(
      new RegExp(`^${field}(\\[\\d\\])?: `),
    )
    expect(made.sessions()).toEqual([])
    expect(made.asked('lead')).toHaveLength(2)
    expect(made.told('turn-ended')).toMatchObject([{ stop: 'done' }])
  })

  it.each([
    [{ category: ' ', prompt: '' }, ['category', 'prompt']],
    [{ category: 'ghost', prompt: '', timeout: 0, background: 'yes' }, ['background', 'prompt', 'timeout']],
  ])('with several wrong arguments is told of each, before anything is looked up: %o', async (input, expected) => {
    const made = team({ lead: stepwise(calls(delegate('a', input))) })
    await made.run()
    const { a: result = '' } = made.results()
    const fields = result
      .slice("Error: Invalid arguments for 'subagent': ".length)
      .split('; ')
      .map((part) => part.split(':', 1)[0])
    expect(new Set(fields)).toEqual(new Set(expected))
    expect(result).not.toContain('ghost')
  })

  it('with null for what may be left out, and with fields that nobody knows, is as if they were not there', async () => {
    const nothing = { load_skills: null, background: null, timeout: null, mood: 'good' }
    const made = team({ lead: stepwise(calls(delegate('a', nothing))) })
    await made.run()
    expect(made.results()).toEqual({ a: 'Done: Look' })
    expect(made.sessions()).toMatchObject([{ mode: 'sync', status: 'succeeded' }])
    expect(made.sessions()[0]?.timeoutMs).toBeUndefined()
  })

  it.each([
    ['180', 180_000],
    [' 1.5 ', 1_500],
    [0.05, 50],
    [1e-8, 1e-5],
  ])('with the timeout %o has a session of at most that, in milliseconds: %d', async (timeout, timeoutMs) => {
    const made = team({ lead: stepwise(calls(delegate('a', { timeout }))) })
    await made.run()
    expect(made.sessions()).toMatchObject([{ timeoutMs, status: 'succeeded' }])
  })

  it('with arguments that are no JSON object is told so', async () => {
    const made = team({ lead: stepwise(calls({ id: 'a', name: 'subagent', arguments: '{"prompt": ' })) })
    await made.run()
    expect(made.results()).toEqual({ a: "Error: Invalid arguments for 'subagent': they are no JSON object." })
  })
})

describe('a call of a tool for sessions', () => {
  const session = { session_id: '1' }

  it.each<[string, string, Parameters<typeof call>[2]]>([
    ['subagent_status', 'session_id', { session_id: ' ' }],
    ['subagent_result', 'session_id', {}],
    ['subagent_result', 'read_method', { ...session, read_method: 'brief' }],
    ['subagent_result', 'timeout', { ...session, timeout: -0.01 }],
    ['subagent_result', 'timeout', { ...session, timeout: '' }],
    ['subagent_result', 'timeout', { ...session, timeout: 'NaN' }],
    ['subagent_result', 'offset', { ...session, offset: -1 }],
    ['subagent_result', 'offset', { ...session, offset: 0.5 }],
    ['subagent_result', 'offset', { ...session, offset: 0, read_method: 'summary' }],
    ['subagent_cancel', 'session_id', { session_id: null }],
    ['subagent_wait', 'session_ids', { session_ids: '1' }],
    ['subagent_wait', 'timeout', { timeout: '' }],
    ['subagent_wait', 'timeout', { timeout: -1 }],
    ['subagent_wait', 'mode', { mode: 'some' }],
    ['subagent_resume', 'session_id', { session_id: [] }],
  ])('is told what is wrong, before any session is looked up: %s, %s, %o', async (name, field, input) => {
    const made = team({ lead: stepwise(calls(call('a', name, input))) })
    await made.run()
    const start = `Error: Invalid arguments for '${name}': ${field}: `
    expect(made.results()['a']?.slice(0, start.length)).toBe(start)
    expect(made.asked('lead')).toHaveLength(2)
  })
})

describe('a launch by a program', () => {
  it.each([
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: ' ' }],
    ['prompt', { prompt: 5 }],
    ['category', { category: '' }],
    ['category', { category: 5 }],
    ['category', { category: null }],
    ['loadSkills', { loadSkills: 'a' }],
    ['loadSkills', { loadSkills: [''] }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['timeoutMs', { timeoutMs: Infinity }],
    ['timeoutMs', { timeoutMs: '180' }],
    ['timeout', { timeout: 5 }],
  ])('with a wrong %s, %o, throws invalid-argument', async (field, wrong) => {
    const made = team()
    await made.run()
    const options = { category: 'researcher', prompt: 'Look', ...wrong } as { prompt: string }
    const error = await rejection(made.runner.subagents(made.lead).spawn(options))
    expect(error).toMatchObject({ code: 'invalid-argument', message: expect.stringContaining(field) })
    expect(made.sessions()).toEqual([])
  })
})
