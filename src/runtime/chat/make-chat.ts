import * as standardComponents from '../../../components/index.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Workspace } from '../../../components/agent/handle.ts'
import { Limits } from '../../../components/agent/turn.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { PlanMode, Policy } from '../../../components/agent/policy.ts'
import { Retrieval } from '../../../components/agent/workspace-entry.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { standardSystems } from '../../../systems/index.ts'
import { Host } from '../../engine/effects/host.ts'
import { toolEffect } from '../../engine/effects/tool-effect.ts'
import { Runner } from '../../engine/loop/runner.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { configured, readConfig } from '../../rules/config/config.ts'
import { declarationHash } from '../../rules/delegation/hashes.ts'
import { withSearch } from '../../rules/projection/deferred-tools.ts'
import { declare } from '../../tools/declare.ts'
import type { DataOf, Entity, Initial, Tag } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { World } from '../../world/world.ts'
import { wholeModelName } from '../models/choose-provider.ts'
import type { BackgroundShells } from '../tools/background-shells.ts'
import { FileBackups } from '../tools/file-backups.ts'
import { FileTimes } from '../tools/file-times.ts'
import { policyEffects, type PolicyEffectsOptions } from '../policy/policy-effects.ts'
import { approveBy, type AskedIn } from './approval.ts'
import { ChatSession } from './chat-session.ts'
import { enterPlanMode } from './plan-mode.ts'
import { ChatTranscript } from './chat-transcript.ts'
import { readHistory } from './history.ts'
import { observerProgress } from './progress.ts'
import { inUse, type SessionFolder } from './session-folder.ts'
import { seededRandom, sessionKey, systemRandom } from './session-key.ts'
import { type NewSessionOptions, newSessionDefaults } from './session-options.ts'
import type { ToolFeed } from './tool-feed.ts'
import { Rewinding } from './rewind.ts'
import { ChatTools } from './chat-tools.ts'

type PolicyData = DataOf<() => typeof Policy.schema>

/** What a chat session keeps and frees besides its options. */
export interface Kept {
  /** Where it is stored, with a transcript. */
  readonly folder?: SessionFolder | undefined
  /** Tools that come and go. */
  readonly feed?: ToolFeed | undefined
  /** What files had in them before its tools wrote them. */
  readonly backups?: FileBackups | undefined
  /** Shells that its tools leave running. */
  readonly shells?: BackgroundShells | undefined
  /** Says where programs of calls run, for the policy. */
  readonly sandboxPlace?: PolicyEffectsOptions['sandbox']
  /** Called when it is closed. */
  readonly dispose?: (() => Promise<void>) | undefined
}

/** @throws what `newSession` throws */
export function makeChat(options: NewSessionOptions, kept: Kept = {}): ChatSession {
  const { channel = newSessionDefaults.channel, seed } = options
  const chatTools = new ChatTools()
  const host = chatHost(options, chatTools, { channel: () => channel, world: (): World => world }, kept)
  const parts = agentParts(options, host, kept.feed)
  const key = options.key ?? sessionKey(host.clock.date(), seed === undefined ? systemRandom : seededRandom(seed))
  const world = new World({ name: key, systems: standardSystems(), ...(seed !== undefined && { seed }) })
  const agent = world.spawn(...parts)
  if (options.planMode === true) enterPlanMode(world, agent)
  const ownStore = kept.folder?.store(key)
  const store = ownStore ?? options.store
  const runner = new Runner(world, { host, ...(store !== undefined && { store }) })
  const dispose = async (): Promise<void> => {
    host.close()
    await ownStore?.close()
    await kept.dispose?.()
  }
  return chatSession({ runner, agent, chatTools }, options, { ...kept, dispose })
}

/**
 * A chat session of a folder, as it was left; what the options say counts over what was saved.
 *
 * @throws `session-in-use`, `unknown-session`, `conflicting-provider`, `unknown-provider`, and what restoring throws
 */
