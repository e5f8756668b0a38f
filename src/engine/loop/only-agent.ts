import { Conversation } from '../../../components/agent/conversation.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'

/**
 * The agent that is meant where none is named.
 * @param how another one is named, for the error @throws `invalid-argument` unless the world has exactly one
 */
export function onlyAgent(world: World, how = "'agent'"): Entity {
  const agents = world.query(Conversation)
  if (agents.length === 1 && agents[0] !== undefined) return agents[0]
  const what = `World '${world.name}' has ${agents.length} agents, so it is not clear which one is spoken to.`
  throw new EntiaError('invalid-argument', `${what} Name it with ${how}.`)
}
