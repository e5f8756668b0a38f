import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import type { SharedStore } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'
import { type Restored, restored, type RestoreOptions } from '../loop/stored-ticks.ts'
import { lookOver } from '../loop/taking-up.ts'

export interface FitnessParts {
  readonly store: SharedStore
  readonly host: Host
  readonly known: Pick<RestoreOptions, 'components' | 'systems'>
  /** @default the world itself */
  readonly root?: string | undefined
  /** Whether the Host's `onToolChange` applies to tools that no living worker has. @default false: worlds wait for one that has them */
  readonly dropsTools?: boolean | undefined
}

/**
 * Reads a world without holding it, and checks that this worker has what it needs: its components in their versions, its
 * providers and its tools. One that is left to others keeps its holder, its strikes and when it is due.
 * @returns `undefined`: it is not written yet
 * @throws what restoring throws, `unknown-provider`, `missing-handler`, `config-invalid`, `tool-changed`
 */
export async function fitting(name: string, parts: FitnessParts): Promise<Restored | undefined> {
  const { dropsTools = false, host, known, root, store } = parts
  const stored = await store.read(name, { root })
  if (stored === undefined) return undefined
  const read = restored(name, stored, known)
  assertTools(read.world, host, dropsTools)
  lookOver(read.world, host, true, [])
  return read
}

/** A tool that another worker has, or the next one may have, was not removed from the program: an agent keeps it. */
function assertTools(world: World, host: Host, dropsTools: boolean): void {
  for (const agent of world.entitiesWith(ToolRegistry)) {
    for (const { name, world: isOfWorld } of world.read(agent, ToolRegistry).tools) {
      if (isOfWorld === true || host.tool(name) !== undefined) continue
      const isElsewhere = host.declaration(name) !== undefined
      if (!isElsewhere && dropsTools) continue
      throw new EntiaError(
        'missing-handler',
        `Agent ${agent} of world '${world.name}' has the tool '${name}', which this worker lacks. ` +
          (isElsewhere
            ? 'The world is left to a worker that has it.'
            : "No living worker has it: the world waits for one. Pass it in 'tools', or, if it was removed, pass onToolChange."),
        { entity: agent, tool: name },
      )
    }
  }
}
