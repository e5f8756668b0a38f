import { Conversation } from '../components/conversation.ts'
import { Terminal } from '../components/terminal.ts'
import type { World } from '../src/world/world.ts'
import { inputsOf } from './inputs-of.ts'
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
      if (reason === undefined) world.append(agent, Conversation, message)
      else tell(world, 'input-refused', { kind: 'message', agent, reason })
    }
  },
}

function refusal(world: World, agent: number): string | undefined {
  if (!world.has(agent, Conversation)) return 'there is no such agent'
  return world.has(agent, Terminal) ? 'the agent has ended' : undefined
}
