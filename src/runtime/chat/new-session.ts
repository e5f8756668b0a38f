import { Conversation } from '../../../components/agent/conversation.ts'
import { Limits } from '../../../components/agent/turn.ts'
import { Llm } from '../../../components/agent/llm.ts'
import type { Policy } from '../../../components/agent/policy.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { standardSystems } from '../../../systems/index.ts'
import type { HostOptions } from '../../engine/effects/host-options.ts'
import { Host } from '../../engine/effects/host.ts'
import { toolEffect } from '../../engine/effects/tool-effect.ts'
import { Runner } from '../../engine/loop/runner.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { Channel, PolicyConfig } from '../../protocol/policy.ts'
import { type ConfigInput, configured, readConfig } from '../../rules/config/config.ts'
import type { Store } from '../../stores/port.ts'
import { declare } from '../../tools/declare.ts'
import type { Tool } from '../../tools/port.ts'
import type { DataOf, Entity, Initial } from '../../world/component.ts'
import {
  callback,
  checkOptions,
  count,
  countFromZero,
  filledText,
  flag,
  objectWith,
  oneOf,
  type ShapesOf,
  table,
  text,
} from '../../world/option-shapes.ts'
import { World } from '../../world/world.ts'
import { approveBy, type ApproveCall } from './approval.ts'
import { chatModel } from './chat-model.ts'
import { ChatSession, enterPlanMode } from './chat-session.ts'
import { type HistoryMessage, readHistory } from './history.ts'
import { observerProgress } from './progress.ts'
import { seededRandom, sessionKey, systemRandom } from './session-key.ts'
import { TurnTools } from './turn-tools.ts'

/** Options of `newSession`. */
export interface NewSessionOptions {
  /** How the person is reached; the policy differs by it. @default 'cli' */
  readonly channel?: Channel | undefined
  /** The conversation so far. @default none */
  readonly history?: readonly HistoryMessage[] | undefined
  /** Models for data that may leave the machine, and for data that may not: `provider/model`. */
  readonly modelMap?: { readonly cloud?: string | undefined; readonly local?: string | undefined } | undefined
  /** @default 'anthropic' */
  readonly provider?: string | undefined
  /** Of the provider; or `provider/model`. @default the provider's default model */
  readonly model?: string | undefined
  /** @default none */
  readonly tools?: readonly (Tool | ToolDeclaration)[] | undefined
  /** The system prompt. Literal: no placeholders are filled in. @default none */
  readonly system?: string | undefined
  /** Asks a person about a call. @default calls that need a person are declined */
  readonly approve?: ApproveCall | undefined
  /** Model calls in a turn. @default 10 */
  readonly maxSteps?: number | undefined
  /** Adds `observerProgress()`. @default false */
  readonly verbose?: boolean | undefined
  /** Begins in plan mode: nothing is changed until a plan is approved. @default false */
  readonly planMode?: boolean | undefined
  /** Makes the World's ids and dice, and the key, reproducible. An integer ≥ 0. */
  readonly seed?: number | undefined
  /** Keeps the chat session. @default it lives as long as the process */
  readonly store?: Store | undefined
  /** Further options of its Host: models, prices, clock … */
  readonly host?: Omit<HostOptions, 'approve' | 'tools'> | undefined
  /** The working folder of its tools. @default that of the process */
  readonly cwd?: string | undefined
  /** Its name in the store. @default made from the time and the seed */
  readonly key?: string | undefined
  /** What `~` stands for. @default the user's home folder */
  readonly home?: string | undefined
  /** Entia's own config folder, absolute: paths in it count as credentials. @default none */
  readonly configFolder?: string | undefined
  /** What the policy reads of a configuration. @default its defaults */
  readonly policy?: PolicyConfig | undefined
  /** Compaction, checkpoints, ceilings: keys of the configuration. @default their defaults */
  readonly config?: ConfigInput | undefined
}

/** What `newSession` does where its options say nothing. */
export const newSessionDefaults = Object.freeze({ channel: 'cli', provider: 'anthropic', maxSteps: 10 } as const)

/**
 * Makes a chat session. Reads no file, no environment and no network; `sessionSetup` does.
 *
 * @throws `invalid-argument`, `invalid-history`, `conflicting-provider`, `unknown-provider`, `config-invalid`
 */
