import type { ModelsByTier, Tier, TierTable } from '../../protocol/tier.ts'
import { parseModel } from '../projection/model-name.ts'
import { byCodePoint } from '../../world/by-code-point.ts'

export type { Tier } from '../../protocol/tier.ts'

/** Parts that must all stand in a name, parted by blanks. A part that begins with `^` begins the name. */
type Parts = string

/** The models of one maker. Small is looked at before mid, and mid before frontier. */
type Family = readonly (readonly [Tier, readonly Parts[]])[]

/** Models by what their names have in them, as of 2026-11-22. The first entry that fits counts. */
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
 * How much a model can be trusted with, by its name, with or without the provider. Overrides are looked at first, the longest
 * part first. `undefined`: it is not known.
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

/** Each tier's model, of the providers that have one, as of 2026-11-22. */
const builtInModels: ModelsByTier = {
  anthropic: { frontier: 'claude-opus-4-7', mid: 'claude-sonnet-4-6', small: 'claude-haiku-4-5' },
  gemini,
  openai: { small: 'gpt-6-luna' },
  vertex: gemini,
}

/** The built-in table with these entries in place of its own, each tier by itself. */
export function mergedModels(models: ModelsByTier = {}): ModelsByTier {
  const providers = [...new Set([...Object.keys(builtInModels), ...Object.keys(models)])]
  return Object.fromEntries(
    providers.map((provider) => [provider, { ...builtInModels[provider], ...models[provider] }]),
  )
}

/** A provider's model of a tier, by its name without the provider; `undefined`: there is none to suggest. */
export function modelOfTier(provider: string, tier: Tier, models: ModelsByTier = {}): string | undefined {
  return models[provider]?.[tier] ?? builtInModels[provider]?.[tier]
}

export interface SmallTierParentOptions {
  /** Of the session itself, with or without its provider. */
  readonly model: string
  readonly mode: 'warn' | 'refuse' | 'allow'
  /** One prompt, one answer. */
  readonly oneShot: boolean
  /** Nothing is asked about. */
  readonly yolo: boolean
  /** A person is there. */
  readonly interactive: boolean
  /** Looked at before the built-in table. */
  readonly tiers?: TierTable | undefined
}

/** What a session says to a small model of its own: small models do subtasks well, but loop and stall in long sessions. */
export function smallTierParentCheck(options: SmallTierParentOptions): 'warn' | 'refuse' | 'none' {
  const { model, mode, oneShot, yolo, interactive, tiers } = options
  if (mode === 'allow' || oneShot || yolo || !interactive) return 'none'
  return modelTier(model, tiers) === 'small' ? mode : 'none'
}

export interface SmallTierNoticeOptions {
  /** @default the part of the model's name before the slash */
  readonly provider?: string | undefined
  /** Looked at before the built-in table. */
  readonly modelsByTier?: ModelsByTier | undefined
}

/** The notice that goes with `warn` and `refuse`. */
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
