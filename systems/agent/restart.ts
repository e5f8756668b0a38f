import { Effect, Outcome, OwnedBy, Pending, Running } from '../../components/effects/effect.ts'
import { HostFacts } from '../../components/agent/host-facts.ts'
import type { HostFactsData, ToolChanges } from '../../src/protocol/host.ts'
import type { OutcomeData } from '../../src/protocol/failure.ts'
import type { World } from '../../src/world/world.ts'
import { emit, inputsOf } from '../kit.ts'
import { Ancestry } from '../../components/sessions/ancestry.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { PolicyState } from '../../components/agent/policy.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { knownHost } from '../../src/rules/projection/host-facts.ts'
import { declarationHash, knownDeclarations } from '../../src/rules/delegation/hashes.ts'
import type { Entity } from '../../src/world/component.ts'
import { refuseCall } from './tool-results.ts'

/** The outcome of a `once` effect that was running when the process ended. */
export const interrupted: OutcomeData = {
  ok: false,
  failure: {
    kind: 'interrupted',
    message: 'The process ended while this ran: it may have happened, or not, or in part.',
  },
}

/**
 * Resumes a world after a restart. A running `once` effect is settled as `interrupted`, since it may have happened. A
 * `keyed` tool call that may have started gets another try. Sessions resume from their own journals; other effects are
 * still pending and start again. Tools whose declarations changed on the Host are renewed.
 * Writes: Outcome, Effect, Pending, ToolRegistry, HostFacts, PolicyState.
 */
export const restart = {
  name: 'restart',
  priority: -110,
  wakes: ['started'],
  run(world: World): void {
    for (const input of inputsOf(world, 'started')) {
      for (const effect of world.query(Running)) {
        if (world.read(effect, Effect).restart === 'resumable') continue
        world.remove(effect, Running)
        world.add(effect, Outcome(interrupted))
      }
      for (const effect of input.reruns ?? []) {
        // A higher attempt tells the handler, and the model if the call fails, that it ran before.
        if (world.has(effect, Pending)) world.patch(effect, Effect, { attempt: world.read(effect, Effect).attempt + 1 })
      }
      if (input.tools !== undefined) applyToolChanges(world, input.tools)
      if (input.host !== undefined) noteHost(world, input.host)
    }
  },
}

function noteHost(world: World, host: HostFactsData): void {
  const kept = keptTools(world, host)
  const facts = HostFacts({ ...host, ...(kept !== undefined && { keptTools: kept }) })
  const [known] = world.query(HostFacts)
  if (known === undefined) world.spawn(facts)
  else if (JSON.stringify(world.read(known, HostFacts)) !== JSON.stringify(facts.initial)) world.add(known, facts)
}

type Tools = readonly ToolDeclaration[]

/** One list of tools, which agents may share, and what changed in it. */
interface Renewed {
  tools: Tools
  readonly changes: readonly { readonly tool: string; readonly change: 'changed' | 'removed' }[]
}

/**
 * Updates agents' tools to the Host's: changed declarations are replaced, missing ones removed and their open calls
 * answered. Tools are added only where the program says so. Runs before the world records the new Host. A fork keeps
 * what it shares with its parent, and a program's own declarations stay.
 */
function applyToolChanges(world: World, changes: ToolChanges): void {
  const { added = [], changed = [], kept, removed = [] } = changes
  const known = knownDeclarations(knownHost(world))
  const isKnown = (tool: ToolDeclaration): boolean => known.get(tool.name)?.has(declarationHash(tool)) === true
  const now = new Map(changed.map((tool) => [tool.name, tool]))
  const gone = new Set(removed)
  const byTools = new Map<Tools, Renewed>()
  for (const agent of world.query(ToolRegistry)) {
    if (world.get(agent, Ancestry)?.sessions.at(-1)?.kind === 'fork') continue
    const { tools } = world.read(agent, ToolRegistry)
    let renewed = byTools.get(tools)
    if (renewed === undefined) byTools.set(tools, (renewed = renew(tools, now, gone, isKnown)))
    for (const change of renewed.changes) emit(world, 'tool-changed', { agent, ...change, ...(kept && { kept }) })
    if (kept === true || renewed.changes.length === 0) continue
    world.set(agent, ToolRegistry, { tools: renewed.tools })
    // Agents that have the same tools share them.
    renewed.tools = world.read(agent, ToolRegistry).tools
    answerGone(world, agent, gone)
    forgetRemembered(world, agent, renewed.changes)
  }
  for (const { agent, tool } of added) add(world, agent, tool)
}

/**
 * Hashes of earlier Hosts' declarations that agents keep (under `keep`, and in forks), by tool. They tell the next
 * start that such a tool was removed or changed. Runs before the world records the new Host.
 */
function keptTools(world: World, host: HostFactsData): HostFactsData['keptTools'] {
  const before = knownDeclarations(knownHost(world))
  const now = knownDeclarations(host)
  const kept: Record<string, number[]> = {}
  for (const tools of new Set(world.query(ToolRegistry).map((agent) => world.read(agent, ToolRegistry).tools))) {
    for (const tool of tools) {
      const hashes = tool.world === true ? undefined : before.get(tool.name)
      if (hashes === undefined) continue
      const present = now.get(tool.name)
      const hash = declarationHash(tool)
      const isKept = present === undefined || (hashes.has(hash) && !present.has(hash))
      if (isKept) kept[tool.name] = [...hashes].filter((known) => present?.has(known) !== true)
    }
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}

function renew(
  tools: Tools,
  now: ReadonlyMap<string, ToolDeclaration>,
  gone: ReadonlySet<string>,
  isKnown: (tool: ToolDeclaration) => boolean,
): Renewed {
  const changes: { readonly tool: string; readonly change: 'changed' | 'removed' }[] = []
  const left = tools.flatMap((tool) => {
    const { name } = tool
    if (tool.world === true) return [tool]
    if (gone.has(name)) {
      changes.push({ tool: name, change: 'removed' })
      return []
    }
    const newer = now.get(name)
    if (newer === undefined || !isKnown(tool) || declarationHash(tool) === declarationHash(newer)) return [tool]
    changes.push({ tool: name, change: 'changed' })
    return [newer]
  })
  return { tools: left, changes }
}

/** Answers pending calls of removed tools. Undecided calls and those awaiting approval are refused when decided. */
function answerGone(world: World, agent: Entity, gone: ReadonlySet<string>): void {
  for (const call of world.referrers(OwnedBy, agent)) {
    const name = world.get(call, ToolCall)?.name
    if (name === undefined || !gone.has(name) || !world.has(call, Pending) || world.has(call, Outcome)) continue
    world.remove(call, Pending)
    refuseCall(world, call, `the tool '${name}' is not there any more.`)
  }
}

/** What a person allowed for later calls was said of the tool as it was. */
function forgetRemembered(world: World, agent: Entity, changes: Renewed['changes']): void {
  const remembered = world.get(agent, PolicyState)?.remembered ?? []
  const left = remembered.filter(({ tool }) => !changes.some((change) => change.tool === tool))
  if (left.length < remembered.length) world.patch(agent, PolicyState, { remembered: left })
}

function add(world: World, agent: Entity, tool: ToolDeclaration): void {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  if (tools.some(({ name }) => name === tool.name)) return
  world.set(agent, ToolRegistry, { tools: [...tools, tool] })
  emit(world, 'tool-changed', { agent, tool: tool.name, change: 'added' })
}
