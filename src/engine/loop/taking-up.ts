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
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'
import { newFacts } from '../effects/host-options.ts'
import type { Listeners } from './listeners.ts'
import { refuseLostParts } from './lost-parts.ts'
import type { HeldWorld } from './stored-world.ts'
import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { knownHost } from '../../rules/projection/host-facts.ts'
import { declarationHash, knownDeclarations } from '../../rules/delegation/hashes.ts'
import { count, refuseMisfit, text } from '../../base/option-shapes.ts'

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
  refuseLostParts(world, 'missing-component', 'Write both together, or restore the world from another snapshot.')
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

export interface ToolAddition {
  readonly agent: Entity
  readonly tool: string
}

export function checkedAddition(agent: Entity, tool: string): ToolAddition {
  refuseMisfit('runner.addTool', 'agent', agent, count)
  refuseMisfit('runner.addTool', 'tool', tool, text)
  return { agent, tool }
}

interface Difference extends ToolAddition {
  readonly change: 'changed' | 'removed'
  readonly now: ToolDeclaration | undefined
}

/** How a world's tools change with its Host. @param facts new facts; absent: none has changed. @throws `tool-changed` */
function toolChanges(
  world: World,
  host: Host,
  facts: HostFactsData | undefined,
  added: readonly ToolAddition[],
): ToolChanges | undefined {
  const differences = facts === undefined ? [] : differencesOf(world, host)
  if (differences.length > 0 && host.onToolChange === 'refuse') throw refusal(world, differences)
  const removed = new Set(differences.flatMap(({ change, tool }) => (change === 'removed' ? [tool] : [])))
  const changed = new Map(differences.flatMap(({ now, tool }) => (now === undefined ? [] : [[tool, now] as const])))
  const additions = added.map(({ agent, tool }) => ({ agent, tool: addable(world, host, agent, tool) }))
  if (differences.length + additions.length === 0) return undefined
  return {
    ...(additions.length > 0 && { added: additions }),
    ...(changed.size > 0 && { changed: [...changed.values()] }),
    ...(differences.length > 0 && host.onToolChange === 'keep' && { kept: true as const }),
    ...(removed.size > 0 && { removed: [...removed] }),
  }
}

/** Tools that an earlier Host of a world had and this one lacks. */
function goneTools(world: World, host: Host): ReadonlySet<string> {
  return new Set([...knownDeclarations(knownHost(world)).keys()].filter((name) => host.tool(name) === undefined))
}

function callsOf(world: World, tools: ReadonlySet<string>): readonly Entity[] {
  if (tools.size === 0) return []
  const { state } = world.core
  return state.entitiesWith(Pending).filter((call) => tools.has(world.get(call, ToolCall)?.name ?? ''))
}

function differencesOf(world: World, host: Host): readonly Difference[] {
  const known = knownDeclarations(knownHost(world))
  if (known.size === 0) return []
  return world.entitiesWith(ToolRegistry).flatMap((agent): readonly Difference[] => {
    // A fork keeps its parent's request prefix.
    if (world.get(agent, Ancestry)?.sessions.at(-1)?.kind === 'fork') return []
    return world.read(agent, ToolRegistry).tools.flatMap((tool): readonly Difference[] => {
      const { name } = tool
      const hashes = tool.world === true ? undefined : known.get(name)
      if (hashes === undefined) return []
      const now = host.tool(name)?.declaration
      if (now === undefined) return [{ agent, tool: name, change: 'removed', now }]
      const hash = declarationHash(tool)
      // A declaration that no Host had is the program's own, such as a stricter one for one agent.
      const hasChanged = hash !== declarationHash(now) && hashes.has(hash)
      return hasChanged ? [{ agent, tool: name, change: 'changed', now }] : []
    })
  })
}

function addable(world: World, host: Host, agent: Entity, name: string): ToolDeclaration {
  const tool = host.tool(name)?.declaration
  if (tool !== undefined && world.exists(agent)) return tool
  const what = tool === undefined ? `the host has no tool '${name}'` : `there is no entity ${agent}`
  throw new EntiaError('invalid-argument', `addTool(${agent}, '${name}'): ${what}.`, { entity: agent, tool: name })
}

function refusal(world: World, differences: readonly Difference[]): EntiaError {
  const said = differences.map(({ agent, change, tool }) => {
    return `'${tool}' of entity ${agent} ${change === 'removed' ? 'is gone' : 'has changed'}`
  })
  return new EntiaError(
    'tool-changed',
    `World '${world.name}' was saved with other tools than the host has now: ${said.join('; ')}. ` +
      "Pass the tools as they were, or set onToolChange to 'refresh' or 'keep'.",
    { changes: differences.map(({ agent, change, tool }) => ({ agent, change, tool })) },
  )
}
