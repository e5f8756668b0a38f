import { describe, expect, it } from 'vitest'
import type { AskEvent, Before, FoundAgent } from '../../src/cli/ask-event.ts'
import type { Branch } from '../../src/cli/terminal/session-tree.ts'
import { SessionTree } from '../../src/cli/terminal/session-tree.ts'

const run = { run: 'ask-1', data: '/data', folder: '/files', question: 'Why?', places: [], model: 'a/b' }
const usage = { input: 100, cacheRead: 20, output: 3 }
const path = ['session-1']

/** What the tree shows after these events, one a second. */
function treeAfter(...events: readonly AskEvent[]): Branch[] {
  const tree = new SessionTree(0)
  for (const [index, event] of events.entries()) tree.take(event, (index + 1) * 1_000)
  return tree.branches((events.length + 1) * 1_000)
}

const queued: AskEvent = { type: 'session-queued', tick: 1, index: 0, session: 'session-1', name: 'docs' }
const started: AskEvent = {
  type: 'session-started',
  tick: 2,
  index: 0,
  session: 'session-1',
  name: 'docs',
  task: 'Why?',
}
const called: AskEvent = { type: 'model-called', path, tick: 1, index: 0, step: 1 }
const replied: AskEvent = { type: 'model-replied', path, tick: 2, index: 0, usage }
const reads: AskEvent = {
  type: 'tool-called',
  path,
  tick: 2,
  index: 1,
  callId: 'call-1',
  tool: 'read_file',
  arguments: { path: 'a.md' },
}
const ended: AskEvent = {
  type: 'session-ended',
  tick: 3,
  index: 0,
  session: 'session-1',
  status: 'succeeded',
  durationMs: 4_200,
  note: 'Found.',
}

describe('what the tree shows of a session', () => {
  it('begins in the queue, under the name of its task', () => {
    expect(treeAfter(queued)[1]).toMatchObject({ path, name: 'docs', state: 'queued', durationMs: 0, doing: '' })
  })

  it('is what it does, and how long it has been at it', () => {
    expect(treeAfter(queued, started, called)[1]).toMatchObject({
      state: 'running',
      steps: 1,
      tokens: 0,
      doing: 'thinking',
    })
    expect(treeAfter(queued, started, called, replied, reads)[1]).toMatchObject({
      tokens: 123,
      durationMs: 4_000,
      doing: 'read_file a.md',
    })
  })

  it('is one of several calls at once, and how many there are besides', () => {
    const others = ['call-2', 'call-3'].map((callId) => ({ ...reads, callId, arguments: { path: callId } }))
    expect(treeAfter(queued, started, called, replied, reads, ...others)[1]?.doing).toBe('read_file a.md and 2 more')
  })

  it('ends with what came of it, and its time stands still', () => {
    expect(treeAfter(queued, started, called, replied, ended, called)[1]).toMatchObject({
      durationMs: 4_200,
      doing: expect.stringMatching(/./),
    })
    expect(treeAfter(queued, started, ended)[1]).toMatchObject({ state: 'succeeded', doing: 'Found.' })
  })

  it('goes on when it is asked a further question, until it has answered', () => {
    const again: AskEvent = { ...called, tick: 4 }
    const answered: AskEvent = { type: 'query-answered', tick: 5, index: 0, session: 'session-1' }
    expect(treeAfter(queued, started, called, ended, again)[1]).toMatchObject({ state: 'answering', doing: 'thinking' })
    expect(treeAfter(queued, started, called, ended, again, answered)[1]).toMatchObject({
      state: 'succeeded',
      steps: 2,
      doing: 'Found.',
    })
  })

  it('is where it stopped when the run was stopped', () => {
    const stopped: AskEvent = { type: 'run-stopped', run: 'ask-1', resumeBy: 'entia --resume' }
    expect(treeAfter(queued, started, reads, stopped).map(({ state, doing }) => [state, doing])).toEqual([
      ['stopped', ''],
      ['stopped', ''],
    ])
    expect(treeAfter(queued, started, ended, stopped)[1]?.state).toBe('succeeded')
  })

  it('stands behind the session that launched it', () => {
    const other: AskEvent = { ...queued, session: 'session-2', name: 'src' }
    const nested: AskEvent = { ...queued, path, session: 'session-3', name: 'deep' }
    expect(treeAfter(queued, other, nested).map(({ path: at }) => at)).toEqual([
      [],
      ['session-1'],
      ['session-1', 'session-3'],
      ['session-2'],
    ])
  })
})

