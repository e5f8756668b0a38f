import { defineTool, type Entity, type ModelContext, SessionPool, type Store, type Subagents, type World } from 'entia'
import { Ancestry, Delegated } from 'entia/components'
import { z } from 'zod'
import { type Driven, rejection, reopened } from '../turns/driving.ts'
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

/** A worker that stops when it is aborted, and in no other way. No time passes meanwhile. */
export function stuck(_: unknown, { signal }: Pick<ModelContext, 'signal'>): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** A tool for those who are to go on for a while. */
export const look = defineTool({
  name: 'look',
  description: 'Looks again.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'nothing new',
})

/** Launches sessions with these tasks, and gives their ids. */
export async function launched({ subagents }: Program, ...prompts: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const prompt of prompts) ids.push((await subagents.spawn({ category: 'researcher', prompt })).sessionId)
  return ids
}

/** The code that a call is refused with. */
export function refusal(promise: Promise<unknown>): Promise<unknown> {
  return rejection(promise).then((error) => (error as { code?: unknown }).code ?? error)
}

/** The world of a team as a store has it, running elsewhere. */
export async function again(store: Store, made: Team): Promise<Driven & { readonly subagents: Subagents }> {
  const later = await reopened(store, { ...made.options, sessionPool: new SessionPool() })
  await later.runner.start()
  return { ...later, subagents: later.runner.subagents(made.lead) }
}

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
