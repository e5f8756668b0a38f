import { memoryStore, type Message, type ModelRequest, type ScriptedBehaviour, SubagentRegistry, textOf } from 'entia'
import { Llm, PolicyState, SubagentSession } from 'entia/components'
import { exitPlanModeDeclaration, PlanMode, policyEffects } from 'entia/runtime'
import { querySubagentDeclaration, spawnSubagentDeclaration } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { behaving, reopened, turns } from '../turns/driving.ts'
import { call, homeWith, judged, settledCalls, steps } from './judged-agent.ts'

const personal = call('read_file', { path: '~/Documents/a' })
const fetchIt = call('fetch_url', { url: 'https://example.com/' })
const askedAsPersonal = { dataClass: 'personal', decision: { approval: 'ask', reason: 'default: personal/read/cli' } }

describe('a chat session that has touched personal data', () => {
  it('has later calls asked about as personal, though the first was denied', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const behaviour = steps([personal, fetchIt], [fetchIt])
    const run = judged({ home, behaviour, config: { permissions: { read_file: 'deny' } }, approve: () => false })
    await run.settle()
    expect(settledCalls(run)).toMatchObject([{ outcome: 'deny' }, askedAsPersonal, askedAsPersonal])
    expect(run.world.get(run.agent, PolicyState)).toMatchObject({ sticky: true })
  })

  it('is that after it was saved and restored, too', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const store = memoryStore()
    const run = judged({ home, behaviour: steps([personal]), store, approve: () => false })
    await run.settle()
    await run.runner.stop()
    const { models } = behaving(steps([], [], [fetchIt]))
    const tools = [...run.host.tools.values()]
    const again = await reopened(store, { models, tools, effects: { ...policyEffects() }, approve: () => false })
    await again.runner.start()
    await again.runner.post({
      kind: 'message',
      agent: run.agent,
      message: { role: 'user', content: [{ type: 'text', text: 'Go' }] },
    })
    await again.runner.idle()
    expect(settledCalls(again)).toMatchObject([askedAsPersonal])
  })
})

const research = (prompt: string) => call('subagent', { category: 'worker', prompt })

/** An agent that may delegate to a `worker`, whose tools are its own. */
function team(lead: ScriptedBehaviour, worker: ScriptedBehaviour): ScriptedBehaviour {
  return (request, context) => (isWorker(request) ? worker(request, context) : lead(request, context))
}

function isWorker({ system }: ModelRequest): boolean {
  return system?.startsWith('You are the worker.') ?? false
}

const registry = SubagentRegistry({
  subagents: {
    worker: {
      name: 'worker',
      systemPrompt: 'You are the worker.',
      inheritancePolicy: {
        inheritSystemPrompt: false,
        inheritTools: ['read_file', 'write_file', 'fetch_url'],
      },
    },
  },
  fork: { enabled: true },
})

