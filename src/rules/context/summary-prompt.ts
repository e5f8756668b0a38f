import type { BoundaryEntry } from '../../protocol/context.ts'

/** What a text that is to take the place of messages is asked for with. */
export interface SummaryView {
  readonly by: BoundaryEntry['by']
  /** What it is to look at most. */
  readonly focus?: string | undefined
  /** An earlier text goes before the messages. */
  readonly isChained: boolean
  /** How many messages it is about. */
  readonly messages: number
  /** `provider/model`, which writes it. */
  readonly model: string
  /** What was said of the task that is done. */
  readonly note?: string | undefined
}

/** The call for such a text: the messages stand between `ask` and `close`. */
export interface SummaryPrompt {
  readonly ask: string
  readonly close?: string | undefined
  /** Those that the text has to have. Missing ones are noted. @default none */
  readonly headings?: readonly string[] | undefined
  readonly system: string
}

/** One heading, and what is to stand under it. */
export type Section = readonly [heading: string, content: string]

/** The sections of a text, as the prompt lists them. */
export function sectionsText(sections: readonly Section[]): string {
  return sections.map(([heading, content]) => `# ${heading}\n${content}`).join('\n\n')
}

export function headingsOf(sections: readonly Section[]): readonly string[] {
  return sections.map(([heading]) => `# ${heading}`)
}

/** Those of the headings that a text lacks. It may set them at another level, and in other letters, large or small. */
export function missingHeadings(text: string, headings: readonly string[]): readonly string[] {
  const there = new Set(text.split('\n').filter(isHeading).map(bare))
  return headings.filter((heading) => !there.has(bare(heading)))
}

function isHeading(line: string): boolean {
  return line.trimStart().startsWith('#')
}

function bare(heading: string): string {
  return heading
    .trim()
    .replace(/^#+/, '')
    .replace(/[:#]+$/, '')
    .trim()
    .toLowerCase()
}