export async function openChat(
  key: string,
  options: NewSessionOptions,
  kept: Kept & { readonly folder: SessionFolder },
): Promise<ChatSession> {
  const chatTools = new ChatTools()
  let channel = options.channel ?? newSessionDefaults.channel
  let world: World | undefined
  const host = chatHost(options, chatTools, { channel: () => channel, world: () => world }, kept)
  const store = kept.folder.store(key)
  const dispose = async (): Promise<void> => {
    host.close()
    await store.close()
    await kept.dispose?.()
  }
  try {
    const found = { name: key, systems: standardSystems(), components: standardComponents }
    const runner = await Runner.open({ ...found, host, store })
    ;({ world } = runner)
    const agent = agentOf(runner.world)
    renew(runner.world, agent, options, host, kept.feed)
    const { cwd } = runner.world.read(agent, Policy)
    ;({ channel } = runner.world.read(agent, Policy))
    return chatSession({ runner, agent, chatTools }, { ...options, channel, cwd }, { ...kept, dispose })
  } catch (error) {
    await dispose()
    throw noWorld(key, error) ?? inUse(key, error)
  }
}

function noWorld(key: string, error: unknown): EntiaError | undefined {
  if (!(error instanceof EntiaError) || error.code !== 'no-such-world') return undefined
  const what = `Of the chat session '${key}' there is a folder, and nothing is stored in it.`
  return new EntiaError('unknown-session', `${what} Remove it with removeSession('${key}').`, { key }, { cause: error })
}

function agentOf(world: World): Entity {
  const [agent] = world.query(Conversation, Policy)
  if (agent !== undefined) return agent
  throw new EntiaError('unknown-session', `The world '${world.name}' holds no chat session.`, { key: world.name })
}

/** Brings a restored agent in line with the options of today. What they leave out stays as it was saved. */
function renew(world: World, agent: Entity, options: NewSessionOptions, host: Host, feed: ToolFeed | undefined): void {
  const { maxSteps, planMode, system, tools = [] } = options
  const { provider, model } = named(options)
  if (provider !== undefined || model !== undefined) {
    world.patch(agent, Llm, { model: wholeModelName({ provider, model }, host.providerNames) })
  }
  if (maxSteps !== undefined) world.patch(agent, Limits, { maxSteps })
  if (system !== undefined) world.set(agent, SystemPrompt, { template: '', ending: system })
  const saved = world.read(agent, Policy)
  const { channel = saved.channel, cwd = saved.cwd, home = saved.home, policy = saved.config } = options
  world.set(agent, Policy, policyOf({ ...options, channel, cwd, home, policy }))
  const declared = declare(...tools, ...(feed?.declarations ?? []))
  const before = world.get(agent, ToolRegistry)?.tools ?? []
  // In the order in which they were saved, so that the beginning of requests stays as it was.
  const left = before.filter((tool) => tool.world === true || declared.some(({ name }) => name === tool.name))
  const added = declared.filter(({ name }) => !before.some((tool) => tool.name === name))
  const next = [...left, ...added]
  const now = declare(
    ...withSearch(next, host.onToolChange === 'keep' ? next : next.map((tool) => renewed(tool, declared))),
  )
  if (hashesOf(now) !== hashesOf(before)) world.set(agent, ToolRegistry, { tools: now })
  if (options.maxRetrievedChars !== undefined || !world.has(agent, Retrieval)) {
    world.remove(agent, Retrieval)
    world.add(agent, retrieval(options))
  }
  if (planMode === true) enterPlanMode(world, agent)
  if (planMode === false) world.remove(agent, PlanMode)
}

function hashesOf(tools: readonly ToolDeclaration[]): string {
  return tools.map(declarationHash).join()
}

/** A tool as it is once the world has started: tools of the Host are taken over as they are declared today. */
function renewed(tool: ToolDeclaration, declared: readonly ToolDeclaration[]): ToolDeclaration {
  if (tool.world === true) return tool
  return declared.find(({ name }) => name === tool.name) ?? tool
}

