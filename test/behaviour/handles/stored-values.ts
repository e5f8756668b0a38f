import type { AgentOptions, Entity, Tool, World } from 'entia'
import { Workspace } from 'entia/components'
import { builtinTools } from 'entia/runtime'
import { tool } from '../turns/tools.ts'
import { worldWith } from '../turns/driving.ts'

/** The tool `read_handle`, as the runtime brings it. */
export const [readHandle] = builtinTools({ cwd: '.', tools: ['read_handle'] }) as [Tool]

export const read = (handle: string, more: object = {}) => ({ name: 'read_handle', arguments: { handle, ...more } })

/** A tool `give` without arguments that gives a value. */
export const giving = (value: unknown): Tool => tool('give', () => value)

/** A world with one agent that has a workspace, `read_handle` and these tools. */
export function workshop(tools: readonly Tool[], options: Partial<AgentOptions> = {}): { world: World; agent: Entity } {
  const made = worldWith({ tools: [...tools, readHandle], ...options })
  made.world.add(made.agent, Workspace)
  return made
}

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
