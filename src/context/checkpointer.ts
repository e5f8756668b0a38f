import type { BoundaryEntry } from '../../components/boundary.ts'
import { checkpointPrompt } from './checkpoint-prompt.ts'
import type { SummaryPrompt, SummaryView } from './summary-prompt.ts'

/** An agent that is about to take a step, or is idle. */
export interface CheckpointView {
  /** Who has said that the task is done. */
  readonly by?: BoundaryEntry['by'] | undefined
  /** It was said that the task is done. */
  readonly isPending: boolean
  /** How many messages of the conversation a record would take the place of. */
  readonly messages: number
  readonly note?: string | undefined
}

/** When a record takes the place of a task, and by what call it is written. Pure: the same view gives the same. */
export interface Checkpointer {
  readonly should: (view: CheckpointView) => boolean
  readonly prompt: (view: SummaryView) => SummaryPrompt
}

/** Whenever it was said that the task is done. */
export const standardCheckpointer: Checkpointer = {
  should: ({ isPending }) => isPending,
  prompt: checkpointPrompt,
}
