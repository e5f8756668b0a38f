import { type ToolDeclaration, type World } from 'entia'
import { SubagentRegistry, ToolRegistry } from 'entia/components'
import { subagentTools } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { listener, tickAt, worldOf } from '../one-tick.ts'

/** A program's own tool that has the name of one that delegates. */
const own: ToolDeclaration = { name: 'subagent', description: '', inputSchema: {}, restart: 'pure' }

const system = () => subagentTools({ maxStartsPerTick: 9, allowUnregisteredSubagents: false })

function warnings(world: World, nowMs: number): unknown[] {
  return tickAt(world, nowMs).events.map(({ type, message }) => [type, message])
}

const warning = ['warning', "The tool 'subagent' of this agent hides the one that delegates."]

describe('an agent whose own tool hides one that delegates', () => {
  it('is warned of once, in each world that has its tools', () => {
    const world = worldOf(system())
    const agent = listener(world, SubagentRegistry({ subagents: {} }), ToolRegistry({ tools: [own] }))
    expect([warnings(world, 0), warnings(world, 1)]).toEqual([[warning], []])
    const other = worldOf(system())
    // The very same values: a world keeps what is frozen.
    const parts = [SubagentRegistry(world.read(agent, SubagentRegistry)), ToolRegistry(world.read(agent, ToolRegistry))]
    listener(other, ...parts)
    expect(warnings(other, 0)).toEqual([warning])
  })
})
