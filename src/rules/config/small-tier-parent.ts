import type { ModelsByTier, TierTable } from '../../protocol/tier.ts'
import { parseModel } from '../projection/model-name.ts'
import { modelTier } from './model-tiers.ts'
import { modelOfTier } from './models-by-tier.ts'

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
