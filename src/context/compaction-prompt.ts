import { headingsOf, type Section, sectionsText, type SummaryPrompt, type SummaryView } from './summary-prompt.ts'

const system =
  'You write handovers. You are shown the record of a conversation between a user and an assistant that works with tools. ' +
  'Write what a teammate has to know who takes over from here and sees nothing else of it. ' +
  'Do not go on with the work, do not answer the user, and call no tools: write the handover alone.'

const sections: readonly Section[] = [
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

const ask = [
  'Hand this conversation over to a teammate who goes on with it. The record follows below.',
  'Use exactly these headings, in this order. Be concrete: names, paths, numbers and messages as they are. ' +
    'Leave out what no longer matters; say "none" where there is nothing to say.',
  sectionsText(sections),
  'If the record begins with an earlier handover, what still holds of it goes into yours: the earlier one is not shown again.',
].join('\n\n')

/** Asks for a handover of a conversation. With a focus the prompt ends in it. */
export function compactionPrompt({ focus }: SummaryView): SummaryPrompt {
  const close = focus === undefined ? undefined : `Compact focus: ${focus}`
  return { ask, close, headings: headingsOf(sections), system }
}
