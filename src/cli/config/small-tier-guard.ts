import { type Config, smallTierNotice, smallTierParentCheck } from '../../doors/context.ts'

export interface SmallTierGuardOptions {
  /** Of the session itself, as `provider/model`. */
  readonly model: string
  readonly config: Pick<Config, 'context'>
  /** Nothing is asked about. */
  readonly yolo: boolean
  /** One prompt, one answer. */
  readonly oneShot: boolean
  /** A person is there. */
  readonly interactive: boolean
}

/**
 * What a program does before a session begins whose own model is small: it warns the user, and goes on, or exits with the
 * code that this gives.
 */
export function smallTierGuard(
  { model, config, yolo, oneShot, interactive }: SmallTierGuardOptions,
  err: { write(text: string): unknown },
): 2 | undefined {
  const { modelsByTier, smallTierParent: mode, tiers } = config.context
  const verdict = smallTierParentCheck({ model, mode, oneShot, yolo, interactive, tiers })
  if (verdict === 'none') return undefined
  err.write(`${smallTierNotice(model, { modelsByTier })}\n`)
  return verdict === 'refuse' ? 2 : undefined
}
