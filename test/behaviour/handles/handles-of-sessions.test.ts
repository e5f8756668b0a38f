import { memoryStore, type RunnerOptions } from 'entia'
import { Handle, Workspace } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { forkCall, forkRequests, parentAndFork, parentRequests } from '../sessions/forking.ts'
import { call, calls, delegate, resultsIn, stepwise, team } from '../sessions/team.ts'
import { giving, numbers, readHandle } from './stored-values.ts'

const tools = [giving(numbers(60)), readHandle]
const list = 'list of 60 numbers: 1, 2, 3, 4, 5, 6, 7, 8, …'
const readCall = (id: string, handle: string) => call(id, 'read_handle', { handle, op: 'print', limit: 1 })
const first = '1\n[elements 1-1 of 60; read on with op=print, offset=1]'

const stores: readonly (readonly [string, () => RunnerOptions])[] = [
  ['in memory', () => ({})],
  ['in a store', () => ({ store: memoryStore() })],
]

describe('a session', () => {
  it.each(stores)('of an agent with a workspace has handles of its own, from .h_001 on: %s', async (_, kept) => {
    const made = team({
      agent: { tools },
      runner: { tools, ...kept() },
      parts: [Workspace],
      subagents: { researcher: { tools: ['give', 'read_handle'] } },
      lead: stepwise(calls(call('own', 'give')), calls(delegate('go')), 'Done.'),
      worker: stepwise(calls(call('theirs', 'give')), calls(readCall('read', '.h_001')), 'Done.'),
    })
    await made.run()
    expect(made.results()['own']).toBe(`${list}\n[stored as .h_001]`)
    const answers = resultsIn(made.asked('worker').flatMap(({ request }) => [...request.messages]))
    expect(answers).toMatchObject({ theirs: `${list}\n[stored as .h_001]`, read: first })
    expect(made.world.query(Handle)).toHaveLength(1)
  })
})

describe('a fork', () => {
  it.each(stores)('reads the handles that it saw, and counts on behind them: %s', async (_, kept) => {
    const made = team({
      agent: { tools },
      runner: { tools, ...kept() },
      parts: [Workspace],
      lead: parentAndFork(
        stepwise(calls(call('own', 'give')), calls(forkCall('fork')), calls(call('next', 'give')), 'Done.'),
        stepwise('', '', calls(readCall('shared', '.h_001'), call('new', 'give')), 'Scope: all of it'),
      ),
    })
    await made.run()
    const answers = resultsIn(forkRequests(made).flatMap(({ messages }) => [...messages]))
    expect(answers).toMatchObject({ shared: first, new: `${list}\n[stored as .h_002]` })
    const own = resultsIn(parentRequests(made).flatMap(({ messages }) => [...messages]))
    expect(own).toMatchObject({ own: `${list}\n[stored as .h_001]`, next: `${list}\n[stored as .h_002]` })
  })
})
