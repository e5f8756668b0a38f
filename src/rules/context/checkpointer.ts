import { Context } from '../../../components/context/context.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { BoundaryEntry } from '../../protocol/context.ts'
import { headingsOf, type Section, sectionsText, type SummaryPrompt, type SummaryView } from './summary-prompt.ts'

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

const system =
  'You keep records of work. You are shown the record of a conversation between a user and an assistant that works with tools. ' +
  'A task in it is complete. Write down what has to be known of it from now on, for those who see nothing else of it. ' +
  'Do not go on with the work, do not answer the user, and call no tools: write the record alone.'

const sections: readonly Section[] = [
  ['Task', 'What the task was, and its outcome in one line.'],
  [
    'Files & changes',
    'Files that were changed, and how; files that were read; files that were only looked at; the places that matter, with ' +
      'their lines. Then what was left unchanged on purpose, and why.',
  ],
  [
    'Technical context',
    'Decisions, each with its reason. Patterns to keep to. Commands that worked, and commands that failed, with what they said.',
  ],
  [
    'Strategy & approach',
    'The way that was chosen, and why. Ways that were rejected, and why. The lessons for what comes next.',
  ],
  [
    'Verification & next steps',
    'What was verified, and how. What seems good but was not verified. What is queued to be done after this.',
  ],
  ['Where we are', 'What the user and the assistant both know now, and need not tell each other again.'],
]

const ask = [
  'A task of this conversation is done. Write its record. The conversation follows below.',
  'Use exactly these headings, in this order. Be concrete: names, paths, numbers and messages as they are. ' +
    'Say "none" where there is nothing to say.',
  sectionsText(sections),
  'If the conversation begins with an earlier text of this kind, what still holds of it goes into yours: it is not shown again.',
].join('\n\n')

/** Asks for the record of a task that is done. With a note the prompt ends in it. */
export function checkpointPrompt({ note }: SummaryView): SummaryPrompt {
  const close = note === undefined ? undefined : `Completion note: ${note}`
  return { ask, close, headings: headingsOf(sections), system }
}

/** Can the end of a task be marked in an agent's conversation? */
export function hasCheckpointer(world: World, agent: Entity): boolean {
  return world.get(agent, Context)?.checkpoint.enabled === true
}
