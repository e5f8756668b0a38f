import { SessionEnd } from '../components/ancestry.ts'
import { Conversation } from '../components/conversation.ts'
import { LastStep } from '../components/last-step.ts'
import { LastTurn } from '../components/last-turn.ts'
import type { UserMessage } from '../components/message.ts'
import { Terminal } from '../components/terminal.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { inputsOf } from './inputs-of.ts'
import { endWait } from './sessions/end-wait.ts'
import { tell } from './tell.ts'

/**
 * Lets messages in. One that comes while the agent works joins at its next step.
 *
 * Writes: Conversation.
 */
export const reception = {
  name: 'reception',
  priority: -90,
  run(world: World): void {
    for (const { agent, message } of inputsOf(world, 'message')) {
      const reason = refusal(world, agent)
      if (reason === undefined) take(world, agent, message)
      else tell(world, 'input-refused', { kind: 'message', agent, reason })
    }
  },
}

/** Whoever is spoken to sleeps no longer; a session that has ended is asked a further question, with steps counted anew. */
function take(world: World, agent: Entity, message: UserMessage): void {
  endWait(world, agent)
  if (world.has(agent, SessionEnd)) for (const token of [SessionEnd, LastTurn, LastStep]) world.remove(agent, token)
  world.append(agent, Conversation, message)
}

function refusal(world: World, agent: number): string | undefined {
  if (!world.has(agent, Conversation)) return 'there is no such agent'
  return world.has(agent, Terminal) ? 'the agent has ended' : undefined
}
