import type { Law } from '../law.ts'
import { archivedTurnsKept } from './archived-turns-kept.ts'
import { budgetKept } from './budget-kept.ts'
import { callsAnsweredOnce } from './calls-answered-once.ts'
import { capKept } from './cap-kept.ts'
import { ceilingsKept } from './ceilings-kept.ts'
import { conversationsValid } from './conversations-valid.ts'
import { effectsSettleOnce } from './effects-settle-once.ts'
import { fifoKept } from './fifo-kept.ts'
import { foregroundAwaited } from './foreground-awaited.ts'
import { holdersAccounted, holdersWithoutTools } from './holders-accounted.ts'
import { inputsTakenOnce } from './inputs-taken-once.ts'
import { journalEqualsWorld } from './journal-equals-world.ts'
import { nothingWaitsInVain } from './nothing-waits-in-vain.ts'
import { notifiedOnce } from './notified-once.ts'
import { onceRanOnce } from './once-ran-once.ts'
import { prefixHolds } from './prefix-holds.ts'
import { rerunsKnown } from './reruns-known.ts'
import { restoredEqualsSaved } from './restored-equals-saved.ts'
import { sessionTransitionsLegal } from './session-transitions-legal.ts'
import { spendingTold } from './spending-told.ts'
import { textsWellFormed } from './texts-well-formed.ts'
import { triesCounted } from './tries-counted.ts'
import { endsOnce } from './ends-once.ts'
import { holdersKeep } from './holders-keep.ts'
import { lettersOnce } from './letters-once.ts'
import { oneWriter } from './one-writer.ts'
import { parkedWakes } from './parked-wakes.ts'
import { writtenAhead } from './written-ahead.ts'

/** What holds in every world, whatever its agents do and whatever faults strike. */
export const standardLaws: readonly Law[] = [
  effectsSettleOnce,
  callsAnsweredOnce,
  conversationsValid,
  writtenAhead,
  onceRanOnce,
  triesCounted,
  inputsTakenOnce,
  rerunsKnown,
  prefixHolds,
  sessionTransitionsLegal,
  foregroundAwaited,
  oneWriter,
  lettersOnce,
  endsOnce,
  holdersKeep,
  parkedWakes,
  capKept,
  fifoKept,
  notifiedOnce,
  budgetKept,
  spendingTold,
  ceilingsKept,
  archivedTurnsKept,
  holdersAccounted,
  holdersWithoutTools,
  nothingWaitsInVain,
  textsWellFormed,
  // Last: what they find mostly has a cause that another law names.
  restoredEqualsSaved,
  journalEqualsWorld,
]
