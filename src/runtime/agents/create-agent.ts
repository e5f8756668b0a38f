import { Limits } from '../../../components/agent/turn.ts'
import { Llm, OutputSchema } from '../../../components/agent/llm.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import * as standardComponents from '../../../components/index.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import type { DefinedWorldTool } from '../../../systems/agent/define-world-tool.ts'
import { standardSystems } from '../../../systems/index.ts'
import { type AgentOptions, agent as agentParts, agentOptionNames } from './agent.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { refuseNoList, refuseUnknownOptions } from '../../base/known-options.ts'
import { filledText, flag, listOf, refuseMisfits, type Shape } from '../../base/option-shapes.ts'
import { openApprovals } from '../../engine/children/open-approvals.ts'
import { type HostOptions, hostOptionNames } from '../../engine/effects/host-options.ts'
import { onlyAgent } from '../../engine/loop/only-agent.ts'
import { storeShape } from '../../engine/loop/runner-options.ts'
import { Runner } from '../../engine/loop/runner.ts'
import type { Store } from '../../stores/port.ts'
import type { Tool } from '../../tools/port.ts'
import type { Component, DataOf, Entity, Initial } from '../../world/component.ts'
import { tokensOf } from '../../world/restore.ts'
import { type System, World } from '../../world/world.ts'
import { type Agent, agentHandle, type AgentHandleParts } from './agent-handle.ts'

/** What an agent is made of, and beside it the options of its Host: models, approvals, prices … */
export interface CreateAgentOptions extends Omit<AgentOptions, 'tools'>, Omit<HostOptions, 'tools'> {
  /** What its model may call, each named once: tools, and world tools. */
  readonly tools?: readonly (Tool | DefinedWorldTool)[]
  /** What it has besides, such as `SubagentRegistry({ … })`. @default nothing */
  readonly with?: readonly Initial[]
  /** Where its world is kept, under `name`, so that it goes on after a kill. @default it lives as long as the process */
  readonly store?: Store
  /** Of its world. With a store it must be said. @default 'agent' */
  readonly name?: string
  /** Keep all ticks in the store, to replay the run. @default false */
  readonly record?: boolean
  /** The systems of its world. @default `standardSystems()` with the world tools among `tools` */
  readonly systems?: readonly System[]
  /** Components besides the standard ones, and those of `with`, that its saved world may have. @default none */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
}

/** An agent whose world this process drives. */
export interface OwnAgent extends Agent {
  readonly world: World
  readonly runner: Runner
  /** The agent in its world. */
  readonly entity: Entity
  /** Stops what is under way and releases world and store. With a store, it goes on when the agent is created again. */
  close(): Promise<void>
}

const ownOptionNames = ['with', 'store', 'name', 'record', 'systems', 'components']

/**
 * Makes an agent and drives it, in a world of its own. With a store, one that is there under this name goes on where it was; what
 * the options say of its model, prompt, tools, limits and output holds for it from its next step on, and what they do not say stays.
 *
 * @throws by its promise: `invalid-argument`, what `agent`, `Host` and `runner.start` refuse; `world-locked` where another
 * process drives the world of that name
 */
export async function createAgent(options: CreateAgentOptions): Promise<OwnAgent> {
  checkCreateOptions(options)
  const { store, name = 'agent', record = false, tools = [], components = [] } = options
  const { with: more = [] } = options
  const worldTools = tools.filter(isWorldTool)
  const systems = options.systems ?? standardSystems(worldTools.length === 0 ? undefined : { worldTools })
  const agentOptions = picked<AgentOptions>(options, agentOptionNames)
  const parts = [...agentParts({ ...agentOptions, ...(tools.length > 0 && { tools }) }), ...more]
  const hostOptions = picked<HostOptions>(options, hostOptionNames)
  const host = { ...hostOptions, tools: tools.filter((tool): tool is Tool => !isWorldTool(tool)) }
  const create = (): World => {
    const world = new World({ name, systems })
    world.spawn(...parts)
    return world
  }
  if (store === undefined) return started(new Runner(create(), host), parts)
  const known = [...Object.values(standardComponents), ...tokensOf(components), ...more.map(({ token }) => token)]
  return started(await Runner.open({ ...host, store, name, record, systems, components: known, create }), parts)
}

async function started(runner: Runner, parts: readonly Initial[]): Promise<OwnAgent> {
  const { world } = runner
  try {
    const entity = onlyAgent(world, 'ask(agent.runner, entity, …)')
    renew(world, entity, parts)
    await runner.start()
    return ownAgent(runner, entity)
  } catch (error) {
    await runner.stop()
    throw error
  }
}

