import { oneLine } from '../../src/base/one-line.ts'
import { Effect, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { Ancestry, ToolCeiling } from '../../components/sessions/ancestry.ts'
import { Permissions, ToolRegistry } from '../../components/agent/tool-registry.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { isPermitted } from '../../src/rules/delegation/permissions.ts'
import { argumentFaults } from '../../src/rules/text/argument-faults.ts'
import { oncePerObject } from '../../src/rules/once-per.ts'
import type { Entity } from '../../src/world/component.ts'
import { made } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from '../kit.ts'
import type { WorldTool } from '../sessions/world-tools/world-tool.ts'
import { refuseCall, textOutcome } from './tool-results.ts'

/** Timeout of a tool whose declaration has none, in ms. */
const defaultTimeoutMs = 600_000

/** Tools that change the world inside the tick, by name. */
export type WorldTools = ReadonlyMap<string, WorldTool>

export type FoundTool = { readonly declaration: ToolDeclaration } | { readonly problem: string }

/** Runs a decided call: a world tool in this tick, any other as an effect. */
export function runCall(world: World, call: Entity, declaration: ToolDeclaration, worldTools: WorldTools): void {
  const { agent } = world.read(call, OwnedBy)
  const { arguments: input, callId, name } = world.read(call, ToolCall)
  if (declaration.world !== true) {
    const { restart, timeoutMs = defaultTimeoutMs } = declaration
    world.add(call, made(Effect, { attempt: 1, kind: 'tool', restart, timeoutMs }))
    world.add(call, Pending)
  }
  emit(world, 'tool-called', { agent, effect: call, callId, tool: name, arguments: input })
  if (declaration.world === true) callWorldTool(world, call, worldTools.get(name))
}

/** `undefined` leaves the call open for a later system to answer. */
function callWorldTool(world: World, call: Entity, tool: WorldTool | undefined): void {
  const { agent } = world.read(call, OwnedBy)
  const { arguments: input, callId, name } = world.read(call, ToolCall)
  if (tool === undefined) return refuseCall(world, call, `no system has the tool '${name}'.`)
  const answer = tool(world, { agent, arguments: input, call, callId })
  if (typeof answer === 'string') world.add(call, textOutcome(answer))
  else if (answer !== undefined) refuseCall(world, call, answer.problem)
}

/** The first of each name. */
const toolsByName = oncePerObject(
  (tools: readonly ToolDeclaration[]) => new Map(tools.toReversed().map((tool) => [tool.name, tool])),
)

/** A tool the agent has and may run, or why not. */
export function permittedTool(world: World, agent: Entity, name: string): FoundTool {
  const declaration = toolsByName(world.get(agent, ToolRegistry)?.tools ?? []).get(name)
  if (declaration === undefined) return { problem: `there is no tool named ${oneLine(name)}.` }
  const ceiling = world.get(agent, ToolCeiling)?.allowed
  if (isPermitted(name, world.get(agent, Permissions), ceiling)) return { declaration }
  const isFork = world.get(agent, Ancestry)?.sessions.at(-1)?.kind === 'fork'
  return { problem: isFork ? `tool '${name}' is not allowed in this fork` : `tool '${name}' is not permitted.` }
}

/** The tool of a call that has waited: it, the permission to run it or its schema may have changed since. */
export function stillPermitted(world: World, agent: Entity, call: Entity): FoundTool {
  const { arguments: input, name } = world.read(call, ToolCall)
  const found = permittedTool(world, agent, name)
  if ('problem' in found || found.declaration.world === true) return found
  const wrong = argumentFaults(found.declaration, input)
  return wrong === undefined ? found : { problem: `Invalid arguments for '${name}': ${wrong}` }
}
