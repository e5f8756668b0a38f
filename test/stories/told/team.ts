import {
  agent,
  defineTool,
  type Initial,
  Limits,
  type ModelProvider,
  standardSystems,
  SubagentRegistry,
  type System,
  type Tool,
  World,
} from 'entia'
import type { SimulatedUser, SimulateOptions } from 'entia/sim'
import { z } from 'zod'
import { everyFault } from './every-fault.ts'

export const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  input: z.object({ at: z.string().optional() }),
  restart: 'pure',
  run: ({ at = 'here' }) => `a tree at ${at}`,
})

type Registry = Parameters<typeof SubagentRegistry>[0]

export interface TeamStory {
  readonly name: string
  readonly models: Readonly<Record<string, ModelProvider>>
  /** Whom the lead may delegate to. */
  readonly subagents: Registry['subagents']
  readonly registry?: Omit<Registry, 'subagents'>
  readonly maxSessions?: number
  /** @default the standard ones */
  readonly systems?: readonly System[]
  /** Besides `look`. @default none */
  readonly tools?: readonly Tool[]
  readonly users?: Readonly<Record<string, SimulatedUser>>
  /** Further components of the lead. @default none */
  readonly parts?: readonly Initial[]
  readonly prices?: SimulateOptions['prices']
  /** Most steps of a turn of the lead. @default 30 */
  readonly maxSteps?: number
}

/** A story about one lead and its subagents, on a bad day. */
export function teamStory(story: TeamStory) {
  const { name, models, subagents, registry = {}, maxSessions, tools = [], users = {}, maxSteps = 30 } = story
  const { parts = [], prices, systems } = story
  return {
    models,
    tools: [look, ...tools],
    users,
    world(seed: number) {
      const world = new World({ name, seed, systems: systems ?? standardSystems() })
      const lead = agent({ model: 'lead/x', tools: [look], messages: 'Go' })
      world.spawn(...lead, Limits({ maxSteps }), SubagentRegistry({ ...registry, subagents }), ...parts)
      return world
    },
    faults: everyFault,
    ...(maxSessions !== undefined && { maxSessions }),
    ...(prices !== undefined && { prices }),
  } satisfies SimulateOptions
}
