import { Conversation, type ScriptedReply, SessionPool, textOf } from 'entia'
import { describe, expect, it } from 'vitest'
import { after, answered, hang, statusOf } from './pace.ts'
import { type Behaviour, call, calls, delegate, notesIn, stepwise, taskOf, team } from './team.ts'

const launch = calls(delegate('a', { background: true }))

/** Reads the first session's result. */
function read(id: string, more: Readonly<Record<string, string | number>> = {}): ScriptedReply {
  return calls(reading(id, more))
}

function reading(id: string, more: Readonly<Record<string, string | number>> = {}) {
  return call(id, 'subagent_result', { session_id: '1', ...more })
}

/** A team whose worker says this, and whose lead launches it and then goes on as told. */
function told(text: string, ...replies: readonly (ScriptedReply | Behaviour)[]) {
  return team({ worker: () => text, lead: stepwise(launch, ...replies) })
}

function enveloped(summary: string, result: string): string {
  return `<subagent_background_result><summary>${summary}</summary><full_result>${result}</full_result></subagent_background_result>`
}

const keys = [
  'status',
  'session_id',
  'category',
  'lifecycle_status',
  'read_method',
  'artifact_id',
  'record_path',
  'inline_content',
  'error',
]

describe('the result of a session', () => {
  it('is read with these keys and no others', async () => {
    const made = told('Found it.', read('r'))
    await made.run()
    const [record] = made.sessions()
    expect(Object.keys(answered(made, 'r')).toSorted()).toEqual(keys.toSorted())
    expect(answered(made, 'r')).toEqual({
      status: 'success',
      session_id: record?.sessionId,
      category: 'researcher',
      lifecycle_status: 'succeeded',
      read_method: 'full',
      artifact_id: record?.artifactId,
      record_path: record?.recordPath,
      inline_content: 'Found it.',
      error: null,
    })
  })

  it('that is read before its time is waited for, and answered in the tick in which it is there', async () => {
    const made = team({ worker: after(5_000, 'Found it.'), lead: stepwise(launch, read('r')) })
    await made.run()
    expect(answered(made, 'r')).toMatchObject({ status: 'success', inline_content: 'Found it.' })
    expect(made.world.nowMs).toBe(5_000)
    expect(made.asked('lead')).toHaveLength(3)
    // The answer is how the agent has heard of it.
    expect(notesIn(made.asked('lead').at(-1)?.request.messages ?? [])).toEqual([])
  })

  it('that two calls wait for answers both of them', async () => {
    const both = calls(reading('first', { timeout: 60 }), reading('second', { timeout: 60 }))
    const made = team({ worker: after(5_000, 'Found it.'), lead: stepwise(launch, both) })
    await made.run()
    const answer = { status: 'success', inline_content: 'Found it.', error: null }
    expect([answered(made, 'first'), answered(made, 'second')]).toMatchObject([answer, answer])
    expect(made.world.nowMs).toBe(5_000)
  })

  it('that does not come in the time given is answered with that, and the session runs on', async () => {
    const made = team({
      worker: after(5_000, 'Found it.'),
      lead: stepwise(launch, read('r', { timeout: 0.01 }), statusOf('s', 1), read('later')),
    })
    await made.run()
    expect(Object.keys(answered(made, 'r')).toSorted()).toEqual(keys.toSorted())
    expect(answered(made, 'r')).toMatchObject({
      status: 'error',
      category: 'researcher',
      lifecycle_status: 'running',
      artifact_id: null,
      record_path: null,
      inline_content: null,
      error: 'Timeout waiting for session result after 0.01s',
    })
    expect(answered(made, 's1')).toMatchObject({ lifecycle_status: 'running' })
    expect(answered(made, 'later')).toMatchObject({ status: 'success', inline_content: 'Found it.' })
  })

  it('of a session in the queue is told with its place, and with no time given not waited for', async () => {
    const made = team({
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
      worker: after(100, 'Found it.'),
      lead: stepwise(
        calls(delegate('a', { background: true }), delegate('b', { background: true })),
        after(50, calls(call('r', 'subagent_result', { session_id: '2', timeout: 0 }))),
        (_, { signal }) => `${made.world.nowMs} ${signal.aborted}`,
      ),
    })
    await made.run()
    expect(Object.keys(answered(made, 'r')).toSorted()).toEqual([...keys, 'queue_position'].toSorted())
    expect(answered(made, 'r')).toMatchObject({
      status: 'error',
      lifecycle_status: 'queued',
      queue_position: 0,
      error: 'Timeout waiting for session result after 0s',
    })
    expect(made.world.read(made.lead, Conversation).some((message) => textOf(message) === '50 false')).toBe(true)
  })

  it('is not waited for at all if no time is given: the answer comes in the tick of the call', async () => {
    const made = team({ worker: after(100, 'Found it.'), lead: stepwise(launch, after(50, read('r', { timeout: 0 }))) })
    await made.run()
    expect(answered(made, 'r')).toMatchObject({ status: 'error', lifecycle_status: 'running', inline_content: null })
    const asked = made.told('model-replied').filter(({ path }) => path === undefined)[1]
    expect(made.told('tool-answered').find(({ callId }) => callId === 'r')?.tick).toBe(asked?.tick)
  })

  it.each(['full', 'summary'])('of a session that did not succeed is its error, read as %s', async (read_method) => {
    const made = team({
      worker: hang,
      lead: stepwise(calls(delegate('a', { background: true, timeout: 1 })), read('r', { read_method })),
    })
    await made.run()
    expect(answered(made, 'r')).toMatchObject({
      status: 'error',
      lifecycle_status: 'timed_out',
      read_method,
      artifact_id: null,
      record_path: null,
      inline_content: null,
      error: 'Subagent timeout after 1s',
    })
  })
})

