import { LastTurn } from '../../../components/agent/turn.ts'
import { Outcome, OwnedBy } from '../../../components/effects/effect.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import { awaitedByAgent } from '../../rules/waiting/awaited-in.ts'
import type { AwaitedThing } from '../../rules/waiting/awaited.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { type Answer, answerOf } from '../ask/answer.ts'
import { isAtWork } from '../ask/turn-watch.ts'

/** What an open turn waits for: a model, tools, the answer of a person, sessions, or an instant, such as that of a next try. */
export type WaitsFor = 'model' | 'tools' | 'people' | 'sessions' | 'time'

/** What an agent does now, and what its last turn came to. */
export interface AgentState {
  /** It has an open turn, or a message that it has not read. */
  readonly isBusy: boolean
  /** All that its open turn waits for, each once. Empty where there is no open turn. */
  readonly waitsFor: readonly WaitsFor[]
  /** The answer of the last turn that has ended. Absent: none has. */
  readonly last?: Answer | undefined
}

export function stateOf(world: World, agent: Entity): AgentState {
  const waitsFor = new Set(awaitedByAgent(world, agent).map(({ on }) => waitFor(on, isThinking(world, agent))))
  return {
    isBusy: isAtWork(world, agent),
    waitsFor: [...waitsFor].toSorted(),
    last: world.has(agent, LastTurn) ? answerOf(world, agent) : undefined,
  }
}

function waitFor(thing: AwaitedThing, isModelAsked: boolean): WaitsFor {
  switch (thing) {
    case 'work':
      return isModelAsked ? 'model' : 'tools'
    case 'instant':
      return 'time'
    case 'person':
      return 'people'
    case 'session':
    case 'admission':
    case 'reply':
      return 'sessions'
  }
}

function isThinking(world: World, agent: Entity): boolean {
  return world.referrers(OwnedBy, agent).some((owned) => world.has(owned, ModelCall) && !world.has(owned, Outcome))
}
