import { fail, type System, textOf } from 'entia'
import { Ancestry, Answered, Conversation, Terminal } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { gate, turns } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { expectValid } from '../../transcript.ts'
import {
  type Behaviour,
  call,
  calls,
  delegate,
  resultsIn,
  stepwise,
  taskOf,
  type Team,
  team,
  type TeamOptions,
} from './team.ts'

const asks = stepwise(calls(delegate('a')))

/** A team whose lead has asked the researcher, which did this, and waited for it. */
async function asked(worker: Behaviour, options: TeamOptions = {}): Promise<Team> {
  const made = team({ lead: asks, worker, ...options })
  await made.run()
  expectValid(made.world, made.lead)
  return made
}

/** Takes as many milliseconds as its task says. */
const slow: Behaviour = async (request, { sleep }) => {
  await sleep(Number(taskOf(request)))
  return `After ${taskOf(request)}`
}

describe('a subagent that is waited for', () => {
  it.each(['Subagent result', '  spaced\n', 'Error: none at all', '<summary>s</summary>'])(
    'answers the call with exactly its final text: %j',
    async (text) => {
      const made = await asked(() => text)
      expect(made.results()).toEqual({ a: text })
      expect(made.sessions()).toMatchObject([{ mode: 'sync', status: 'succeeded' }])
      expect(made.told('tool-answered')).toMatchObject([{ isError: false }])
      expect([...made.world.read(made.lead, Conversation)].filter((message) => 'isError' in message)).toEqual([])
    },
  )

  it('answers with an envelope as it stands', async () => {
    const envelope =
      '<subagent_background_result><summary>S</summary><full_result>F</full_result></subagent_background_result>'
    expect((await asked(() => envelope)).results()).toEqual({ a: envelope })
  })

  it('answers with its last text, not with what it said on the way', async () => {
    const knock = tool('knock', () => 'Who is there?')
    const worker = stepwise({ text: 'Let me see.', toolCalls: [call('x', 'knock')] }, 'Nobody.')
    const made = await asked(worker, { subagents: { researcher: { tools: ['knock'] } }, runner: { tools: [knock] } })
    expect(made.results()).toEqual({ a: 'Nobody.' })
  })

  it('leaves no notification and no message', async () => {
    const made = await asked(() => 'Found.')
    const roles = [...made.world.read(made.lead, Conversation)].map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  it('whose model fails for good is told of, and its parent goes on', async () => {
    const made = await asked(() => fail('internal', { message: 'boom' }))
    const next = made.asked('lead')[1]?.request
    expect(resultsIn(next?.messages ?? [])).toEqual({ a: "Error: Subagent 'researcher' failed: boom" })
    expect(made.sessions()).toMatchObject([{ status: 'failed', error: 'boom' }])
    expect(made.told('turn-ended').at(-1)).toMatchObject({ agent: made.lead, stop: 'done' })
  })

  it('that is too slow is timed out, and its parent goes on', async () => {
    const lead = stepwise(calls(delegate('a', { prompt: '1000', timeout: 0.05 })))
    const made = await asked(slow, { lead })
    const [session] = made.sessions()
    const error = 'Subagent timeout after 0.05s'
    expect(made.results()).toEqual({ a: `Error: Subagent 'researcher' failed: ${error}` })
    expect(session).toMatchObject({ status: 'timed_out', error, timeoutMs: 50, finishedAtMs: 50 })
    expect(made.asked('worker')[0]?.context.signal.aborted).toBe(true)
    expect(made.asked('lead')).toHaveLength(2)
  })

  it('that ends at its deadline has ended', async () => {
    const lead = stepwise(calls(delegate('a', { prompt: '50', timeout: 0.05 })))
    const made = await asked(slow, { lead })
    expect(made.results()).toEqual({ a: 'After 50' })
    expect(made.sessions()).toMatchObject([{ status: 'succeeded', finishedAtMs: 50 }])
  })

  it.each(['', ' \n\t'])('that ends without a text has failed: %j', async (text) => {
    const made = await asked(() => text)
    const error = 'No assistant message found in subagent conversation'
    expect(made.sessions()).toMatchObject([{ status: 'failed', error }])
    expect(made.results()).toEqual({ a: `Error: Subagent 'researcher' failed: ${error}` })
  })

  it('that ends without a text has failed, whatever it said before', async () => {
    const knock = tool('knock', () => 'Who is there?')
    const worker = stepwise({ text: 'Let me see.', toolCalls: [call('x', 'knock')] }, '')
    const made = await asked(worker, { subagents: { researcher: { tools: ['knock'] } }, runner: { tools: [knock] } })
    expect(made.sessions()).toMatchObject([{ status: 'failed' }])
  })
})

describe('the steps of a subagent', () => {
  const knock = tool('knock', () => 'Who is there?')
  const forever: Behaviour = () => calls({ name: 'knock' })

  it('end at its limit, after the calls of the last one were answered', async () => {
    const subagents = { researcher: { maxSteps: 3, tools: ['knock'] } }
    const made = await asked(forever, { subagents, runner: { tools: [knock] } })
    expect(made.asked('worker')).toHaveLength(3)
    expect(made.sessions()).toMatchObject([{ status: 'failed', error: 'Step limit reached (3)' }])
    expect(made.results()).toEqual({ a: "Error: Subagent 'researcher' failed: Step limit reached (3)" })
  })

  it('may use up the limit, if the last gives a text', async () => {
    const subagents = { researcher: { maxSteps: 3, tools: ['knock'] } }
    const worker = stepwise(calls({ name: 'knock' }), calls({ name: 'knock' }), 'Nobody.')
    const made = await asked(worker, { subagents, runner: { tools: [knock] } })
    expect(made.results()).toEqual({ a: 'Nobody.' })
  })

  it('are 10 unless its config says otherwise', async () => {
    const made = await asked(forever, { subagents: { researcher: { tools: ['knock'] } }, runner: { tools: [knock] } })
    expect(made.asked('worker')).toHaveLength(10)
    expect(made.sessions()).toMatchObject([{ error: 'Step limit reached (10)' }])
  })
})

describe('a subagent that becomes terminal', () => {
  /** Ends agents of sessions for good, once their model has spoken. */
  const ending = (mark: typeof Answered | undefined): System => ({
    name: 'ending',
    priority: -75,
    run(world) {
      for (const agent of world.query(Ancestry)) {
        const hasSpoken =
          mark === undefined ? world.read(agent, Conversation).at(-1)?.role === 'assistant' : world.has(agent, mark)
        if (hasSpoken && !world.has(agent, Terminal)) world.add(agent, Terminal)
      }
    },
  })

  it('ends its session and nothing of its parent, whose next model call is made', async () => {
    const made = await asked(() => 'My last word.', { furtherSystems: [ending(Answered)] })
    expect(made.results()).toEqual({ a: 'My last word.' })
    expect(made.world.has(made.lead, Terminal)).toBe(false)
    expect(made.asked('lead')).toHaveLength(2)
    expect(made.told('turn-ended').at(-1)).toMatchObject({ agent: made.lead, stop: 'done' })
  })

  it('in the midst of its work has failed, without a word', async () => {
    const knock = tool('knock', () => 'Who is there?')
    const subagents = { researcher: { tools: ['knock'] } }
    const furtherSystems = [ending(undefined)]
    const worker = stepwise(calls({ name: 'knock' }), 'Nobody.')
    const made = await asked(worker, { subagents, furtherSystems, runner: { tools: [knock] } })
    const error = 'No assistant message found in subagent conversation'
    expect(made.results()).toEqual({ a: `Error: Subagent 'researcher' failed: ${error}` })
    expect(made.world.has(made.lead, Terminal)).toBe(false)
    expect(made.asked('lead')).toHaveLength(2)
    expect(made.asked('worker')).toHaveLength(1)
  })
})

describe('several calls in one message', () => {
  it('run side by side, and are answered once each, in the order of the calls', async () => {
    const lead = stepwise(calls(delegate('a', { prompt: '100' }), delegate('b', { prompt: '100' })))
    const made = await asked(slow, { lead })
    expect(answeredOf(made)).toEqual(['a', 'b'])
    expect(made.results()).toEqual({ a: 'After 100', b: 'After 100' })
    expect(made.world.nowMs).toBe(100)
    expect(made.asked('lead')).toHaveLength(2)
  })

  it('are answered in that order whichever ends first', async () => {
    const lead = stepwise(calls(delegate('a', { prompt: '100' }), delegate('b', { prompt: '10' })))
    const made = await asked(slow, { lead })
    expect(answeredOf(made)).toEqual(['a', 'b'])
    expect(made.sessions()).toMatchObject([{ finishedAtMs: 100 }, { finishedAtMs: 10 }])
    expect(made.world.nowMs).toBe(100)
  })

  it('do not hinder each other: one fails, one is refused, one succeeds', async () => {
    const lead = stepwise(
      calls(delegate('a', { prompt: 'fail' }), delegate('b', { category: 'ghost' }), delegate('c', { prompt: 'Look' })),
    )
    const made = await asked(
      (request) => (taskOf(request) === 'fail' ? fail('internal', { message: 'boom' }) : 'Found.'),
      { lead },
    )
    expect(made.results()).toEqual({
      a: "Error: Subagent 'researcher' failed: boom",
      b: "Error: Unknown subagent 'ghost'. Available subagents: researcher",
      c: 'Found.',
    })
    expect(answeredOf(made)).toEqual(['a', 'b', 'c'])
  })

  /** Calls of the lead, in the order in which their results came into its conversation. */
  function answeredOf(made: Team): string[] {
    return [...made.world.read(made.lead, Conversation)].flatMap((message) =>
      message.role === 'tool' ? message.callId : [],
    )
  }
})

describe('a subagent in the background', () => {
  it('is answered for in the tick of the call, with four facts', async () => {
    const lead = stepwise(calls(delegate('a', { background: true })))
    const made = await asked(() => 'Found.', { lead })
    const answer = made.results()['a'] ?? ''
    expect(JSON.parse(answer)).toEqual({
      status: 'success',
      session_id: made.sessions()[0]?.sessionId,
      category: 'researcher',
      lifecycle_status: 'queued',
    })
    expect(Object.keys(JSON.parse(answer) as object)).toEqual(['status', 'session_id', 'category', 'lifecycle_status'])
    const [called] = made.told('tool-called')
    const [answered] = made.told('tool-answered')
    expect(answered?.tick).toBe(called?.tick)
    expect(made.sessions()[0]?.sessionId).toMatch(/^session-[0-9a-f]{16}$/)
  })

  it('does not keep the next model call of its parent waiting', async () => {
    const open = gate()
    const lead = stepwise(calls(delegate('a', { background: true })), 'Meanwhile.')
    const made = team({ lead, worker: () => open.promise.then(() => 'Found.') })
    await made.runner.start()
    await made.next('turn-ended')
    await turns()
    expect(made.asked('lead')).toHaveLength(2)
    expect(textOf([...made.world.read(made.lead, Conversation)].at(-1))).toBe('Meanwhile.')
    expect(made.sessions()).toMatchObject([{ status: 'running' }])
    open.resolve()
    await made.runner.idle()
    expect(made.sessions()).toMatchObject([{ status: 'succeeded', mode: 'background' }])
  })
})
