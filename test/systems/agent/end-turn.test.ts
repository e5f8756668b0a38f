import { Conversation, LastTurn, user } from 'entia'
import {
  Answered,
  Approval,
  ApprovalOf,
  Busy,
  Effect,
  LastStep,
  OwnedBy,
  Pending,
  ToolCall,
  Turn,
  Unread,
} from 'entia/components'
import { describe, expect, it } from 'vitest'
import { endTurn, type TurnEnd } from '../../../systems/agent/end-turn.ts'
import { expectValid, transcript } from '../../transcript.ts'
import { begin, caller, said, settleWith, tickAt, worldOf } from '../one-tick.ts'

/** A turn in which everything is under way ends like this. */
function ended(end: TurnEnd) {
  let agent = 0
  const world = worldOf({ name: 'ending', priority: 0, run: (world) => endTurn(world, agent, end) })
  const scene = caller(world, [{ name: 'asked' }, { name: 'ended' }, { name: 'sent' }, { name: 'runs' }])
  agent = scene.agent
  const [asked, done = 0, sent = 0, runs = 0] = scene.calls
  world.spawn(
    Approval({ id: 'a', tool: 'asked', arguments: {} }),
    ApprovalOf({ call: asked }),
    OwnedBy({ agent }),
    Pending,
  )
  settleWith(world, done, said('42'))
  begin(world, sent, 'once', 'running')
  begin(world, runs)
  world.append(agent, Conversation, user('Well?'))
  for (const tag of [Answered, Busy, LastStep]) world.add(agent, tag)
  tickAt(world, 77)
  return { world, agent }
}

describe('the end of a turn', () => {
  it.each<[TurnEnd, string, string]>([
    [{ stop: 'declined' }, '[not run: the turn was stopped]', '[turn stopped]'],
    [{ stop: 'cancelled' }, '[cancelled by the user]', '[turn cancelled]'],
    [{ stop: 'max-steps' }, '[not run: the turn was stopped]', '[Max turns reached]'],
    [{ stop: 'budget-spent' }, '[not run: the turn was stopped]', '[turn failed: budget-spent]'],
    [
      { stop: 'failed', failure: { kind: 'unauthorized', message: 'no key' } },
      '[not run: the turn was stopped]',
      '[turn failed: unauthorized]',
    ],
  ])('%j leaves a valid conversation and nothing under way', (end, open, closing) => {
    const { world, agent } = ended(end)
    const who = end.stop === 'cancelled' ? 'cancelled by the user' : 'the turn was stopped'
    const sent = `[${who}; it may have taken effect]`
    expect(transcript(world, agent).slice(2)).toEqual([
      `tool call-0!: ${open}`,
      'tool call-1: 42',
      `tool call-2!: ${sent}`,
      `tool call-3!: ${open}`,
      'user: Well?',
      `assistant: ${closing}`,
    ])
    expectValid(world, agent)
    for (const token of [ToolCall, Approval, Effect, Turn, Answered, Busy, LastStep, Unread]) {
      expect(world.query(token), token.name).toEqual([])
    }
    const times = { startedAtMs: 0, endedAtMs: 77 }
    expect(world.read(agent, LastTurn)).toEqual({ steps: 1, toolCalls: 0, ...times, ...end })
  })
})
