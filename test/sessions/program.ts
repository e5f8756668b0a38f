import { defineTool, type Entity, type Store, type Subagents, type World } from 'entia'
import { Ancestry, Delegated } from 'entia/components'
import { z } from 'zod'
import { reopened } from '../engine/driving.ts'
import { team, type Team, type TeamOptions } from './team.ts'

/** A team whose lead says nothing of itself: a program works on its sessions. */
export interface Program extends Team {
  readonly subagents: Subagents
}

/** Such a team, running. What ends does not wake its lead. */
export async function program(options: TeamOptions = {}): Promise<Program> {
  const { registry = {} } = options
  const made = team({
    ...options,
    agent: { messages: [], ...options.agent },
    registry: registry === false ? false : { wakeIdle: false, ...registry },
  })
  await made.runner.start()
  return { ...made, subagents: made.runner.subagents(made.lead) }
}

/** A tool for those who are to go on for a while. */
export const look = defineTool({
  name: 'look',
  description: 'Looks again.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'nothing new',
})

/** What an agent has delegated, if anything. */
export function delegatedBy(world: World, agent: Entity) {
  return world.get(agent, Delegated)
}

/** A session's World as a store has it, and its agent. Nobody drives it. */
export async function storedSession(store: Store, sessionId: string): Promise<{ world: World; agent: Entity }> {
  const children: Store = { ...store, open: (name, options) => store.open(name, { ...options, root: 'world' }) }
  const { world, runner } = await reopened(children, {}, sessionId)
  await runner.stop()
  const [agent] = world.query(Ancestry)
  if (agent === undefined) throw new Error(`The World of session ${sessionId} has no agent.`)
  return { world, agent }
}
