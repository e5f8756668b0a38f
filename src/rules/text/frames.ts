import { oneLine } from '../../base/one-line.ts'

/** The line before a handover or record in a conversation. */
export const recordHeads = {
  summary: '[Conversation compacted. A handover of the earlier part follows; do not redo what it lists as done.]',
  checkpoint: '[The prior task is complete. Its record follows; do not run its tools again.]',
} as const
export const recordFoot = '[End of record. The conversation goes on below.]'
/** The heading of an earlier record in the prompt of the next one. */
export const earlierHead = '## earlier text'

const blanks = String.raw`[^\S\r\n\u2028\u2029]*`
/** A line begins, with any backslashes it already has. */
const start = String.raw`(?<=^|[\v\f\x85])(${blanks})(?=\\*`
const record = String.raw`\[(?:conversation compacted|the prior task is complete|end of record)\.`
const section = String.raw`#{1,6}${blanks}(?:system|user|assistant|tool|earlier text)${blanks}[:#]*${blanks}$`
const call = String.raw`\[tool_(?:use|result):`
const speaker = String.raw`(?:system|user|human|assistant|developer|tool)(?:${blanks}(?:prompt|messages?|instructions))?`
const role = String.raw`(?:#{1,6}|</?|\[|\*{1,2})${blanks}${speaker}${blanks}[:#>\]*]*${blanks}$|${speaker}${blanks}:[:*]*${blanks}$`
const file = String.raw`#*${blanks}instructions in\b.*:${blanks}$|\[end of\b`
const lines = {
  record: new RegExp(`${start}${record})`, 'gim'),
  transcript: new RegExp(`${start}(?:${record}|${section}|${call}))`, 'gim'),
  file: new RegExp(`${start}(?:${record}|${role}|${file}))`, 'gim'),
} as const

/**
 * Escapes lines of a text that would read as part of its frame, with a backslash before them. Everything else stays
 * byte for byte.
 * @param frame a record has a head and a foot; a transcript has headings, brackets of calls and results, and perhaps a
 * record before it; a file stands in a system prompt, between a line with its name and a line that ends it
 * @param midLine the text begins inside a line. @default false
 */
export function framed(text: string, frame: keyof typeof lines, midLine = false): string {
  return text.replaceAll(lines[frame], (found: string, _blanks: string, at: number) =>
    midLine && at === 0 ? found : `${found}\\`,
  )
}

/** A text as one field of a ` | ` separated row. */
export function field(text: string): string {
  return oneLine(text).replaceAll('|', '\\|')
}
