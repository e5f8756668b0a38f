import { SessionEnd } from '../components/ancestry.ts'
import { Conversation } from '../components/conversation.ts'
import { DelegationLimits } from '../components/delegation-limits.ts'
import { LastStep } from '../components/last-step.ts'
import { LastTurn } from '../components/last-turn.ts'
import type { UserMessage } from '../components/message.ts'
import { Terminal } from '../components/terminal.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { inputsOf } from './inputs-of.ts'
import { refuseLatched } from './latched.ts'
import { endWait } from './sessions/end-wait.ts'
import { tell } from './tell.ts'

/**
 * Lets messages in. One that comes while the agent works joins at its next step.
 *
 * Writes: Conversation; of a session that had ended, DelegationLimits.
 */
export const reception = {
  name: 'reception',
  priority: -90,
  run(world: World): void {
    for (const { agent, message } of inputsOf(world, 'message')) {
      const reason = refusal(world, agent)
      if (reason === undefined) {
        if (!refuseLatched(world, agent)) take(world, agent, message)
      } else tell(world, 'input-refused', { kind: 'message', agent, reason })
    }
  },
}

/** Whoever is spoken to sleeps no longer. */
function take(world: World, agent: Entity, message: UserMessage): void {
  endWait(world, agent)
  if (world.has(agent, SessionEnd)) reopen(world, agent)
  world.append(agent, Conversation, message)
}

/** A session that has ended is asked a further question: steps are counted anew, and the cost is that of who asks. */
function reopen(world: World, agent: Entity): void {
  for (const token of [SessionEnd, LastTurn, LastStep]) world.remove(agent, token)
  if (world.has(agent, DelegationLimits)) {
    world.patch(agent, DelegationLimits, { costUsd: undefined, tokens: undefined })
  }
}

function refusal(world: World, agent: number): string | undefined {
  if (!world.has(agent, Conversation)) return 'there is no such agent'
  return world.has(agent, Terminal) ? 'the agent has ended' : undefined
}
