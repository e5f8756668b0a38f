import { memoryStore, type RunnerEvent, type Store } from 'entia'
import { describe, expect, it } from 'vitest'
import { turns } from '../turns/driving.ts'
import { mortalStore } from '../stores/watched-store.ts'
import { after, byTask } from './pace.ts'
import { again, program, type Program } from './program.ts'
import { once } from './sleepy-team.ts'
import { calls, delegate, resultsIn, stepwise, team, type Team } from './team.ts'
import { delegations } from './told-delegations.ts'

describe('an event of a session', () => {
  it('has the path to its World, from the outermost session down, and is told to the listeners above', async () => {
    const made = team({
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      lead: stepwise(calls(delegate('a', { prompt: 'outer' }))),
      worker: byTask({
        outer: ({ messages }) => resultsIn(messages)['b'] ?? calls(delegate('b', { prompt: 'inner' })),
        inner: () => 'Deep.',
      }),
    })
    const heard: (readonly string[] | undefined)[] = []
    made.runner.on('model-called', ({ path }) => void heard.push(path))
    await made.run()
    const [outer = '', inner = ''] = made.told('delegation-started').map(({ sessionId }) => sessionId)
    expect(heard).toEqual([undefined, [outer], [outer, inner], [outer], undefined])
    const starts = made.told('delegation-started')
    expect(starts.map(({ path, world, depth }) => ({ path, world, depth }))).toEqual([
      { path: undefined, world: 'world', depth: 1 },
      { path: [outer], world: outer, depth: 2 },
    ])
    const ends = made.told('delegation-completed')
    expect(ends.map(({ path, sessionId }) => ({ path, sessionId }))).toEqual([
      { path: [outer], sessionId: inner },
      { path: undefined, sessionId: outer },
    ])
    expect(made.events.every(isPlaced)).toBe(true)
  })
})

/** The last session of a path is the World that tells. */
function isPlaced(event: RunnerEvent): boolean {
  return !('path' in event) || event.path === undefined || event.path.at(-1) === event.world
}

describe('a delegation over a restart', () => {
  /** A session that has just been asked. */
  async function launched(store: Store, isMortal = false): Promise<Program> {
    const made = await program({ isMortal, worker: after(1_000, 'Found.'), runner: { store } })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await once(made, () => made.asked('worker').length === 1)
    return made
  }

  /** One start and one end, of the one session. */
  function oneOfEach(made: Team) {
    const { sessionId, correlationId } = made.sessions()[0] ?? {}
    return ['delegation-started', 'delegation-completed'].map((type) => ({ type, sessionId, correlationId }))
  }

  it('whose session goes on is told of once, and so is its end', async () => {
    const store = memoryStore()
    const made = await launched(store)
    await made.runner.stop()
    const later = await again(store, made)
    await later.runner.idle()
    expect(delegations(made, later)).toEqual(oneOfEach(made))
    expect(later.told('delegation-completed')).toMatchObject([{ success: true, durationMs: 1_000 }])
  })

  it('is told of in the same way where the process just ended', async () => {
    const kept = memoryStore()
    const { store, die } = mortalStore(kept)
    const made = await launched(store, true)
    die()
    await turns()
    const later = await again(kept, made)
    await later.runner.idle()
    expect(delegations(made, later)).toEqual(oneOfEach(made))
  })

  it('that had ended before is told of again at most in the same place', async () => {
    const store = memoryStore()
    const made = await launched(store)
    await made.runner.idle()
    await made.runner.stop()
    const later = await again(store, made)
    await later.runner.idle()
    expect(delegations(made, later)).toEqual(oneOfEach(made))
  })

  it('whose session is lost has an end as well', async () => {
    const store = memoryStore()
    const made = await launched(store)
    await made.runner.stop()
    await store.delete(made.sessions()[0]?.sessionId ?? '')
    const later = await again(store, made)
    await later.runner.idle()
    expect(delegations(made, later)).toEqual(oneOfEach(made))
    expect(later.told('delegation-completed')).toMatchObject([
      { lifecycleStatus: 'failed', success: false, error: 'restored_without_live_task_handle' },
    ])
  })
})
