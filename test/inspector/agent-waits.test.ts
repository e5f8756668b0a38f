import { agent, World } from 'entia'
import {
  AwaitingReply,
  AwaitingSession,
  Due,
  Effect,
  Outcome,
  OwnedBy,
  Pending,
  SessionQuery,
  ToolCall,
} from 'entia/components'
import { describe, expect, it } from 'vitest'
import { rawComponents } from '../../src/inspector/reading/raw-view.ts'
import { summaryOf } from '../../src/inspector/reading/summaries.ts'
import { waitsOf } from '../../src/inspector/reading/waits.ts'
import { knownComponents } from '../../src/world/inspection.ts'
import { RawWorld } from '../../src/world/raw-world.ts'
import { sessionOf } from '../systems/sessions/session-records.ts'

const call = (name: string) => ToolCall({ arguments: {}, callId: name, name })
const timer = (deadlineMs: number) => Effect({ attempt: 1, deadlineMs, kind: 'timer', restart: 'pure' })

/** What a page shows of a saved world's agent. */
function shown(open: (world: World, entity: number) => void) {
  const world = new World({ systems: [] })
  const entity = world.spawn(...agent({ model: 'clerk/x' }))
  open(world, entity)
  const saved = RawWorld.restore([...world.snapshot()], rawComponents(knownComponents(world)))
  const { doing, dueMs, state } = summaryOf(saved).agents[0] ?? {}
  const waits = waitsOf(saved).waits.map((wait) => [wait.state, wait.what, wait.dueMs])
  return { doing: [state, doing, dueMs], waits }
}

describe('an agent', () => {
  it('that reads a result until a time waits for a session, not for a time', () => {
    const { doing, waits } = shown((world, entity) => {
      const awaiting = AwaitingSession({ session: sessionOf(world, entity, 'running') })
      world.spawn(call('subagent_result'), awaiting, timer(4_000), Pending, OwnedBy({ agent: entity }))
    })
    expect(doing).toEqual(['sessions', 'waits for a session', undefined])
    expect(waits).toEqual([['sessions', 'a session', 4_000]])
  })

  it('that has asked an ended session waits for its answer, once', () => {
    const { doing, waits } = shown((world, entity) => {
      const session = sessionOf(world, entity, 'succeeded')
      const asking = world.spawn(call('query_subagent'), AwaitingReply, OwnedBy({ agent: entity }))
      const asked = SessionQuery({ agent: entity, call: asking, id: 'q', prompt: 'And?', session })
      world.spawn(asked, Effect({ attempt: 1, kind: 'query', restart: 'pure' }), Pending, OwnedBy({ agent: entity }))
    })
    expect(doing).toEqual(['sessions', 'waits for the answer of a session', undefined])
    expect(waits).toEqual([['sessions', 'an answer', undefined]])
  })

  it('that tries a call again waits until then, and for nothing that is settled', () => {
    const { doing, waits } = shown((world, entity) => {
      const again = Effect({ attempt: 2, kind: 'model', restart: 'pure' })
      world.spawn(again, Due({ atMs: 700 }), OwnedBy({ agent: entity }))
      world.spawn(call('look'), Outcome({ ok: true, value: null }), OwnedBy({ agent: entity }))
    })
    expect(doing).toEqual(['retry', 'waits to try model again (try 2)', 700])
    expect(waits).toEqual([['retry', 'try 2 of its model call', 700]])
  })
})
