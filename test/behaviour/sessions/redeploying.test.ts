import { defineTool, memoryStore, SessionPool, type Tool } from 'entia'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { gate, reopened } from '../turns/driving.ts'
import { askedByTask, dyingTeam, finished } from './dying-team.ts'
import { after, inBackground } from './pace.ts'
import { launch, once } from './sleepy-team.ts'
import { forkCall, parentAndFork } from './forking.ts'
import { stuck } from './program.ts'
import { type Behaviour, call, calls, resultsIn, sessionsOf, stepwise, taskOf, team } from './team.ts'

const look = (field: string): Tool =>
  defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({ [field]: z.string() }),
    restart: 'pure',
    run: () => 'a tree',
  })

/** Calls its tool, as it is declared after the deployment. */
const worker: Behaviour = (request, context) =>
  after(100, request.messages.length < 2 ? calls(call('a', 'look', { place: 'home' })) : 'Looked.')(request, context)

async function cutOff() {
  const kept = memoryStore()
  const made = dyingTeam([calls(launch('a', 'work')), 'Launched.', 'Woken.'], {
    kept,
    subagents: { researcher: { tools: ['look'] } },
    agent: { tools: [look('word')] },
    worker,
    runner: { tools: [look('word')] },
  })
  await made.runner.start()
  await once(made, () => askedByTask(made)['work']?.length === 1)
  await made.die()
  const again = await reopened(kept, {
    ...made.options,
    sessionPool: new SessionPool(),
    tools: [look('place')],
  })
  await finished(again)
  return { again, made }
}

describe('a session whose tool has changed while its process was down', () => {
  it('goes on with the tool as it is now, which is told with its path', async () => {
    const { again, made } = await cutOff()
    const told = again.told('tool-changed')
    const [session] = sessionsOf(again.world, made.lead)
    expect(told.filter(({ path }) => path !== undefined)).toMatchObject([
      { path: [session?.sessionId], tool: 'look', change: 'changed' },
    ])
    expect(told.filter(({ path }) => path === undefined)).toMatchObject([{ agent: made.lead, tool: 'look' }])
    expect(again.told('tool-answered').at(-1)).toMatchObject({ isError: false, result: [{ text: 'a tree' }] })
    expect(session?.status).toBe('succeeded')
  })
})

describe('a fork whose tool is gone from the Host', () => {
  it('keeps it as its parent had it over all restarts, and its calls fail', async () => {
    const store = memoryStore()
    const [first, second] = [gate(), gate()]
    let lives = 1
    const fork: Behaviour = (request, context) => {
      const result = resultsIn(request.messages)['x']
      if (lives === 3) return result ?? 'Nothing.'
      if (lives === 2 && result === undefined) return calls(call('x', 'look', { word: 'home' }))
      ;(lives === 1 ? first : second).resolve()
      return stuck(request, context)
    }
    const made = team({
      lead: parentAndFork(stepwise(calls(forkCall('a'))), fork),
      agent: { tools: [look('word')] },
      runner: { tools: [look('word')], store },
    })
    await made.runner.start()
    await first.promise
    await made.runner.stop()
    lives = 2
    const next = { ...made.options, tools: [] }
    const again = await reopened(store, { ...next, sessionPool: new SessionPool() })
    await again.runner.start()
    await second.promise
    await again.runner.stop()
    lives = 3
    const last = await reopened(store, { ...next, sessionPool: new SessionPool() })
    await finished(last)
    expect(sessionsOf(last.world, made.lead)).toMatchObject([
      { status: 'succeeded', resultExcerpt: "Error: Tool 'look' has no handler on this host." },
    ])
    expect(again.told('tool-changed')).toMatchObject([{ agent: made.lead, tool: 'look', change: 'removed' }])
  })
})

describe('a session that is queued while its tool goes from the Host', () => {
  it.each([
    ['begins without a tool that it inherits', inBackground('b', 'look'), 'Error: there is no tool named look.'],
    ['begins as its parent was if it is a fork', forkCall('b'), "Error: Tool 'look' has no handler on this host."],
  ])('%s', async (_, queued, result) => {
    const store = memoryStore()
    const begun = gate()
    let lives = 1
    const tries: Behaviour = ({ messages }) => resultsIn(messages)['x'] ?? calls(call('x', 'look', { word: 'home' }))
    const made = team({
      lead: parentAndFork(stepwise(calls(inBackground('a', 'wait'), queued)), tries),
      worker: (request, context) => {
        if (taskOf(request) !== 'wait') return tries(request, context)
        begun.resolve()
        return lives === 1 ? stuck(request, context) : 'Waited.'
      },
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['look'] } } },
      agent: { tools: [look('word')] },
      runner: { tools: [look('word')], store, sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.runner.start()
    await begun.promise
    await made.runner.stop()
    lives = 2
    const again = await reopened(store, { ...made.options, tools: [], sessionPool: new SessionPool({ cap: 1 }) })
    await finished(again)
    const [, session] = sessionsOf(again.world, made.lead)
    expect(session).toMatchObject({ status: 'succeeded' })
    expect(session?.resultExcerpt?.split('\n').at(-1)).toBe(result)
  })
})
