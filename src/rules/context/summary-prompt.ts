import type { BoundaryEntry } from '../../protocol/context.ts'

/** What the prompt for a summary or record depends on. */
export interface SummaryView {
  readonly by: BoundaryEntry['by']
  /** What it should focus on. */
  readonly focus?: string | undefined
  /** An earlier text precedes the messages. */
  readonly isChained: boolean
  /** How many messages it covers. */
  readonly messages: number
  /** `provider/model`. */
  readonly model: string
  /** A note about the finished task. */
  readonly note?: string | undefined
}

/** The prompt: the messages stand between `ask` and `close`. */
export interface SummaryPrompt {
  readonly ask: string
  readonly close?: string | undefined
  /** Required headings. Missing ones are recorded. @default none */
  readonly headings?: readonly string[] | undefined
  readonly system: string
}

type Section = readonly [heading: string, content: string]

/** What differs between handovers and records. */
interface Wording {
  readonly system: string
  readonly opening: string
  readonly brevity: string
  readonly sections: readonly Section[]
  readonly earlier: string
}

function promptOf({ brevity, earlier, opening, sections, system }: Wording, close: string | undefined): SummaryPrompt {
  const ask = [
    opening,
    'Use exactly these headings, in this order. Be concrete: names, paths, numbers and messages as they are. ' +
      brevity,
    ...sections.map(([heading, content]) => `# ${heading}\n${content}`),
    earlier,
  ].join('\n\n')
  return { ask, close, headings: sections.map(([heading]) => `# ${heading}`), system }
}

const handoverSystem =
  'You write handovers. You are shown the record of a conversation between a user and an assistant that works with tools. ' +
  'Write what a teammate has to know who takes over from here and sees nothing else of it. ' +
  'Do not go on with the work, do not answer the user, and call no tools: write the handover alone.'

const handoverSections: readonly Section[] = [
  [
    'Current state',
    'What the user has asked for, word for word. Then what is done, what is in progress, and what is left.',
  ],
  [
    'Files & changes',
    'Files that were changed, and how; files that were read; files that were only looked at. ' +
      'Name the places in them that matter, with their lines.',
  ],
  [
    'Technical context',
    'Decisions, each with its reason. Patterns to keep to. Commands that worked, and commands that failed, with what they said.',
  ],
  [
    'Strategy & approach',
    'The way that was chosen, and why. Ways that were rejected, and why. What is easily got wrong, and what blocks the work.',
  ],
  ['Exact next steps', 'A numbered list of concrete actions, the first one first.'],
]

/** Asks for a handover. A focus ends the prompt. */
export function compactionPrompt({ focus }: SummaryView): SummaryPrompt {
  const wording = {
    system: handoverSystem,
    opening: 'Hand this conversation over to a teammate who goes on with it. The record follows below.',
    brevity: 'Leave out what no longer matters; say "none" where there is nothing to say.',
    sections: handoverSections,
    earlier:
      'If the record begins with an earlier handover, what still holds of it goes into yours: the earlier one is not shown again.',
  }
  return promptOf(wording, focus === undefined ? undefined : `Compact focus: ${focus}`)
}

const recordSystem =
  'You keep records of work. You are shown the record of a conversation between a user and an assistant that works with tools. ' +
  'A task in it is complete. Write down what has to be known of it from now on, for those who see nothing else of it. ' +
  'Do not go on with the work, do not answer the user, and call no tools: write the record alone.'

const recordSections: readonly Section[] = [
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

/** Asks for the record of a finished task. A note ends the prompt. */
export function checkpointPrompt({ note }: SummaryView): SummaryPrompt {
  const wording = {
    system: recordSystem,
    opening: 'A task of this conversation is done. Write its record. The conversation follows below.',
    brevity: 'Say "none" where there is nothing to say.',
    sections: recordSections,
    earlier:
      'If the conversation begins with an earlier text of this kind, what still holds of it goes into yours: it is not shown again.',
  }
  return promptOf(wording, note === undefined ? undefined : `Completion note: ${note}`)
}

/** Required headings that a text lacks; their level and case do not matter. */
export function missingHeadings(text: string, headings: readonly string[]): readonly string[] {
  const lines = text.split('\n').filter((line) => line.trimStart().startsWith('#'))
  const there = new Set(lines.map(bare))
  return headings.filter((heading) => !there.has(bare(heading)))
}

function bare(heading: string): string {
  return heading
    .trim()
    .replace(/^#+/, '')
    .replace(/[:#]+$/, '')
    .trim()
    .toLowerCase()
}