/** What the options say anew of an agent that was saved. */
const renewed: ReadonlySet<Component> = new Set<Component>([Limits, Llm, OutputSchema, SystemPrompt])

/** Writes what an agent that was saved had otherwise, or not at all. What is written before the start is an input of the run. */
function renew(world: World, entity: Entity, parts: readonly Initial[]): void {
  const registry = world.get(entity, ToolRegistry)
  const registered = new Set(registry?.tools.map(({ name }) => name))
  for (const { initial, token } of parts) {
    if (renewed.has(token)) {
      const isSame = JSON.stringify(world.get(entity, token as typeof Llm)) === JSON.stringify(initial)
      if (!isSame) world.set(entity, token as typeof Llm, initial as never)
    } else if (token === ToolRegistry) {
      const { tools } = initial as DataOf<() => typeof ToolRegistry.schema>
      const added = tools.filter(({ name }) => !registered.has(name))
      if (added.length > 0)
        world.set(entity, ToolRegistry, { ...registry, tools: [...(registry?.tools ?? []), ...added] })
    }
  }
}

function ownAgent(runner: Runner, entity: Entity): OwnAgent {
  const { world } = runner
  let closing: Promise<void> | undefined
  const use: AgentHandleParts['use'] = async (work) => {
    if (closing === undefined) return work(runner, entity)
    const advice = 'Make it anew with createAgent({ … }), under the same name and store to go on.'
    throw new EntiaError('world-driven', `The agent '${world.name}' is closed. ${advice}`)
  }
  const handle = agentHandle(world.name, {
    use,
    exists: () => Promise.resolve(true),
    listen: (listener, ended) => {
      if (closing !== undefined) ended()
      const ends = [runner.on('*', listener), runner.on('runner-stopped', ended)]
      return () => ends.forEach((end) => end())
    },
    message: (message, options) => use(async () => void (await runner.message(entity, message, options))),
    approvals: () => use(() => [...openApprovals(world), ...runner.subagents(entity).approvals()]),
    answer: (input) => use(async () => void (await runner.post(input))),
    cancel: (reason) => use(() => runner.cancel(entity, reason)),
    sessions: () => use(() => runner.subagents(entity).list()),
  })
  return { ...handle, world, runner, entity, close: () => (closing ??= runner.stop()) }
}

function isWorldTool(tool: Tool | DefinedWorldTool): tool is DefinedWorldTool {
  return 'answer' in tool
}

/** The options by these names that are said, but tools, which each of them gets in its own way. */
function picked<Options>(options: CreateAgentOptions, names: readonly string[]): Omit<Options, 'tools'> {
  const said = Object.entries(options).filter(
    ([name, value]) => name !== 'tools' && names.includes(name) && value !== undefined,
  )
  return Object.fromEntries(said) as Omit<Options, 'tools'>
}

const initial: Shape = {
  wanted: 'components with their values, such as SubagentRegistry({ … })',
  fits: (value) => typeof value === 'object' && value !== null && 'token' in value && 'initial' in value,
}

/** @throws `invalid-argument` */
function checkCreateOptions(options: CreateAgentOptions): void {
  const known = [...agentOptionNames, ...hostOptionNames.filter((name) => name !== 'tools'), ...ownOptionNames]
  refuseUnknownOptions('createAgent', options, known)
  refuseNoList('createAgent', 'tools', options.tools)
  refuseMisfits('createAgent', options, {
    name: filledText,
    record: flag,
    store: storeShape,
    with: listOf(initial),
  })
  if (options.model === undefined)
    throw new EntiaError('invalid-argument', "createAgent: there is no model. Name one: model: 'provider/model'.")
  if (options.store !== undefined && options.name === undefined) {
    const what = 'createAgent: a store keeps worlds by name, and there is none.'
    throw new EntiaError('invalid-argument', `${what} Write createAgent({ store, name: 'desk', … }).`)
  }
  if (options.store === undefined && options.record === true)
    throw new EntiaError(
      'invalid-argument',
      'createAgent: record keeps all ticks in a store, and there is none. Pass one.',
    )
  if (options.systems !== undefined && options.tools?.some(isWorldTool) === true) {
    const what = 'createAgent: systems beside world tools: the list of systems has to have them.'
    throw new EntiaError(
      'invalid-argument',
      `${what} Write systems: standardSystems({ worldTools }), or leave systems out.`,
    )
  }
}