export function newSession(options: NewSessionOptions = {}): ChatSession {
  checkOptions('newSession', options, shapes)
  const { seed, store } = options
  const turnTools = new TurnTools()
  const host = chatHost(options, turnTools)
  const parts = agentParts(options, host)
  const key = options.key ?? sessionKey(host.clock.date(), seed === undefined ? systemRandom : seededRandom(seed))
  const world = new World({ name: key, systems: standardSystems(), ...(seed !== undefined && { seed }) })
  const agent = world.spawn(...parts)
  if (options.planMode === true) enterPlanMode(world, agent)
  const runner = new Runner(world, { host, ...(store !== undefined && { store }) })
  return chatSession({ runner, agent, turnTools }, options)
}

/** What a chat session runs on. */
interface Driven {
  readonly runner: Runner
  readonly agent: Entity
  readonly turnTools: TurnTools
}

function chatSession({ runner, agent, turnTools }: Driven, options: NewSessionOptions): ChatSession {
  const { channel = newSessionDefaults.channel, cwd, verbose } = options
  const session = new ChatSession({ runner, agent, turnTools, channel, cwd, policy: () => policyOf(options) })
  if (verbose === true) session.addObserver(observerProgress())
  return session
}

/** What the agent's calls are judged by. */
function policyOf(options: NewSessionOptions): DataOf<() => typeof Policy.schema> {
  const { channel = newSessionDefaults.channel, configFolder, cwd, home, modelMap, policy } = options
  const localModel = policy?.localModel ?? modelMap?.local
  const config = { ...policy, ...(localModel !== undefined && { localModel }) }
  return {
    channel,
    cwd: process.getBuiltinModule('node:path').resolve(cwd ?? '.'),
    home: home ?? process.getBuiltinModule('node:os').homedir(),
    ...(configFolder !== undefined && { configFolder }),
    config,
  }
}

/** The Host of one chat session. */
function chatHost(
  { approve, channel = newSessionDefaults.channel, host = {}, tools = [] }: NewSessionOptions,
  turnTools: TurnTools,
): Host {
  const made: Host = new Host({
    ...host,
    ...(approve !== undefined && { approve: approveBy(approve, channel) }),
    tools: tools.filter((tool) => 'call' in tool),
    effects: { tool: toolEffect((name) => turnTools.find(name) ?? made.tool(name)), ...host.effects },
  })
  return made
}

function agentParts(options: NewSessionOptions, host: Host): Initial[] {
  const { config = {}, history = [], maxSteps = newSessionDefaults.maxSteps, system, tools = [] } = options
  return [
    Llm({ model: chatModel(named(options), host.providerNames, newSessionDefaults.provider) }),
    Conversation(readHistory(history)),
    Limits({ maxSteps }),
    ...(system === undefined ? [] : [SystemPrompt({ template: '', ending: system })]),
    ...(tools.length === 0 ? [] : [ToolRegistry({ tools: declare(...tools) })]),
    ...configured(readConfig(config)),
  ]
}

/** The provider and model of the options; `modelMap.cloud` counts where there is no model. */
function named({ model, modelMap, provider }: NewSessionOptions) {
  return { provider, model: model ?? modelMap?.cloud }
}

const models = 'an object { cloud, local }, each provider/model'

const shapes: ShapesOf<NewSessionOptions> = {
  channel: oneOf('cli', 'console', 'matrix', 'mcp'),
  history: { wanted: 'a list of messages', fits: Array.isArray },
  modelMap: { wanted: models, fits: (value) => table.fits(value) && Object.values(value as object).every(isModel) },
  provider: filledText,
  model: filledText,
  tools: { wanted: 'a list of tools', fits: Array.isArray },
  system: text,
  approve: callback,
  maxSteps: count,
  verbose: flag,
  planMode: flag,
  seed: countFromZero,
  store: objectWith('a store, such as sqliteStore({ folder }) or memoryStore()', 'open', 'putText', 'close'),
  host: table,
  cwd: filledText,
  home: filledText,
  configFolder: filledText,
  key: filledText,
  policy: table,
  config: table,
}

function isModel(value: unknown): boolean {
  return value === undefined || filledText.fits(value)
}
