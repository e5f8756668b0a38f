import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { modelName, oneOf } from './setting.ts'

/** Capability, highest first. */
export const tiers = ['frontier', 'mid', 'small'] as const
/** How capable a model is. */
export type Tier = (typeof tiers)[number]

/** Part of a model's name → its tier. `^` anchors the part at the beginning. */
export const TierTable = lazily(() =>
  z.record(
    z
      .string()
      .regex(/^\^?[^^]/)
      .describe("a part of a model's name"),
    oneOf(...tiers),
  ),
)
export type TierTable = DataOf<typeof TierTable>

/** Provider → tier → model. */
export const ModelsByTier = lazily(() =>
  z.record(
    z.string().min(1).describe("a provider's name"),
    z.strictObject({
      frontier: modelName().optional(),
      mid: modelName().optional(),
      small: modelName().optional(),
    }),
  ),
)
export type ModelsByTier = DataOf<typeof ModelsByTier>

/** Each is a bundle of defaults. */
export const taskClasses = ['debug', 'implement', 'chat', 'research', 'review'] as const
/** What kind of work an agent does. */
export type TaskClass = (typeof taskClasses)[number]
