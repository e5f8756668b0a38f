import type { ModelsByTier, Tier, TierTable } from '../../protocol/tier.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { byCodePoint } from '../../base/by-code-point.ts'

export type { Tier } from '../../protocol/tier.ts'

/** Space-separated parts that a name must all contain. `^` before a part anchors it at the beginning. */
type Parts = string

/** The models of one maker, checked in this order. */
type Family = readonly (readonly [Tier, readonly Parts[]])[]

/** Models by parts of their names, as of 2026-11-22. The first match counts. */
const families: readonly Family[] = [
  // Claude
  [
    ['small', ['claude haiku']],
    ['mid', ['claude sonnet']],
    ['frontier', ['claude opus', 'claude fable', 'claude mythos']],
  ],
  // GPT
  [
    [
      'small',
      [
        ...['gpt', '^o1', '^o3', '^o4'].flatMap((name) => [`${name} -mini`, `${name} -nano`]),
        'gpt luna',
        'gpt-oss-20b',
        'gpt-3.5',
      ],
    ],
    ['mid', ['gpt-6-sol', 'gpt terra', 'gpt-oss', 'gpt-4', '^o1', '^o3', '^o4']],
    ['frontier', ['gpt-5', 'gpt-6']],
  ],
  // Gemini
  [
    ['small', ['gemini flash']],
    ['mid', ['gemini-2 pro', 'gemini-1 pro']],
    ['frontier', ['gemini-3 pro']],
  ],
  // Qwen
  [
    [
      'small',
      ['flash', 'turbo', '-4b', '-7b', '-8b', '-9b', '-14b', '-27b', '-30b', '-32b', '-35b'].map(
        (size) => `qwen ${size}`,
      ),
    ],
    ['mid', ['plus', 'coder', '-122b', '-235b', '-397b'].map((size) => `qwen ${size}`)],
    ['frontier', ['qwen max']],
  ],
  // Kimi
  [
    ['small', ['moonshot-v1']],
    ['mid', ['kimi-k2']],
    ['frontier', ['kimi-k3']],
  ],
]

/**
 * A model's tier by its name, with or without the provider. Overrides come first, the longest part first. `undefined`:
 * unknown.
 */
export function modelTier(name: string, overrides: TierTable = {}): Tier | undefined {
  const model = parseModel(name).model.toLowerCase()
  const own = Object.entries(overrides).toSorted(([a], [b]) => bare(b).length - bare(a).length || byCodePoint(a, b))
  const overriding = own.find(([part]) => stands(part.toLowerCase(), model))
  if (overriding !== undefined) return overriding[1]
  const entries = families.flat()
  return entries.find(([, sets]) => sets.some((parts) => parts.split(' ').every((part) => stands(part, model))))?.[0]
}

function stands(part: string, model: string): boolean {
  return part.startsWith('^') ? model.startsWith(bare(part)) : model.includes(part)
}

function bare(part: string): string {
  return part.startsWith('^') ? part.slice(1) : part
}

const gemini = { frontier: 'gemini-3.5-pro', mid: 'gemini-2.5-pro', small: 'gemini-2.5-flash' }

/** Each tier's model, for providers that have one, as of 2026-11-22. */
const builtInModels: ModelsByTier = {
  anthropic: { frontier: 'claude-opus-4-7', mid: 'claude-sonnet-4-6', small: 'claude-haiku-4-5' },
  gemini,
  openai: { small: 'gpt-6-luna' },
  vertex: gemini,
}

/** The built-in table with these entries over it, each tier by itself. */
export function mergedModels(models: ModelsByTier = {}): ModelsByTier {
  const providers = [...new Set([...Object.keys(builtInModels), ...Object.keys(models)])]
  return Object.fromEntries(
    providers.map((provider) => [provider, { ...builtInModels[provider], ...models[provider] }]),
  )
}

/** A provider's model of a tier, without the provider; `undefined`: none to suggest. */
export function modelOfTier(provider: string, tier: Tier, models: ModelsByTier = {}): string | undefined {
  return models[provider]?.[tier] ?? builtInModels[provider]?.[tier]
}

/** Options of `smallTierParentCheck`. */
export interface SmallTierParentOptions {
  /** The session's model, with or without provider. */
  readonly model: string
  readonly mode: 'warn' | 'refuse' | 'allow'
  /** One prompt, one answer. */
  readonly oneShot: boolean
  /** Every tool call is approved. */
  readonly yolo: boolean
  /** A user is present. */
  readonly interactive: boolean
  /** Overrides of the built-in table. */
  readonly tiers?: TierTable | undefined
}

/**
 * How to respond to a small model as a session's parent: small models do subtasks well, but loop and stall in long
 * sessions.
 */
export function smallTierParentCheck(options: SmallTierParentOptions): 'warn' | 'refuse' | 'none' {
  const { model, mode, oneShot, yolo, interactive, tiers } = options
  if (mode === 'allow' || oneShot || yolo || !interactive) return 'none'
  return modelTier(model, tiers) === 'small' ? mode : 'none'
}

/** Options of `smallTierNotice`. */
export interface SmallTierNoticeOptions {
  /** @default the provider in the model's name */
  readonly provider?: string | undefined
  /** Overrides of the built-in table. */
  readonly modelsByTier?: ModelsByTier | undefined
}

/** The notice for `warn` and `refuse`. */
export function smallTierNotice(model: string, options: SmallTierNoticeOptions = {}): string {
  const { provider = parseModel(model).provider, modelsByTier } = options
  const better = modelOfTier(provider, 'frontier', modelsByTier)
  const instead = better === undefined ? 'choose a larger model for the session' : `use ${better} for the session`
  return [
    `entia: small-tier parent: ${model}`,
    'Small models do subtasks well, but loop and stall as the parent of a long session.',
    `Keep it for subtasks with --agentic-small-model=${model}, and ${instead}.`,
    '--small-tier-parent=allow silences this notice.',
  ].join('\n')
}
