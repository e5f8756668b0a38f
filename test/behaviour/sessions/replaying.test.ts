import { lastText, memoryStore, recordingOf, replay, SessionPool, standardSystems, textOf } from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { delegate, stepwise, team } from './team.ts'

/** A lead whose sessions queue, are waited for, read and cancelled, and a fork; all recorded. */
async function recorded() {
  const store = memoryStore()
  const research = (prompt: string) => delegate(prompt, { prompt, background: true })
  const made = team({
    lead: stepwise(
      () => ({
        toolCalls: [research('a'), research('b'), research('c'), delegate('d', { category: 'fork', prompt: 'd' })],
      }),
      () => ({ toolCalls: [{ name: 'subagent_status', arguments: { session_id: '3' } }] }),
      () => ({ toolCalls: [{ name: 'subagent_cancel', arguments: { session_id: '3' } }] }),
      () => ({ toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all', timeout: 3600 } }] }),
      () => ({ toolCalls: [{ name: 'subagent_result', arguments: { session_id: '1' } }] }),
      () => 'All done.',
    ),
    workerOptions: { latencyMs: [10, 90] },
    runner: { store, record: true, sessionPool: new SessionPool({ cap: 1 }) },
  })
  await made.run()
  await made.runner.stop()
  return { ...made, store }
}

describe('a recorded world with sessions', () => {
  it('is made again from its inputs: no model is asked, no pool, and no session runs', async () => {
    const { store, world, lead, asked } = await recorded()
    expect(lastText(world, lead)).toBe('All done.')
    const calls = asked().length
    const again = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components })
    expect(again.difference).toBeUndefined()
    expect(again.hash).toBe(world.hash())
    expect(asked()).toHaveLength(calls)
  })

  it('has recordings of its sessions’ worlds as well', async () => {
    const { store, sessions, asked } = await recorded()
    const [first] = sessions()
    const again = replay(await recordingOf(store, first?.sessionId ?? ''), { systems: standardSystems(), components })
    expect(again.difference).toBeUndefined()
    const [agent = 0] = again.world.query(components.Ancestry)
    expect(lastText(again.world, agent)).toBe(`Done: ${textOf(asked('worker')[0]?.request.messages.at(0))}`)
  })
})
