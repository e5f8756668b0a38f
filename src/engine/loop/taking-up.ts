import { Context } from '../../../components/context/context.ts'
import { Effect, Pending } from '../../../components/effects/effect.ts'
import type { HostFactsData, ToolChanges } from '../../protocol/host.ts'
import type { StandardInput } from '../../protocol/input.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { SubagentRegistry } from '../../../components/sessions/subagent-registry.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { parseModel } from '../../protocol/model-name.ts'
import type { LostTicks, Store } from '../../stores/port.ts'
import { subagentToolNames } from '../../rules/delegation/declarations.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'
import { newFacts } from '../effects/host-facts.ts'
import type { Listeners } from './listeners.ts'
import type { HeldWorld } from './stored-world.ts'
import { callsOf, goneTools, type ToolAddition, toolChanges } from './tool-changes.ts'

export interface Found {
  readonly facts: HostFactsData | undefined
  readonly tools: ToolChanges | undefined
  /** Effects that run again, after the first tick has counted another try. */
  readonly reruns: readonly Entity[]
  /** Effects that begin after the first tick. */
  readonly heldBack: readonly Entity[]
}

/** Checks a world before the start. @param isKept it has a store. @throws what `Runner.start` throws before anything runs */
export function lookOver(world: World, host: Host, isKept: boolean, additions: readonly ToolAddition[]): Found {
  const gone = goneTools(world, host)
  checkParts(world, host, gone)
  const facts = newFacts(world, host.facts(isKept))
  const tools = toolChanges(world, host, facts, additions)
  const reruns = begunBefore(world)
  return { facts, tools, reruns, heldBack: [...reruns, ...callsOf(world, gone)] }
}

const smallModelPath = 'context.agentic.small_model'

/** Refuses a world that needs what the Host lacks. @param gone tools of an earlier Host; `onToolChange` decides on them */
function checkParts(world: World, host: Host, gone: ReadonlySet<string>): void {
  // From the columns: a query would have bitECS follow these components from here on.
  const { state } = world.core
  if (world.systems.length === 0) {
    const what = `World '${world.name}' has no systems, so nothing would happen in it`
    throw new EntiaError('invalid-argument', `${what}. Write new World({ systems: standardSystems() }).`)
  }
  for (const agent of state.entitiesWith(Llm)) {
    const { model } = world.read(agent, Llm)
    const problem = providerProblem(host, agent, 'the model', model)
    if (problem !== undefined) throw new EntiaError('unknown-provider', problem, { entity: agent, model })
  }
  for (const agent of state.entitiesWith(Context)) {
    const { smallModel, tools } = world.read(agent, Context).agentic
    // A name without a provider means the agent's own.
    if (!tools || smallModel?.includes('/') !== true) continue
    const problem = providerProblem(host, agent, smallModelPath, smallModel)
    if (problem === undefined) continue
    throw new EntiaError('config-invalid', problem, { entity: agent, model: smallModel, path: smallModelPath })
  }
  const seen = new Set<unknown>()
  for (const agent of state.entitiesWith(ToolRegistry)) {
    const { tools } = world.read(agent, ToolRegistry)
    if (seen.has(tools)) continue
    seen.add(tools)
    assertNoConflict(world, agent, tools)
    const missing = tools.find(({ name, world: isWorldTool }) => {
      return isWorldTool !== true && host.tool(name) === undefined && !gone.has(name)
    })
    if (missing === undefined) continue
    throw new EntiaError(
      'missing-handler',
      `Entity ${agent} has the tool '${missing.name}', and the host has no handler for it. Pass it in 'tools'.`,
      { entity: agent, tool: missing.name },
    )
  }
}

function providerProblem(host: Host, agent: Entity, what: string, model: string): string | undefined {
  const { provider } = parseModel(model)
  if (host.hasProvider(provider)) return undefined
  return (
    `Entity ${agent} has ${what} '${model}', and there is no provider '${provider}'. ` +
    `Known: ${host.providerNames.join(', ')}. Pass it in 'models'.`
  )
}

/** An agent that may delegate gets the `subagent` tools, and must have no tool of the same name. */
function assertNoConflict(world: World, agent: Entity, tools: readonly ToolDeclaration[]): void {
  if (!world.has(agent, SubagentRegistry)) return
  const names: readonly string[] = subagentToolNames
  const own = tools.find((tool) => tool.world !== true && names.includes(tool.name))
  if (own === undefined) return
  throw new EntiaError(
    'tool-conflict',
    `Entity ${agent} has a SubagentRegistry, which brings the tool '${own.name}', and one of its own by that name. Rename that one.`,
    { entity: agent, tool: own.name },
  )
}

/** Pending `keyed` tool calls, ascending: each may have begun, and runs again. To know would take a commit before each call. */
function begunBefore(world: World): readonly Entity[] {
  const { state } = world.core
  return state.entitiesWith(Pending).filter((call) => {
    return state.get(call, ToolCall) !== undefined && world.get(call, Effect)?.restart === 'keyed'
  })
}

export function startedInput(
  { facts, reruns, tools }: Found,
  dateMs: number,
  run: string | undefined,
): Extract<StandardInput, { readonly kind: 'started' }> {
  return {
    kind: 'started',
    dateMs,
    ...(run !== undefined && { run }),
    ...(facts && { host: facts }),
    ...(tools && { tools }),
    ...(reruns.length > 0 && { reruns }),
  }
}

/** The run id that `newId` of a root world mixes in. Stored before the first tick, so that an interrupted start keeps it. */
export function runId(
  world: World,
  { seams }: Host,
  store: Store | undefined,
  { journal }: HeldWorld,
): string | undefined {
  const { isSeeded, run } = world.core
  const { newRun } = seams
  if (newRun !== undefined) return run ?? newRun()
  if (run === undefined) return isSeeded || store === undefined ? undefined : crypto.randomUUID()
  // The store may have lost ids that are in use elsewhere, such as in transcripts beside a restored backup.
  return journal?.lost === undefined ? run : crypto.randomUUID()
}

/** Emits what the last process may not have emitted: events of the newest tick, and that ticks are lost. */
export function emitAgain(world: World, { journal, lastEvents = [] }: HeldWorld, listeners: Listeners): void {
  const { dateMs, name, nowMs, tick } = world
  lastEvents.forEach((event, index) => listeners.emit({ ...event, world: name, tick, index, nowMs, dateMs }))
  emitLostTicks(name, journal?.lost, listeners)
}

function emitLostTicks(world: string, lost: LostTicks | undefined, listeners: Listeners): void {
  if (lost === undefined) return
  const { tick, newestTick } = lost
  const there = tick === undefined ? 'nothing of it is there' : `its newest tick there is ${tick}`
  const message =
    `The store of world '${world}' has lost commits: ${there}, and tick ${newestTick} was committed. Its log or its newest ` +
    'rows were deleted, a backup was put in its place, or a power cut took what was not synced. The world goes on from ' +
    'what is there; what it did after that may be done again.'
  const found = tick === undefined ? {} : { foundTick: tick }
  if (listeners.has('ticks-lost')) listeners.emit({ type: 'ticks-lost', world, ...found, newestTick, message })
  else process.emitWarning(message, 'EntiaWarning')
}
