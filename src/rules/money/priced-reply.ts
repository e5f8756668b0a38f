import type { CachePrice } from '../../../components/context/last-call.ts'
import type { ModelReply } from '../../models/port.ts'

/** A model's reply as it enters a World: with what it cost, and what its model's window holds, as far as that is known. */
export type PricedReply = ModelReply & {
  readonly cachePrice?: CachePrice
  /** In tokens. */
  readonly contextWindow?: number
  readonly costNanoUsd?: number
}
