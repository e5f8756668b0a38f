const envelope = ['<subagent_background_result>', '</subagent_background_result>'] as const
const summaryTags = ['<summary>', '</summary>'] as const
const resultTags = ['<full_result>', '</full_result>'] as const

/** Longest valid summary, in bytes of UTF-8. */
const maxSummaryBytes = 8192

/** Tells a background session how to answer. */
export const envelopeInstruction = `You work in the background. When the task is done, answer with exactly this form and nothing before or after it:

<subagent_background_result><summary>what you found or did, in a few sentences</summary><full_result>the whole result</full_result></subagent_background_result>`

export interface Enveloped {
  /** `undefined`: there is none, or it is too long. */
  readonly summary: string | undefined
  readonly result: string
}

/** Reads a final text's envelope. A text that is not exactly an envelope is the result as it stands. */
export function parseEnvelope(text: string): Enveloped {
  const inside = within(text, envelope)
  const afterSummary = inside?.indexOf(summaryTags[1]) ?? -1
  if (inside === undefined || afterSummary === -1) return { summary: undefined, result: text }
  const behind = afterSummary + summaryTags[1].length
  const summary = within(inside.slice(0, behind), summaryTags)
  const result = within(inside.slice(behind), resultTags)
  if (summary === undefined || result === undefined || result === '') return { summary: undefined, result: text }
  return { summary: isSummary(summary) ? summary : undefined, result }
}

/** The trimmed text between two tags that begin and end it. */
function within(text: string, [open, close]: readonly [string, string]): string | undefined {
  const trimmed = text.trim()
  if (!trimmed.startsWith(open) || !trimmed.endsWith(close)) return undefined
  return trimmed.slice(open.length, -close.length).trim()
}

function isSummary(text: string): boolean {
  // A character has a byte at least: most that is too long need not be counted.
  if (text === '' || text.length > maxSummaryBytes) return false
  return new TextEncoder().encode(text).length <= maxSummaryBytes
}
