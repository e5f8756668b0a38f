import type { ParseArgsOptionDescriptor } from 'node:util'
import { checkSettings } from '../../rules/config/check-settings.ts'
import { ConfigSchema } from '../../rules/config/config-schema.ts'
import type { ConfigInput } from '../../rules/config/config.ts'
import { EntiaError } from '../../base/entia-error.ts'

/** A command line option that sets a key of the configuration. */
interface ContextFlag extends ParseArgsOptionDescriptor {
  /** Spelt as in files. */
  readonly key: string
  /** Its placeholder in the help; of a boolean option, the value to set. */
  readonly value: unknown
  readonly help: string
}

/** They override the configuration files. */
export const contextFlags = {
  task: {
    type: 'string',
    key: 'context.task_class',
    value: 'CLASS',
    help: 'debug, implement, chat, research or review',
  },
  'no-compact': {
    type: 'boolean',
    key: 'context.compaction.enabled',
    value: false,
    help: 'disable automatic compaction',
  },
  'compaction-threshold': {
    type: 'string',
    key: 'context.compaction.threshold',
    value: 'N',
    help: 'compact when the window is this full (0–1)',
  },
  'no-checkpoint': {
    type: 'boolean',
    key: 'context.checkpoint.enabled',
    value: false,
    help: 'disable checkpoints at the end of a task',
  },
  'agentic-tools': {
    type: 'string',
    key: 'context.agentic.tools',
    value: 'BOOL',
    help: 'false: disable tools that use a smaller model',
  },
  'agentic-small-model': {
    type: 'string',
    key: 'context.agentic.small_model',
    value: 'NAME',
    help: 'the smaller model',
  },
  'small-tier-parent': {
    type: 'string',
    key: 'context.small_tier_parent',
    value: 'MODE',
    help: 'small model in a long session: warn, refuse, allow',
  },
  watchdog: {
    type: 'string',
    key: 'context.watchdog',
    value: 'MODE',
    help: 'on repeated calls: off, warn, feedback, enforce',
  },
  'max-turn-cost-usd': {
    type: 'string',
    key: 'ceilings.max_turn_cost_usd',
    value: 'USD',
    help: 'stop a turn at this cost',
  },
  'max-session-cost-usd': {
    type: 'string',
    key: 'ceilings.max_session_cost_usd',
    value: 'USD',
    help: 'stop the run at this cost',
  },
  'on-unpriced': {
    type: 'string',
    key: 'ceilings.on_unpriced',
    value: 'MODE',
    help: 'a model without a price: warn or refuse',
  },
  yolo: {
    type: 'boolean',
    key: 'approval_mode',
    value: 'allow',
    help: 'approve every tool call',
  },
} as const satisfies Readonly<Record<string, ContextFlag>>

/** As parsed; `true` for boolean options. */
export type ContextFlagValues = { readonly [Name in keyof typeof contextFlags]?: string | boolean | undefined }

const flags: readonly (readonly [string, ContextFlag])[] = Object.entries(contextFlags)

const helpColumn = 30

/** Lines of at most 80 characters. */
export const contextFlagsHelp = flags
  .map(([name, { type, value, help }]) => {
    const usage = type === 'boolean' ? `--${name}` : `--${name} ${String(value)}`
    return `  ${usage}`.padEnd(helpColumn) + help
  })
  .join('\n')

/**
 * The options as a layer above the files.
 *
 * @throws `config-invalid` with the option, its key, the expected value and the given one
 */
export function flagLayer(values: ContextFlagValues): ConfigInput {
  const given: Record<string, unknown> = {}
  for (const [name, flag] of flags) {
    const text = values[name as keyof ContextFlagValues]
    if (text !== undefined) put(given, flag.key.split('.'), flag.type === 'boolean' ? flag.value : read(String(text)))
  }
  const { value, problems } = checkSettings(ConfigSchema(), given)
  const [first] = problems
  if (first === undefined) return value as ConfigInput
  const messages = problems.map(({ path, expected, got }) => {
    const name = flags.find(([, { key }]) => key === path)?.[0] ?? path
    return `--${name} (${path}): must be ${expected}, got ${got}.`
  })
  throw new EntiaError('config-invalid', messages.join('\n'), { path: first.path, problems })
}

/** The given options, with dashes. */
export function givenFlags(values: ContextFlagValues): string[] {
  return flags.flatMap(([name]) => (values[name as keyof ContextFlagValues] === undefined ? [] : [`--${name}`]))
}

function read(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text
}

function put(object: Record<string, unknown>, [key = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) object[key] = value
  else put((object[key] ??= {}) as Record<string, unknown>, rest, value)
}
