import type { Entity } from '../../world/component.ts'
import { read, type RawView } from './raw-view.ts'

/** What an agent has spent, in billionths of a US dollar. A sum is `undefined` where no cost in it is known. */
export interface Spent {
  /** In its life, with its sessions. */
  readonly nanoUsd: number | undefined
  /** In the open turn, or the last one. */
  readonly turnNanoUsd: number | undefined
  /** Calls that are in no sum. */
  readonly unknown: number
  /** Those of them whose model has no price. */
  readonly unpriced: number
  readonly turnUnknown: number
}

/** By its ledger; an agent that was saved without one has its own calls alone. */
export function spentOf(world: RawView, agent: Entity): Spent {
  const ledger = read(world, agent, 'Ledger')
  if (ledger === undefined) {
    const { calls = 0, costNanoUsd, costUnknown } = read(world, agent, 'Usage') ?? {}
    const unknown = costUnknown ?? (costNanoUsd === undefined ? calls : 0)
    return { nanoUsd: costNanoUsd, turnNanoUsd: undefined, unknown, unpriced: 0, turnUnknown: 0 }
  }
  const { models, sessionNanoUsd, turnNanoUsd, turnUnknown = 0 } = ledger
  let unknown = 0
  let unpriced = 0
  for (const { calls, costNanoUsd, costUnknown, unpriced: own = 0 } of Object.values(models)) {
    unknown += Math.max(own, costUnknown ?? (costNanoUsd === undefined ? calls : 0))
    unpriced += own
  }
  return {
    nanoUsd: known(sessionNanoUsd, unknown),
    turnNanoUsd: known(turnNanoUsd, turnUnknown),
    unknown,
    unpriced,
    turnUnknown,
  }
}

function known(sum: number, missing: number): number | undefined {
  return sum === 0 && missing > 0 ? undefined : sum
}
