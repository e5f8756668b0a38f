import type { Tier } from '../../components/tier.ts'
import { compactionPrompt } from './compaction-prompt.ts'
import type { CompactionThreshold } from './compaction-threshold.ts'
import type { SummaryPrompt, SummaryView } from './summary-prompt.ts'

/** How full an agent's context window is, as of its newest own call. */
export interface CompactionView {
  /** In tokens. */
  readonly contextWindow?: number | undefined
  /** The share of the window that the prompt took. Absent: it is not known, and nothing is decided. */
  readonly fullness?: number | undefined
  /** Fullness at which a turn is interrupted; `null`: at none. */
  readonly midTurn: number | null
  /** `provider/model`. */
  readonly model: string
  /**
   * What is decided: a turn has ended; another step of a turn is to begin; a program asks, if it is needed; or there was a
   * compaction, and the first call behind it shows whether another one would be due.
   */
  readonly moment: 'turn-end' | 'mid-turn' | 'asked' | 'next-call'
  readonly promptTokens?: number | undefined
  readonly threshold: CompactionThreshold
  readonly tier?: Tier | undefined
}

/** When conversations are compacted, and by what call. Pure: the same view gives the same. */
export interface Compactor {
  readonly should: (view: CompactionView) => boolean
  readonly prompt: (view: SummaryView) => SummaryPrompt
}

/** At the threshold; inside a turn at the larger of that and what interrupts one. */
export const standardCompactor: Compactor = {
  should({ fullness, midTurn, moment, threshold }) {
    if (fullness === undefined) return false
    if (moment !== 'mid-turn') return fullness >= threshold.value
    return midTurn !== null && fullness >= (midTurn > threshold.value ? midTurn : threshold.value)
  },
  prompt: compactionPrompt,
}
