import { Busy } from '../components/busy.ts'
import { Outcome } from '../components/outcome.ts'
import { OwnedBy } from '../components/owned-by.ts'
import { ToolCall } from '../components/tool-call.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { answerCall, outcomeText } from './answer-call.ts'
import { settled } from './settled.ts'

/**
 * Puts the results of tool calls into the conversation, in the order of the calls: a result waits for those before it.
 *
 * Query: Outcome. Writes: Conversation, Busy.
 */
export const toolResults = {
  name: 'tool-results',
  priority: -60,
  run(world: World): void {
    const agents = new Set(settled(world, ToolCall).map((call) => world.read(call, OwnedBy).agent))
    for (const agent of agents) collect(world, agent)
  },
}

function collect(world: World, agent: Entity): void {
  const calls = world.referrers(OwnedBy, agent).filter((entity) => world.has(entity, ToolCall))
  for (const call of calls) {
    const outcome = world.get(call, Outcome)
    if (outcome === undefined) return
    answerCall(world, agent, call, outcomeText(outcome))
  }
  world.remove(agent, Busy)
}
