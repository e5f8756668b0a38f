import { many } from './phrases.ts'

/** What a search came to, in numbers and words. */
export interface Findings {
  readonly files: number
  /** Places that were read. */
  readonly places: number
  /** Words of the question that some line has. */
  readonly found: readonly string[]
  readonly missing: readonly string[]
}

/** The summary of a researcher that is a script. */
export function findingsText({ files, places, found, missing }: Findings): string {
  const words = [wordsText('Found', found), wordsText('Not found', missing)]
  return [`${searchedText({ files, places })}.`, ...words].filter((part) => part !== '').join(' ')
}

/** How far was looked. */
export function searchedText({ files, places }: Pick<Findings, 'files' | 'places'>): string {
  return `${many(files, 'file')} searched, ${many(places, 'place')} read`
}

/** What such a summary says; `undefined` for any other text. */
export function readFindings(summary: string): Findings | undefined {
  const [, files, places] = /^(\d+) files? searched, (\d+) places? read\./.exec(summary) ?? []
  if (files === undefined) return undefined
  return {
    files: Number(files),
    places: Number(places),
    found: wordsIn(summary, 'Found'),
    missing: wordsIn(summary, 'Not found'),
  }
}

function wordsText(lead: string, words: readonly string[]): string {
  return words.length === 0 ? '' : `${lead}: ${words.join(', ')}.`
}

function wordsIn(summary: string, lead: string): string[] {
  return new RegExp(`\\. ${lead}: ([^.]*)\\.`).exec(summary)?.[1]?.split(', ') ?? []
}