describe('a subagent of an agent with a policy', () => {
  it('is judged by the same policy', async () => {
    const home = await homeWith()
    const worker = steps([call('write_file', { path: 'b.ts', content: 'b' })])
    const run = judged({
      home,
      behaviour: team(steps([research('Write')]), worker),
      channel: 'matrix',
      parts: [registry],
    })
    await run.settle()
    const [told] = settledCalls(run)
    expect(told).toMatchObject({ tool: 'write_file', outcome: 'declined', path: [expect.any(String)] })
    expect(told?.result).toBe('[user declined: no approval channel (default: code/write/matrix)]')
  })

  it('has the marks that its parent has when it begins', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const lead = steps([personal, research('Look it up')])
    const run = judged({
      home,
      behaviour: team(lead, steps([fetchIt])),
      parts: [registry],
      config: { permissions: { read_file: 'deny' } },
    })
    await run.settle()
    expect(settledCalls(run).find(({ tool }) => tool === 'fetch_url')).toMatchObject(askedAsPersonal)
  })

  it('hands its marks up with its result', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const lead = steps([research('Look it up')], [fetchIt])
    const run = judged({ home, behaviour: team(lead, steps([personal])), parts: [registry], approve: () => false })
    await run.settle()
    const [, , own] = settledCalls(run)
    expect(own).toMatchObject({ tool: 'fetch_url', ...askedAsPersonal })
  })

  it('hands marks up with the answer to a question', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const worker: ScriptedBehaviour = ({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'user' && textOf(last) === 'And?' ? { toolCalls: [personal] } : 'Ready.'
    }
    const lead: ScriptedBehaviour = ({ messages }) => {
      const count = messages.filter(({ role }) => role === 'assistant').length
      if (count === 0) return { toolCalls: [research('Get ready')] }
      if (count === 1) return { toolCalls: [call('query_subagent', { id: '1', prompt: 'And?' })] }
      return count === 2 ? { toolCalls: [fetchIt] } : 'Done.'
    }
    const run = judged({
      home,
      behaviour: team(lead, worker),
      parts: [registry],
      approve: () => false,
      store: memoryStore(),
      declared: [querySubagentDeclaration],
    })
    await run.settle()
    expect(settledCalls(run).at(-1)).toMatchObject({ tool: 'fetch_url', ...askedAsPersonal })
  })

  it('gets the marks of its asker with a question', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const worker: ScriptedBehaviour = (request, context) => {
      const questions = request.messages.filter(({ role }) => role === 'user').length
      const answers = request.messages.filter(({ role }) => role === 'assistant').length
      if (questions < 2) return 'Ready.'
      return answers < 2 ? { toolCalls: [fetchIt] } : steps()(request, context)
    }
    const lead: ScriptedBehaviour = ({ messages }) => {
      const count = messages.filter(({ role }) => role === 'assistant').length
      if (count === 0) return { toolCalls: [research('Get ready')] }
      if (count === 1) return { toolCalls: [personal] }
      const [session] = run.world.query(SubagentSession)
      const { sessionId } = run.world.read(session as number, SubagentSession)
      return count === 2 ? { toolCalls: [call('query_subagent', { id: sessionId, prompt: 'And?' })] } : 'Done.'
    }
    const run = judged({
      home,
      behaviour: team(lead, worker),
      parts: [registry],
      approve: () => false,
      store: memoryStore(),
      declared: [querySubagentDeclaration],
    })
    await run.settle()
    expect(settledCalls(run).find(({ path }) => path !== undefined)).toMatchObject({
      tool: 'fetch_url',
      ...askedAsPersonal,
    })
  })

  it('inherits plan mode, and has no tool to end it', async () => {
    const home = await homeWith()
    const worker = steps([call('exit_plan_mode', { plan: 'x' }), call('write_file', { path: 'b.ts', content: 'b' })])
    const run = judged({
      home,
      behaviour: team(steps([research('Write')]), worker),
      parts: [registry, PlanMode],
      approve: () => true,
      declared: [exitPlanModeDeclaration],
    })
    await run.settle()
    expect(settledCalls(run).flatMap(({ path, result }) => (path === undefined ? [] : [result]))).toEqual([
      'Error: there is no tool named exit_plan_mode.',
      '[entia policy denied: plan mode]',
    ])
    const [task] = run.requests.find(isWorker)?.messages ?? []
    expect(textOf(task as Message)).toBe(
      'Write[plan mode: investigate and propose; change nothing until exit_plan_mode is approved]',
    )
  })

  it('that is a fork has policy, marks and plan mode too, and cannot end it', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const isFork = ({ messages }: ModelRequest) => JSON.stringify(messages).includes('Directive: Look')
    const fork: ScriptedBehaviour = ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? {
            toolCalls: [fetchIt, call('write_file', { path: 'b', content: '' }), call('exit_plan_mode', { plan: 'x' })],
          }
        : 'Seen.'
    const lead = steps([personal, call('subagent', { category: 'fork', prompt: 'Look' })])
    const run = judged({
      home,
      behaviour: (request, context) => (isFork(request) ? fork(request, context) : lead(request, context)),
      parts: [registry, PlanMode],
      approve: () => false,
      declared: [exitPlanModeDeclaration],
    })
    await run.settle()
    expect(settledCalls(run).filter(({ path }) => path !== undefined)).toMatchObject([
      { tool: 'fetch_url', ...askedAsPersonal },
      { tool: 'write_file', result: '[entia policy denied: plan mode]' },
      { tool: 'exit_plan_mode', result: 'Error: a subagent cannot end plan mode: report what you propose.' },
    ])
  })

  it('for which no one can approve has its questions declined', async () => {
    const home = await homeWith()
    const isWorkerOf = ({ messages }: ModelRequest) => JSON.stringify(messages[0]).includes('Write it')
    const write = call('write_file', { path: 'b.ts', content: 'b' })
    const lead = steps([call('spawn_subagent', { task: 'Write it', tools: ['write_file'] })])
    const run = judged({
      home,
      behaviour: (request, context) => (isWorkerOf(request) ? steps([write]) : lead)(request, context),
      approve: () => true,
      declared: [spawnSubagentDeclaration],
    })
    await run.settle()
    expect(settledCalls(run).find(({ path }) => path !== undefined)).toMatchObject({
      outcome: 'declined',
      result: '[user declined: no approval channel (default: code/write/cli)]',
    })
    expect(run.told('approval-requested')).toEqual([])
  })

  it('leaves what was allowed for later calls of its parent to its parent', async () => {
    const home = await homeWith()
    const write = call('write_file', { path: 'b.ts', content: 'b' })
    let asked = 0
    const run = judged({
      home,
      behaviour: team(steps([write], [research('Write')]), steps([write])),
      parts: [registry],
      approve: () => (asked++ === 0 ? { approved: true, remember: 'session' } : false),
    })
    await run.settle()
    expect(asked).toBe(2)
    expect(settledCalls(run).map(({ outcome, tool }) => `${tool} ${outcome}`)).toEqual([
      'write_file ran',
      'write_file declined',
      'subagent ran',
    ])
  })
})

