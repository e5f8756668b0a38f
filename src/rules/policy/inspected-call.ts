import { z } from 'zod'
import { PlanMode, Policy, PolicyState } from '../../../components/agent/policy.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { pathStyles } from '../../protocol/policy.ts'
import { json } from '../../protocol/values.ts'
import type { DataOf, Entity } from '../../world/component.ts'
import { lazily } from '../../base/lazily.ts'
import type { World } from '../../world/world.ts'
import { CallFacts, type PolicyCall } from './call.ts'

/** The outcome of an effect of kind `inspect`: all of a judgement that comes from outside of the world. */
export const Inspected = lazily(() =>
  z.strictObject({
    facts: CallFacts(),
    /** What the Host's policy function gave; `null` if it failed. Absent: it has no opinion, or there is none. */
    hostAnswer: json().optional(),
    pathStyle: z.enum(pathStyles),
  }),
)
export type Inspected = DataOf<typeof Inspected>

/** A tool call as a policy judges it; without what is found on the disk, unless that is given. */
export function policyCallOf(world: World, agent: Entity, call: Entity, inspected?: Inspected): PolicyCall {
  const { channel, configFolder, cwd, home, ownPaths } = world.read(agent, Policy)
  const { sticky, hasReadOther } = world.get(agent, PolicyState) ?? {}
  const { arguments: given, name } = world.read(call, ToolCall)
  const { category, operation, paths } = world.get(agent, ToolRegistry)?.tools.find((tool) => tool.name === name) ?? {}
  return {
    tool: name,
    arguments: given,
    channel,
    configFolder,
    cwd,
    home,
    ownPaths,
    declared: { category, operation, paths },
    planMode: world.has(agent, PlanMode),
    sticky,
    hasReadOther,
    ...inspected,
  }
}
