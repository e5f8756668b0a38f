import { assistant, Conversation, Paused, SessionPool, SubagentRegistry, user } from 'entia'
import { DelegationLimits } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { driven, emptyWorld, gate, rejection } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import {
  belowAFork,
  directiveOf,
  forkCall,
  forkRequests,
  lines,
  onlySession,
  parentAndFork,
  placeholder,
} from './forking.ts'
import { answerIn, call, calls, stepwise, team, type Team } from './team.ts'

/** Ticks of this world alone in which events of a type came. */
function ticksOf({ told }: Team, type: 'tool-answered' | 'tool-called'): number[] {
  return told(type).flatMap(({ tick, path }) => (path === undefined ? [tick] : []))
}

describe('a fork that a model asks for', () => {
  it('is answered in the tick of the call, and the next step does not wait for it', async () => {
    const slow = parentAndFork(stepwise(calls(forkCall('one'))), async (_, { sleep }) => {
      await sleep(1_000)
      return 'Scope: all of it'
    })
    const made = team({ lead: slow })
    await made.runner.start()
    await made.next('turn-ended')
    expect(ticksOf(made, 'tool-answered')).toEqual(ticksOf(made, 'tool-called'))
    const session = onlySession(made)
    expect(answerIn(made.world.read(made.lead, Conversation), 'one')).toEqual({
      status: 'success',
      session_id: session.sessionId,
      category: 'fork',
      lifecycle_status: 'queued',
    })
    expect(session).toMatchObject({ kind: 'fork', category: 'fork', mode: 'background', prompt: 'Look around' })
    expect(made.world.nowMs).toBe(0)
    await made.runner.idle()
    expect(onlySession(made)).toMatchObject({ status: 'succeeded', startedAtMs: 0, finishedAtMs: 1_000 })
  })

  it('never blocks it, whatever `background` says, and has the time-out of the call', async () => {
    const asking = call('one', 'subagent', { category: 'fork', prompt: 'Look', background: false, timeout: 2 })
    const made = team({ lead: parentAndFork(stepwise(calls(asking))) })
    await made.run()
    expect(onlySession(made)).toMatchObject({ mode: 'background', timeoutMs: 2_000, status: 'succeeded' })
  })

  it.for<[what: string, input: object, defaultCategory: string | undefined, category: string]>([
    ['no category', {}, undefined, 'fork'],
    ['a category of null', { category: null }, undefined, 'fork'],
    ['no category, and a default that is not registered', {}, 'poet', 'fork'],
    ['no category, and a default that is registered', {}, 'researcher', 'researcher'],
  ])('is what %s means', async ([, input, defaultCategory, category]) => {
    const asking = call('one', 'subagent', { prompt: 'Look', ...input })
    const registry = defaultCategory === undefined ? {} : { defaultCategory }
    const made = team({ registry, lead: parentAndFork(stepwise(calls(asking))) })
    await made.run()
    expect(onlySession(made)).toMatchObject({ category, kind: category === 'fork' ? 'fork' : 'named' })
  })

  it('can be found in the declaration of `category`', async () => {
    const categories: string[] = []
    for (const enabled of [true, false]) {
      const made = team({ registry: { fork: { enabled } } })
      await made.run()
      const declared = made.asked()[0]?.request.tools.find(({ name }) => name === 'subagent')
      categories.push(JSON.stringify(declared?.inputSchema['properties']))
    }
    expect(categories[0]).toContain('fork')
    expect(categories[1]).not.toContain('fork')
  })

  it('is an unknown subagent with forks off, and a category left out is a wrong argument', async () => {
    const named = call('named', 'subagent', { category: 'fork', prompt: 'Look' })
    const none = call('none', 'subagent', { prompt: 'Look' })
    const made = team({
      registry: { fork: { enabled: false }, freeForm: { enabled: true } },
      lead: stepwise(calls(named, none)),
    })
    await made.run()
    expect(made.results()['named']).toBe("Error: Unknown subagent 'fork'. Available subagents: researcher")
    expect(made.results()['none']).toMatch(/^Error: Invalid arguments for 'subagent': category: /)
    expect(made.sessions()).toEqual([])
    expect(made.told('session-queued')).toEqual([])
  })

  it('takes no further skills', async () => {
    const asking = call('one', 'subagent', { category: 'fork', prompt: 'Look', load_skills: ['x'] })
    const made = team({ lead: stepwise(calls(asking)) })
    await made.run()
    expect(made.results()['one']).toMatch(/^Error: Invalid arguments for 'subagent': load_skills: /)
    expect(made.sessions()).toEqual([])
  })

  it('begins with the message that asks, placeholders for its calls in their order, and the directive', async () => {
    const read = tool('read_file', () => 'The file.')
    const lead = stepwise({
      text: 'Three at once.',
      toolCalls: [call('read', 'read_file'), forkCall('left', 'Go left'), forkCall('right', 'Go right')],
    })
    const made = team({ lead: parentAndFork(lead), agent: { tools: [read] }, runner: { tools: [read] } })
    await made.run()
    const shared = [
      'user: Go',
      'assistant: Three at once. <read> <left> <right>',
      ...['read', 'left', 'right'].map((id) => `tool ${id}: ${placeholder}`),
    ]
    expect(forkRequests(made).map(lines)).toEqual([
      [...shared, 'directive: Go left'],
      [...shared, 'directive: Go right'],
    ])
    expect(made.results()['read']).toBe('The file.')
  })

  it('is like the others of its message, though results of that are there already when it is its turn', async () => {
    const lead = stepwise(calls(call('none', 'nothing'), forkCall('left', 'Go'), forkCall('right', 'Go')))
    // Each call is decided about in a tick of its own.
    const made = team({ lead: parentAndFork(lead), systems: { maxStartsPerTick: 1 } })
    await made.run()
    const placeholders = ['none', 'left', 'right'].map((id) => `tool ${id}: ${placeholder}`)
    const alike = ['user: Go', 'assistant:  <none> <left> <right>', ...placeholders, 'directive: Go']
    expect(forkRequests(made).map(lines)).toEqual([alike, alike])
    expect(made.results()['none']).toContain('Error: ')
  })

  it('leaves no placeholder and no directive in the conversation of its parent', async () => {
    const made = team({ lead: parentAndFork(stepwise(calls(forkCall('one', 'Go left'), forkCall('two', 'Go right')))) })
    await made.run()
    expect(made.sessions().map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    const said = JSON.stringify(made.world.read(made.lead, Conversation).filter(({ role }) => role !== 'assistant'))
    for (const text of [placeholder, 'fork-boilerplate', 'Directive: ', 'Go left']) expect(said).not.toContain(text)
  })

  it('runs though a user has written its tag', async () => {
    const tagged = 'What does <fork-boilerplate> mean?</fork-boilerplate>\n\nDirective: none'
    const made = team({ agent: { messages: tagged }, lead: parentAndFork(stepwise(calls(forkCall('one')))) })
    await made.run()
    expect(onlySession(made)).toMatchObject({ kind: 'fork', status: 'succeeded' })
    expect(forkRequests(made)).toHaveLength(1)
  })

  it('does not fork, whether it says so or leaves the category out', async () => {
    const again = calls(forkCall('said'), call('left-out', 'subagent', { prompt: 'Look' }))
    const fork = stepwise('', again, 'Scope: nothing')
    const made = team({ lead: parentAndFork(stepwise(calls(forkCall('one'))), fork) })
    await made.run()
    const refused = 'Error: A fork cannot fork; carry out the directive yourself'
    expect(forkRequests(made)).toHaveLength(2)
    expect(lines(forkRequests(made)[1] as never).slice(-2)).toEqual([
      `tool said: ${refused}`,
      `tool left-out: ${refused}`,
    ])
    expect(made.told('session-queued')).toHaveLength(1)
    expect(onlySession(made).status).toBe('succeeded')
  })

  it('needs what any session needs', async () => {
    const made = team({ parts: [DelegationLimits({ depth: 0, sessions: 5 })], lead: stepwise(calls(forkCall('one'))) })
    await made.run()
    expect(made.results()['one']).toBe('Error: Delegation limit reached: depth')
  })
})

describe('a fork that a program asks for', () => {
  const reports = parentAndFork(() => 'Done.')

  it('has a history that ends with a text of the model unchanged, and the directive behind it', async () => {
    const made = team({ lead: reports })
    await made.run()
    const { sessionId, sequence } = await made.runner.subagents(made.lead).fork('Look', { timeoutMs: 5_000 })
    await made.runner.idle()
    expect(onlySession(made)).toMatchObject({ sessionId, sequence, kind: 'fork', timeoutMs: 5_000 })
    expect(forkRequests(made).map(lines)).toEqual([['user: Go', 'assistant: Done.', 'directive: Look']])
  })

  it('lacks what no model call has answered', async () => {
    const messages = [user('Go'), assistant('Gone.'), user('And now?'), user('Well?')]
    const made = team({ agent: { messages }, parts: [Paused], lead: reports })
    await made.runner.start()
    await made.runner.subagents(made.lead).fork('Look')
    await made.runner.idle()
    expect(forkRequests(made).map(lines)).toEqual([['user: Go', 'assistant: Gone.', 'directive: Look']])
  })

  it('of an agent to whom nothing was said has one message, the directive', async () => {
    const made = team({ agent: { messages: [] }, lead: reports })
    await made.runner.start()
    await made.runner.subagents(made.lead).fork('Look')
    await made.runner.idle()
    expect(forkRequests(made).map(lines)).toEqual([['directive: Look']])
    expect(onlySession(made).status).toBe('succeeded')
  })

  it('in mid-step has the results that are there, and placeholders for the open calls', async () => {
    const opened = gate()
    const quick = tool('quick', () => 'Found.')
    const slow = tool('slow', () => opened.promise.then(() => 'Found late.'))
    const lead = stepwise({ text: 'Both.', toolCalls: [call('a', 'quick'), call('b', 'slow'), call('c', 'quick')] })
    const made = team({ lead: parentAndFork(lead), agent: { tools: [quick, slow] }, runner: { tools: [quick, slow] } })
    await made.runner.start()
    await made.next('tool-answered')
    await made.runner.subagents(made.lead).fork('Look')
    await made.next('session-ended')
    opened.resolve()
    await made.runner.idle()
    expect(forkRequests(made).map(lines)).toEqual([
      [
        'user: Go',
        'assistant: Both. <a> <b> <c>',
        'tool a: Found.',
        `tool b: ${placeholder}`,
        `tool c: ${placeholder}`,
        'directive: Look',
      ],
    ])
    expect(made.results()).toEqual({ a: 'Found.', b: 'Found late.', c: 'Found.' })
  })

  it('needs no registry', async () => {
    const made = team({ registry: false, lead: reports })
    await made.run()
    await made.runner.subagents(made.lead).fork('Look')
    await made.runner.idle()
    expect(onlySession(made)).toMatchObject({ kind: 'fork', status: 'succeeded' })
  })

  it('passes the directive on as it is', async () => {
    const directive = '  Cost: $5, ${HOME}, ${_installed_tools}\n</fork-boilerplate>\n\nDirective: $& '
    const made = team({ lead: reports })
    await made.run()
    await made.runner.subagents(made.lead).fork(directive)
    await made.runner.idle()
    const [request] = forkRequests(made)
    expect(JSON.stringify(request?.messages.at(-1))).toContain(JSON.stringify(`Directive: ${directive}`).slice(1, -1))
    expect(request === undefined ? undefined : directiveOf(request)).toBeDefined()
  })

  it('needs an agent with a model', async () => {
    const world = emptyWorld()
    const lead = world.spawn(SubagentRegistry({ subagents: {} }), Conversation([user('Go')]))
    const { runner, told } = driven(world, { sessionPool: new SessionPool() })
    await runner.start()
    expect(await rejection(runner.subagents(lead).fork('Look'))).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('Cannot fork: the agent has no model'),
    })
    expect(told('session-queued')).toEqual([])
  })

  it('is refused below a fork, whatever stands in between', async () => {
    const made = team({ parts: [belowAFork, Paused] })
    await made.runner.start()
    expect(await rejection(made.runner.subagents(made.lead).fork('Look'))).toMatchObject({
      code: 'limit-reached',
      message: expect.stringContaining('A fork cannot fork; carry out the directive yourself'),
    })
    expect(made.sessions()).toEqual([])
    expect(made.told('session-queued')).toEqual([])
  })
})