describe('the calls of one reply', () => {
  it('are judged in their order, whichever inspection ends first', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const second = Promise.withResolvers<void>()
    const policy = async ({ tool }: { readonly tool: string }) => {
      if (tool === 'fetch_url') second.resolve()
      await second.promise
      // The facts about the second call are in the world first.
      if (tool === 'read_file') await turns(20)
      return undefined
    }
    const run = judged({ home, behaviour: steps([personal, fetchIt]), policy, approve: () => false })
    await run.settle()
    expect(settledCalls(run)[1]).toMatchObject(askedAsPersonal)
  })
})

describe('a subtask of an agent with a policy', () => {
  it('is judged by it and hands its marks up', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const isSubtask = ({ system }: ModelRequest) => system?.includes('You look things up.') ?? false
    const behaviour: ScriptedBehaviour = (request, context) =>
      (isSubtask(request) ? steps([personal]) : steps([], [fetchIt]))(request, context)
    const run = judged({ home, behaviour, approve: () => false })
    await run.settle()
    const result = await run.runner.runSubtask(run.agent, {
      name: 'look',
      systemPrompt: 'You look things up.',
      userMessage: 'Look',
      tools: ['read_file'],
      maxSteps: 3,
      timeoutMs: 10_000,
    })
    expect(result.digest).toBe('Done.')
    expect(run.world.get(run.agent, PolicyState)).toMatchObject({ sticky: true })
  })
})

describe('a session that reads data of other places', () => {
  it('is asked before it reaches out', async () => {
    const home = await homeWith({ 'notes/a': 'a' })
    const behaviour = steps([call('read_file', { path: '~/notes/a' }), fetchIt])
    const run = judged({ home, behaviour, approve: () => false })
    await run.settle()
    expect(settledCalls(run).map(({ decision }) => decision)).toMatchObject([
      { approval: 'allow', reason: 'default: other/read/cli' },
      { approval: 'ask', reason: 'default: other/read/cli' },
    ])
  })
})

describe('routing', () => {
  const routed = (routing: 'enforce' | 'advisory') => ({ routing, localModel: 'local/small' })

  it.for([
    ['enforce', ['x', 'small', 'small']],
    ['advisory', ['x', 'x', 'x']],
  ] as const)('by %s has the steps behind personal data made by %s', async ([routing, expected]) => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const behaviour = team(steps([personal, research('Look')]), steps())
    const run = judged({ home, behaviour, config: routed(routing), parts: [registry], approve: () => false })
    await run.settle()
    expect(run.requests.map(({ model }) => model)).toEqual(expected)
    expect(run.told('warning')).toHaveLength(routing === 'enforce' ? 2 : 0)
  })

  it('takes a name alone for a model of Ollama', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const config = { routing: 'enforce' as const, localModel: 'gpt-oss:20b' }
    const run = judged({ home, behaviour: steps([personal]), config, approve: () => false })
    await run.settle()
    expect(run.requests.map(({ model }) => model)).toEqual(['x', 'gpt-oss:20b'])
    expect(run.world.read(run.agent, Llm).model).toBe('ollama/gpt-oss:20b')
  })

  it('has a summary of the conversation written by the local model, too', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const behaviour: ScriptedBehaviour = (request, context) =>
      request.tools.length === 0 ? 'A summary.' : steps([personal])(request, context)
    const agent = { config: { model: 'scripted/x', context: {} } }
    const approve = () => ({ approved: false, stopTurn: true as const })
    const run = judged({ home, behaviour, config: routed('enforce'), agent, approve })
    await run.settle()
    await run.runner.compact(run.agent)
    expect(run.requests.map(({ model }) => model)).toEqual(['x', 'small'])
    expect(run.told('boundary-written')).toHaveLength(1)
  })

  it('has personal data denied where no local model is known', async () => {
    const home = await homeWith({ 'Documents/a': 'a' })
    const run = judged({ home, behaviour: steps([personal]), config: { routing: 'enforce' }, approve: () => true })
    await run.settle()
    expect(transcript(run.world, run.agent)[2]).toBe(
      'tool call-1-0!: [entia policy denied: personal data needs a local model and none is configured]',
    )
  })
})