/** What a chat session runs on. */
interface Driven {
  readonly runner: Runner
  readonly agent: Entity
  readonly chatTools: ChatTools
}

function chatSession({ runner, agent, chatTools }: Driven, options: NewSessionOptions, kept: Kept): ChatSession {
  const { channel = newSessionDefaults.channel, cwd, verbose } = options
  const { world } = runner
  const createdAt = runner.host.clock.date()
  let transcript: ChatTranscript | undefined
  const { backups = new FileBackups(new FileTimes()) } = kept
  const rewinding = new Rewinding(backups, kept.folder?.backups(world.name))
  const session = new ChatSession({
    runner,
    agent,
    chatTools,
    channel,
    cwd,
    feed: kept.feed,
    rewinding,
    subagentPreset: options.subagentPreset,
    shells: kept.shells,
    policy: () => policyOf(options),
    begin: () => {
      if (kept.folder === undefined) return
      const head = { key: world.name, createdAt, cwd, channel, model: world.read(agent, Llm).model }
      transcript = new ChatTranscript(kept.folder.transcript(world.name), runner, agent, head)
    },
    dispose: async () => {
      transcript?.close()
      await kept.dispose?.()
    },
  })
  if (verbose === true) session.addObserver(observerProgress())
  return session
}

/** What the agent's calls are judged by. */
function policyOf(options: NewSessionOptions): PolicyData {
  const { channel = newSessionDefaults.channel, configFolder, cwd, home, modelMap, ownPaths, policy } = options
  const localModel = policy?.localModel ?? modelMap?.local
  return {
    channel,
    cwd: process.getBuiltinModule('node:path').resolve(cwd ?? '.'),
    home: home ?? process.getBuiltinModule('node:os').homedir(),
    ...(configFolder !== undefined && { configFolder }),
    ...(ownPaths !== undefined && { ownPaths }),
    // Without a configuration the policy leaves out the step that reads it.
    ...(policy !== undefined && { config: { ...policy, ...(localModel !== undefined && { localModel }) } }),
  }
}

/** The Host of one chat session. */
function chatHost(
  { approve, host = {}, policyFunction, tools = [] }: NewSessionOptions,
  chatTools: ChatTools,
  asked: AskedIn,
  { feed, sandboxPlace }: Kept,
): Host {
  const made: Host = new Host(
    {
      ...host,
      ...(approve !== undefined && { approve: approveBy(approve, asked) }),
      tools: tools.filter((tool) => 'call' in tool),
      effects: {
        ...policyEffects({ policy: policyFunction, sandbox: sandboxPlace }),
        tool: toolEffect((name) => chatTools.handler(name, made.tool(name))),
        ...host.effects,
      },
    },
    {},
    feed && { tool: (name) => feed.tool(name) },
  )
  return made
}

function agentParts(options: NewSessionOptions, host: Host, feed: ToolFeed | undefined): (Initial | Tag)[] {
  const { config = {}, history = [], maxSteps = newSessionDefaults.maxSteps, system } = options
  const tools = declare(...(options.tools ?? []), ...(feed?.declarations ?? []))
  return [
    Llm({ model: wholeModelName(named(options), host.providerNames) }),
    Conversation(readHistory(history)),
    Limits({ maxSteps }),
    Workspace,
    retrieval(options),
    ...(system === undefined ? [] : [SystemPrompt({ template: '', ending: system })]),
    ...(tools.length === 0 ? [] : [ToolRegistry({ tools: declare(...withSearch(tools)) })]),
    ...configured(readConfig(config)),
  ]
}

function retrieval({ maxRetrievedChars: maxChars }: NewSessionOptions): Initial {
  return Retrieval(maxChars === undefined ? {} : { maxChars })
}

/** The provider and model of the options; `modelMap.cloud` counts where there is no model. */
function named({ model, modelMap, provider }: NewSessionOptions) {
  return { provider, model: model ?? modelMap?.cloud }
}
