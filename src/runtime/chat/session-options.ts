import type { HostOptions } from '../../engine/effects/host-options.ts'
import type { Channel, PolicyConfig } from '../../protocol/policy.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { ConfigInput } from '../../rules/config/config.ts'
import { type ToolPreset, toolPresets } from '../../rules/delegation/declarations.ts'
import type { Store } from '../../stores/port.ts'
import type { Tool } from '../../tools/port.ts'
import {
  callback,
  count,
  countFromZero,
  filledText,
  flag,
  listOf,
  givenName,
  objectWith,
  oneOf,
  type ShapesOf,
  table,
  text,
} from '../../base/option-shapes.ts'
import type { PolicyEffectsOptions } from '../policy/policy-effects.ts'
import type { ApproveCall } from './approval.ts'
import type { HistoryMessage } from './history.ts'

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
  /** Further files and folders of Entia's own with secrets or chats in them, absolute. They count as credentials. @default none */
  readonly ownPaths?: readonly string[] | undefined
  /** What the policy reads of a configuration. @default its defaults */
  readonly policy?: PolicyConfig | undefined
  /** Answers instead of the policy's table, with all facts of a call; `undefined`: the table decides. @default none */
  readonly policyFunction?: PolicyEffectsOptions['policy']
  /** Tools of subagents for which none are named, of those that the agent has. @default 'investigate' */
  readonly subagentPreset?: ToolPreset | undefined
  /** Characters of earlier results that a turn begins with, from 0 to 32,000. @default 8,000 */
  readonly maxRetrievedChars?: number | undefined
  /** Compaction, checkpoints, ceilings: keys of the configuration. @default their defaults */
  readonly config?: ConfigInput | undefined
}

/** What `newSession` does where its options say nothing. */
export const newSessionDefaults = Object.freeze({ channel: 'cli', provider: 'anthropic', maxSteps: 10 } as const)

const models = 'an object { cloud, local }, each provider/model'

export const sessionShapes: ShapesOf<NewSessionOptions> = {
  channel: oneOf('cli', 'console', 'matrix', 'mcp'),
  history: { wanted: 'a list of messages', fits: Array.isArray },
  modelMap: { wanted: models, fits: (value) => table.fits(value) && Object.values(value as object).every(isModel) },
  provider: givenName,
  model: givenName,
  tools: listOf({ wanted: 'a tool or its declaration', fits: table.fits }),
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
  ownPaths: listOf(filledText),
  key: givenName,
  policy: table,
  policyFunction: callback,
  maxRetrievedChars: {
    wanted: 'an integer from 0 to 32000',
    fits: (value) => countFromZero.fits(value) && (value as number) <= 32_000,
  },
  subagentPreset: oneOf(...(Object.keys(toolPresets) as ToolPreset[])),
  config: table,
}

function isModel(value: unknown): boolean {
  return value === undefined || givenName.fits(value)
}
