import { cutText } from '../tools/cut-text.ts'

/** What the text of no language has more of, a token. */
const maxCharsPerToken = 8
const leastTokens = 1_024
const cutMark = '\n[summary truncated]'

/** Longest summary, in characters. A model that keeps to its output limit writes none that is longer; not every server does. */
export function maxSummaryChars(maxOutputTokens: number): number {
  return maxCharsPerToken * Math.max(leastTokens, maxOutputTokens)
}

/** A summary of so many characters at most. One that is longer ends in words that say so. */
export function cutSummary(text: string, maxChars: number): string {
  return cutText(text, maxChars, cutMark)
}
