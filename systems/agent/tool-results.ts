import { Busy } from '../../components/agent/busy.ts'
import { Answering, AwaitingSession } from '../../components/sessions/session-call.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { OwnedBy } from '../../components/effects/owned-by.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { answerCall, resultOf } from './answer-call.ts'
import { settled } from '../kit/settled.ts'

/**
 * Puts the results of tool calls into the conversation, in the order of the calls: a result waits for those before it.
 *
 * Query: Outcome. Writes: Conversation, Busy.
 */
export const toolResults = {
  name: 'tool-results',
  priority: -60,
  wakes: [[ToolCall, Outcome]],
  run(world: World): void {
    const answered = settled(world, ToolCall)
    if (answered.length === 0) return
    const agents = new Set(answered.map((call) => world.read(call, OwnedBy).agent))
    for (const agent of agents) collectResults(world, agent)
  },
}

/** Takes an agent's results that stand in line; with the last of them its step is over. */
export function collectResults(world: World, agent: Entity): void {
  const calls = world.referrers(OwnedBy, agent).filter((entity) => world.has(entity, ToolCall))
  if (calls.length === 0) return
  for (const call of calls) {
    const outcome = world.get(call, Outcome)
    if (outcome === undefined || isForOthers(world, call)) return
    answerCall(world, agent, call, resultOf(world, call, outcome))
  }
  world.remove(agent, Busy)
}

/** What has come for a call about a session is no answer yet: the subagent scheduler makes one of it. */
function isForOthers(world: World, call: Entity): boolean {
  return world.has(call, AwaitingSession) || world.has(call, Answering)
}