describe('what the tree shows of the lead', () => {
  const waits: AskEvent = {
    type: 'tool-answered',
    tick: 3,
    index: 0,
    callId: 'call-9',
    tool: 'subagent_wait',
    arguments: { mode: 'all' },
    isError: false,
    text: 'Waiting for background subagents. Will be notified when they complete.',
  }

  it('is that it sleeps, until it thinks again', () => {
    expect(treeAfter(queued, waits)[0]).toMatchObject({ state: 'asleep', doing: '' })
    const wakes: AskEvent = { type: 'model-called', tick: 4, index: 0, step: 2 }
    expect(treeAfter(queued, waits, wakes)[0]).toMatchObject({ state: 'running', doing: 'thinking' })
  })

  it('names sessions as people do', () => {
    const asks: AskEvent = {
      ...reads,
      path: undefined,
      tool: 'subagent_result',
      arguments: { session_id: 'session-1' },
    }
    expect(treeAfter(queued, asks)[0]?.doing).toBe('subagent_result docs full')
  })
})

describe('a run that goes on', () => {
  const agent: FoundAgent = {
    tick: 9,
    steps: 4,
    modelCalls: 3,
    toolCalls: 2,
    usage,
    durationMs: 5_000,
    open: [],
    isAsleep: false,
  }
  const open = [{ callId: 'call-1', tool: 'read_file', arguments: { path: 'b.md' } }]
  const before: Before = {
    ...{ modelCalls: 9, toolCalls: 5, sessions: 3, usage, durationMs: 5_000, isFinished: false, tools: [] },
    lead: { ...agent, isAsleep: true },
    tree: [
      { ...agent, path: ['done'], name: 'docs', status: 'succeeded', isAsked: false, note: 'Found.' },
      { ...agent, path: ['half'], name: 'src', status: 'running', isAsked: false, open },
      { ...agent, path: ['late'], name: 'test', status: 'queued', isAsked: false, steps: 0, durationMs: 0 },
      { ...agent, path: ['more'], name: 'bench', status: 'succeeded', isAsked: true },
    ],
  }
  const resumed: AskEvent = { type: 'run-started', ...run, before }

  it('shows what was done before: who has ended, who goes on where, and who waits', () => {
    const facts = treeAfter(resumed).map(({ name, state, doing, durationMs }) => [name, state, doing, durationMs])
    expect(facts).toEqual([
      ['lead', 'asleep', '', 6_000],
      ['docs', 'succeeded', 'Found.', 5_000],
      ['src', 'running', 'read_file b.md', 6_000],
      ['test', 'queued', '', 0],
      ['bench', 'answering', 'thinking', 5_000],
    ])
  })

  it('has the call that the lead had under way, in the words of people', () => {
    const asking = [{ callId: 'call-7', tool: 'query_subagent', arguments: { id: 'more', prompt: 'And then?' } }]
    const again: AskEvent = { ...resumed, before: { ...before, lead: { ...agent, open: asking } } }
    expect(treeAfter(again)[0]).toMatchObject({ state: 'running', doing: 'query_subagent bench: And then?' })
  })

  it('counts nothing twice that is told again', () => {
    const again: AskEvent = { ...replied, path: ['half'], tick: 9 }
    const next: AskEvent = { ...replied, path: ['half'], tick: 10 }
    const before = treeAfter(resumed)[2]?.tokens ?? 0
    expect(treeAfter(resumed, again)[2]?.tokens).toBe(before)
    expect(treeAfter(resumed, next)[2]?.tokens).toBe(before + 123)
  })
})