describe('an envelope', () => {
  it('is opened: the summary and the full result are read each by itself', async () => {
    const made = told(
      `\n ${enveloped(' In short. ', ' All of it. ')}\n`,
      calls(reading('full'), reading('summary', { read_method: 'summary' })),
    )
    await made.run()
    expect(answered(made, 'full')).toMatchObject({
      status: 'success',
      read_method: 'full',
      inline_content: 'All of it.',
    })
    expect(answered(made, 'summary')).toMatchObject({
      status: 'success',
      read_method: 'summary',
      inline_content: 'In short.',
      error: null,
    })
  })

  it('that is not there has no summary', async () => {
    const made = told('All of it.', read('summary', { read_method: 'summary' }))
    await made.run()
    expect(Object.keys(answered(made, 'summary')).toSorted()).toEqual(keys.toSorted())
    expect(answered(made, 'summary')).toMatchObject({
      status: 'error',
      lifecycle_status: 'succeeded',
      inline_content: null,
      error: 'Summary not available for this session. Retry with read_method="full".',
    })
  })

  it.each([
    ['has no end', enveloped('s', 'r').replace('</subagent_background_result>', '')],
    ['breaks off within its result', enveloped('s', 'r').slice(0, -45)],
    ['has no full result', enveloped('s', ' ')],
    ['has text before it', `Here: ${enveloped('s', 'r')}`],
    ['has text behind it', `${enveloped('s', 'r')} That is all.`],
    ['has its parts in the other order', enveloped('s', 'r').replace(/(<sum.*ry>)(<full.*lt>)(?=<)/, '$2$1')],
    ['has no summary at all', enveloped('s', 'r').replace('<summary>s</summary>', '')],
  ])('that %s is none: the whole text is the result', async (_, text) => {
    expect(text).not.toBe(enveloped('s', 'r'))
    const made = told(text, calls(reading('full'), reading('summary', { read_method: 'summary' })))
    await made.run()
    expect(answered(made, 'full')).toMatchObject({ status: 'success', inline_content: text })
    expect(answered(made, 'summary')).toMatchObject({ status: 'error', inline_content: null })
  })

  it('is asked for in the background, from the first request on, and of nobody else', async () => {
    const made = team({
      lead: stepwise(calls(delegate('a', { prompt: 'behind', background: true }), delegate('b', { prompt: 'before' }))),
    })
    await made.run()
    const systems = new Map(made.asked('worker').map(({ request }) => [taskOf(request), JSON.stringify(request)]))
    expect(systems.get('behind')).toContain('<subagent_background_result>')
    expect(systems.get('before')).not.toContain('<subagent_background_result>')
    expect(made.asked('lead')[0]?.request.system).not.toContain('<subagent_background_result>')
  })
})
